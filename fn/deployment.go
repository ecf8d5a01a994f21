package fn

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

const (
	// defaultImage is the newest release of the image that the tutorial uses.
	// Its tags are pushed anew with every change of its build, so a platform
	// team that wants to be sure names a digest in the Input.
	defaultImage = "docker.io/peaceiris/mdbook:v0.5.0"

	listenIPv4 = "0.0.0.0"
	listenBoth = "::"

	portName      = "http"
	servicePort   = 80
	containerName = "mdbook"
	bookDir       = "/book"
	// user is any but root: the image names none, and mdBook reads and writes
	// nothing that belongs to one.
	user = 65532
)

// deployment returns the Deployment of a view: mdBook, which builds the book
// from a volume and serves it.
//
// A rollout adds a viewer before it takes one away, so a book that does not
// build leaves the old viewers serving.
func deployment(v view, o observed, book corev1.Volume) *appsv1.Deployment {
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: v.metadata(v.viewerName(), nil),
		Spec: appsv1.DeploymentSpec{
			Replicas: replicas(v, o),
			Strategy: appsv1.DeploymentStrategy{
				Type: appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{
					MaxSurge:       ptr.To(intstr.FromInt32(1)),
					MaxUnavailable: ptr.To(intstr.FromInt32(0)),
				},
			},
			Selector: &metav1.LabelSelector{MatchLabels: v.selector()},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: v.selector()},
				Spec:       podSpec(v, o, book),
			},
		},
	}
}

// replicas returns the replicas of an XR, and none where it leaves the number to
// an autoscaler: what we send we own, and we would overwrite the autoscaler's.
//
// A number that was applied before stays until an autoscaler has set one: a field
// that its only owner no longer applies falls back to the default, so that three
// pods would become one.
func replicas(v view, o observed) *int32 {
	if v.Spec.Replicas == nil && o.deployment != nil && o.deployment.managers.crossplaneOwns(fieldReplicas) {
		return ptr.To(o.deployment.replicas())
	}

	return v.Spec.Replicas
}

// listenAddress returns the address at which mdBook listens. Where nothing is set,
// it serves IPv6 where the Service has an IPv6 address. Before there is a Service it
// is what the pods have, or IPv4, which every kernel has.
func listenAddress(v view, o observed) string {
	switch {
	case v.input.ListenAddress != "":
		return v.input.ListenAddress
	case o.service != nil && slices.Contains(o.service.Spec.IPFamilies, string(corev1.IPv6Protocol)),
		o.service == nil && o.deployment != nil && o.deployment.listensOn(listenBoth):
		return listenBoth
	default:
		return listenIPv4
	}
}

func podSpec(v view, o observed, book corev1.Volume) corev1.PodSpec {
	pod := corev1.PodSpec{
		// A book can include any file of its container into a page.
		AutomountServiceAccountToken: ptr.To(false),
		// mdBook takes MDBOOK_… variables for settings, and fails to start with
		// those that Kubernetes makes for a Service called "mdbook".
		EnableServiceLinks: ptr.To(false),
		// mdBook ignores SIGTERM and serves until it is killed: long enough for
		// its endpoint to be gone, and no longer.
		TerminationGracePeriodSeconds: ptr.To[int64](5),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot:   ptr.To(true),
			RunAsUser:      ptr.To[int64](user),
			RunAsGroup:     ptr.To[int64](user),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		ImagePullSecrets: v.input.ImagePullSecrets,
		Containers:       []corev1.Container{container(v, o)},
		Volumes: []corev1.Volume{
			book,
			{Name: "output", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{
				SizeLimit: resource.NewQuantity(v.outputLimit(), resource.BinarySI),
			}}},
		},
	}
	if v.input.Server != nil {
		serveStatically(v, &pod)
	}

	return pod
}

// outputLimit is how many bytes mdBook may write.
func (v view) outputLimit() int64 {
	if len(v.Spec.MarkdownsFrom) > 0 {
		return 2 << 30
	}

	return 256 << 20
}

// startSeconds is how long the first build may take: up to 15 s for the largest book
// of one ConfigMap on little CPU, and no longer than Kubernetes waits for a rollout.
func (v view) startSeconds() int32 {
	if len(v.Spec.MarkdownsFrom) > 0 {
		return 600
	}

	return 60
}

func container(v view, o observed) corev1.Container {
	requests, limits := v.containerResources()
	tcp := corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString(portName)}}
	get := corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromString(portName)}}

	return corev1.Container{
		Name:            containerName,
		Image:           v.image(),
		ImagePullPolicy: v.input.ImagePullPolicy,
		Command:         []string{"mdbook"},
		Args:            []string{"serve", "--hostname", listenAddress(v, o)},
		WorkingDir:      bookDir,
		// A chapter that is missing is then an error that names it. By default
		// mdBook writes an empty one, which fails on a read-only volume.
		Env:   append([]corev1.EnvVar{{Name: "MDBOOK_BUILD__CREATE_MISSING", Value: "false"}}, v.Spec.Book.env()...),
		Ports: []corev1.ContainerPort{{Name: portName, ContainerPort: 3000, Protocol: corev1.ProtocolTCP}},
		// The port opens after the first build.
		StartupProbe: &corev1.Probe{ProbeHandler: tcp, PeriodSeconds: 1, FailureThreshold: v.startSeconds()},
		// A rebuild empties the site for up to some seconds: three failures in
		// a row are more than that.
		ReadinessProbe: &corev1.Probe{ProbeHandler: get, PeriodSeconds: 5, TimeoutSeconds: 2, FailureThreshold: 3},
		// Not GET: a book without a first page would be restarted without end.
		LivenessProbe: &corev1.Probe{ProbeHandler: tcp, PeriodSeconds: 10, TimeoutSeconds: 2, FailureThreshold: 3},
		Resources:     corev1.ResourceRequirements{Requests: requests, Limits: limits},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: ptr.To(false),
			ReadOnlyRootFilesystem:   ptr.To(true),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
		VolumeMounts: []corev1.VolumeMount{
			{Name: volumeName, MountPath: bookDir + "/src", ReadOnly: true},
			{Name: "output", MountPath: bookDir + "/book"},
		},
	}
}
