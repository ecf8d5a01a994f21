package compose

import (
	"cmp"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/web"
)

const (
	// configName is the volume with the configuration of nginx, and configDir where it
	// is mounted.
	configName = "nginx"
	configDir  = "/etc/markdownview"
	// stopDelay is how many seconds a web server keeps serving after its pod is
	// deleted, until no proxy sends requests to it.
	stopDelay = 5
)

// serveStatically changes a pod in which mdBook serves the book. mdBook then builds the
// book once, in an init container, and a web server serves the result.
//
// Everything else of the mdBook container stays, so that templates, resources and
// environment variables have the same meaning.
func serveStatically(v view.View, pod *corev1.PodSpec) {
	builder := pod.Containers[0]
	server := server(v, builder)
	if v.Path() != "/" {
		// The page for unknown addresses is the only one with absolute links.
		builder.Env = append(builder.Env, corev1.EnvVar{Name: "MDBOOK_OUTPUT__HTML__SITE_URL", Value: `"` + v.Path() + `"`})
		server.ReadinessProbe = server.ReadinessProbe.DeepCopy()
		server.ReadinessProbe.HTTPGet.Path = v.Path()
	}
	builder.Args = []string{"build", "--dest-dir", bookDir + "/book"}
	builder.Ports, builder.StartupProbe, builder.ReadinessProbe, builder.LivenessProbe = nil, nil, nil, nil

	pod.InitContainers = []corev1.Container{builder}
	pod.Containers = []corev1.Container{server}
	pod.TerminationGracePeriodSeconds = ptr.To[int64](30)
	pod.Volumes = append(pod.Volumes, corev1.Volume{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{
		SizeLimit: resource.NewQuantity(64<<20, resource.BinarySI),
	}}})
	if web.Configures(*v.Input.Server) {
		// A file of the pod itself needs no other object, and a change of it is a change of
		// the template, which rolls out.
		pod.Volumes = append(pod.Volumes, corev1.Volume{Name: configName, VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{
			Items: []corev1.DownwardAPIVolumeFile{{
				Path:     "nginx.conf",
				FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['" + view.AnnotationNginx + "']"},
			}},
		}}})
	}
}

// podMetadata returns the metadata of the pods.
func podMetadata(v view.View, o request.Observed) metav1.ObjectMeta {
	m := metav1.ObjectMeta{Labels: v.Selector()}
	if s := v.Input.Server; s != nil && web.Configures(*s) {
		m.Annotations = map[string]string{view.AnnotationNginx: web.Nginx(serverPort(*s), v.Path(), listenAddress(v, o) == view.ListenBoth)}
	}

	return m
}

func serverPort(s v1beta1.Server) int32 { return cmp.Or(s.Port, web.Port) }

// server returns the container of the web server, which replaces that of mdBook.
func server(v view.View, mdbook corev1.Container) corev1.Container {
	s := v.Input.Server
	requests, limits := view.Layered(ptr.Deref(s.Resources, v1beta1.Resources{}), serverResources())

	// The probes are those of mdBook, because both serve the same pages.
	c := corev1.Container{
		Name:            view.ServerName,
		Image:           cmp.Or(s.Image, web.Image),
		ImagePullPolicy: mdbook.ImagePullPolicy,
		Command:         literal(s.Command),
		Args:            literal(s.Args),
		Ports:           []corev1.ContainerPort{{Name: view.PortName, ContainerPort: serverPort(*s), Protocol: corev1.ProtocolTCP}},
		StartupProbe:    mdbook.StartupProbe,
		ReadinessProbe:  mdbook.ReadinessProbe,
		LivenessProbe:   mdbook.LivenessProbe,
		Lifecycle:       &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: stopDelay}}},
		Resources:       corev1.ResourceRequirements{Requests: requests, Limits: limits},
		SecurityContext: mdbook.SecurityContext,
		VolumeMounts: []corev1.VolumeMount{
			{Name: "output", MountPath: path.Join(cmp.Or(s.DocumentRoot, view.ServerRoot), v.Path()), ReadOnly: true},
			{Name: "tmp", MountPath: view.TempDir},
		},
	}
	if web.Configures(*s) {
		// Not the entrypoint of the image: its scripts write below /etc/nginx.
		c.Command = []string{"nginx", "-e", "stderr", "-c", configDir + "/nginx.conf"}
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: configName, MountPath: configDir, ReadOnly: true})
	}

	return c
}

// literal returns a command or arguments in which Kubernetes expands nothing: $(NAME)
// is a variable for Kubernetes, but a command for a shell.
func literal(args []string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = strings.ReplaceAll(arg, "$", "$$")
	}

	return out
}

// serverResources returns what a web server needs to send files. Each process of nginx
// has about 2 MiB.
func serverResources() v1beta1.Resources {
	return v1beta1.Resources{
		Requests: corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewMilliQuantity(10, resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity(16<<20, resource.BinarySI),
		},
		Limits: corev1.ResourceList{
			corev1.ResourceMemory: *resource.NewQuantity(256<<20, resource.BinarySI),
		},
	}
}
