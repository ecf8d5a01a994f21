package fn

import (
	"cmp"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
)

const (
	serverName = "server"
	serverPort = 8080
	serverRoot = "/usr/share/nginx/html"
	// serverImage listens on port 8080 as any user, and writes only below /tmp.
	serverImage = "docker.io/nginxinc/nginx-unprivileged:1.28.0-alpine-slim"
	tempDir     = "/tmp"
	// stopDelay is how many seconds a web server keeps serving after its pod is
	// deleted, until no proxy sends requests to it.
	stopDelay = 5
)

// serveStatically changes a pod in which mdBook serves the book. mdBook then builds the
// book once, in an init container, and a web server serves the result.
//
// Everything else of the mdBook container stays, so that templates, resources and
// environment variables have the same meaning.
func serveStatically(v view, pod *corev1.PodSpec) {
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
func server(v view, mdbook corev1.Container) corev1.Container {
	s := v.input.Server
	requests, limits := layered(ptr.Deref(s.Resources, v1beta1.Resources{}), serverResources())

	// The probes are those of mdBook, because both serve the same pages.
	return corev1.Container{
		Name:            serverName,
		Image:           cmp.Or(s.Image, serverImage),
		ImagePullPolicy: mdbook.ImagePullPolicy,
		Command:         literal(s.Command),
		Args:            literal(s.Args),
		Ports:           []corev1.ContainerPort{{Name: portName, ContainerPort: cmp.Or(s.Port, serverPort), Protocol: corev1.ProtocolTCP}},
		StartupProbe:    mdbook.StartupProbe,
		ReadinessProbe:  mdbook.ReadinessProbe,
		LivenessProbe:   mdbook.LivenessProbe,
		Lifecycle:       &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: stopDelay}}},
		Resources:       corev1.ResourceRequirements{Requests: requests, Limits: limits},
		SecurityContext: mdbook.SecurityContext,
		VolumeMounts: []corev1.VolumeMount{
			{Name: "output", MountPath: cmp.Or(s.DocumentRoot, serverRoot), ReadOnly: true},
			{Name: "tmp", MountPath: tempDir},
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

func validateServer(in v1beta1.Input, at *field.Path) field.ErrorList {
	s := in.Server
	if s == nil {
		return nil
	}
	at = at.Child("server")
	var errs field.ErrorList
	if in.ListenAddress != "" {
		errs = append(errs, field.Forbidden(at, "listenAddress has no effect on a web server: remove it, or set the address in the configuration of the web server"))
	}
	if s.Image != "" {
		errs = append(errs, validateImage(s.Image, at.Child("image"))...)
	}
	if s.Port != 0 {
		for _, detail := range validation.IsValidPortNum(int(s.Port)) {
			errs = append(errs, field.Invalid(at.Child("port"), s.Port, detail))
		}
	}
	errs = append(errs, validateRoot(s.DocumentRoot, at.Child("documentRoot"))...)
	errs = append(errs, validateArgs(s.Command, at.Child("command"))...)
	errs = append(errs, validateArgs(s.Args, at.Child("args"))...)
	if s.Resources != nil {
		errs = append(errs, validateResources(*s.Resources, at.Child("resources"))...)
	}

	return errs
}

// validateRoot returns an error for a document root at which the book cannot be
// mounted.
func validateRoot(root string, at *field.Path) field.ErrorList {
	switch {
	case root == "":
		return nil
	case !path.IsAbs(root) || path.Clean(root) != root || root == "/" || strings.ContainsAny(root, ":\x00") || !plain(root) || len(root) > 1024:
		return field.ErrorList{field.Invalid(at, short(root), "must be the full path of a directory, such as "+serverRoot)}
	case root == tempDir:
		return field.ErrorList{field.Invalid(at, root, "is where the server writes temporary files: name another directory")}
	default:
		return nil
	}
}

func validateArgs(args []string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, arg := range args {
		if !plain(arg) || strings.Contains(arg, "\x00") {
			errs = append(errs, field.Invalid(at.Index(i), field.OmitValueType{}, messageControl))
		}
	}

	return errs
}
