package compose

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

const (
	serverPort = 8080
	// serverImage listens on port 8080 as any user, and writes only below /tmp.
	serverImage = "docker.io/nginxinc/nginx-unprivileged:1.28.0-alpine-slim"
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
	web := server(v, builder)
	builder.Args = []string{"build", "--dest-dir", bookDir + "/book"}
	builder.Ports, builder.StartupProbe, builder.ReadinessProbe, builder.LivenessProbe = nil, nil, nil, nil

	pod.InitContainers = []corev1.Container{builder}
	pod.Containers = []corev1.Container{web}
	pod.TerminationGracePeriodSeconds = ptr.To[int64](30)
	pod.Volumes = append(pod.Volumes, corev1.Volume{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{
		SizeLimit: resource.NewQuantity(64<<20, resource.BinarySI),
	}}})
}

// server returns the container of the web server, which replaces that of mdBook.
func server(v view.View, mdbook corev1.Container) corev1.Container {
	s := v.Input.Server
	requests, limits := layered(ptr.Deref(s.Resources, v1beta1.Resources{}), serverResources())

	// The probes are those of mdBook, because both serve the same pages.
	return corev1.Container{
		Name:            view.ServerName,
		Image:           cmp.Or(s.Image, serverImage),
		ImagePullPolicy: mdbook.ImagePullPolicy,
		Command:         literal(s.Command),
		Args:            literal(s.Args),
		Ports:           []corev1.ContainerPort{{Name: view.PortName, ContainerPort: cmp.Or(s.Port, serverPort), Protocol: corev1.ProtocolTCP}},
		StartupProbe:    mdbook.StartupProbe,
		ReadinessProbe:  mdbook.ReadinessProbe,
		LivenessProbe:   mdbook.LivenessProbe,
		Lifecycle:       &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: stopDelay}}},
		Resources:       corev1.ResourceRequirements{Requests: requests, Limits: limits},
		SecurityContext: mdbook.SecurityContext,
		VolumeMounts: []corev1.VolumeMount{
			{Name: "output", MountPath: cmp.Or(s.DocumentRoot, view.ServerRoot), ReadOnly: true},
			{Name: "tmp", MountPath: view.TempDir},
		},
	}
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

// serverResources returns what a web server needs to send files. nginx starts a process
// of about 2 MiB for each core.
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
