package compose

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/internal/files"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

const (
	bookDir = "/book"
	// user is any user but root: the image does not set one, and mdBook needs no files
	// of a particular user.
	user = 65532
)

// deployment returns the Deployment of a view. In its pods, mdBook builds the book from
// a volume and serves it.
//
// A rollout adds pods before it removes others, so if mdBook cannot build a book, the old
// pods keep serving. It adds all pods at once: one at a time, the rollout would take longer.
func deployment(v view.View, o request.Observed, book corev1.Volume) *appsv1.Deployment {
	d := &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: files.Metadata(v, v.ViewerName(), nil),
		Spec: appsv1.DeploymentSpec{
			Replicas:        replicas(v, o),
			MinReadySeconds: minReadySeconds(v),
			Strategy: appsv1.DeploymentStrategy{
				Type: appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{
					MaxSurge:       ptr.To(intstr.FromString("100%")),
					MaxUnavailable: ptr.To(intstr.FromInt32(0)),
				},
			},
			Selector: &metav1.LabelSelector{MatchLabels: v.Selector()},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: podMetadata(v, o),
				Spec:       podSpec(v, o, book),
			},
		},
	}
	addTheme(v, &d.Spec.Template)

	return d
}

// replicas returns the replicas of an XR, or nil if an autoscaler sets the number: otherwise
// the function would own the field and overwrite the number of the autoscaler.
//
// A number that was applied before stays until an autoscaler has set one. Otherwise the
// field would lose its only owner and return to the default: three pods would become
// one.
func replicas(v view.View, o request.Observed) *int32 {
	if v.Spec.Replicas == nil && o.Deployment != nil && o.Deployment.Managers.CrossplaneOwns(request.FieldReplicas) {
		return ptr.To(o.Deployment.Replicas())
	}

	return v.Spec.Replicas
}

// minReadySeconds returns how long a pod must be ready to be available. If there are several,
// those that become ready in the same second become available together, and replace the old
// pods together. Otherwise the status of the Deployment would change three times for each pod.
// Each change is an event for Crossplane's circuit breaker, and a call.
func minReadySeconds(v view.View) int32 {
	if ptr.Deref(v.Spec.Replicas, 0) > 1 {
		return 1
	}

	return 0
}

func podSpec(v view.View, o request.Observed, book corev1.Volume) corev1.PodSpec {
	pod := corev1.PodSpec{
		// A book can include any file of its container, such as the token, in a page.
		AutomountServiceAccountToken: ptr.To(false),
		// mdBook reads MDBOOK_… variables as settings, and fails to start with those
		// that Kubernetes adds for a Service named "mdbook".
		EnableServiceLinks: ptr.To(false),
		// mdBook ignores SIGTERM and serves until it is killed. 5 seconds are enough
		// for proxies to remove its endpoint.
		TerminationGracePeriodSeconds: ptr.To[int64](5),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot:   ptr.To(true),
			RunAsUser:      ptr.To[int64](user),
			RunAsGroup:     ptr.To[int64](user),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		ImagePullSecrets: v.Input.ImagePullSecrets,
		Containers:       []corev1.Container{container(v, o)},
		Volumes: []corev1.Volume{
			book,
			{Name: "output", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{
				SizeLimit: resource.NewQuantity(outputLimit(v), resource.BinarySI),
			}}},
		},
	}
	if v.Input.Server != nil {
		serveStatically(v, &pod)
	}

	return pod
}

// outputLimit returns how many bytes mdBook may write.
func outputLimit(v view.View) int64 {
	if len(v.Spec.MarkdownsFrom) > 0 {
		return 2 << 30
	}

	return 256 << 20
}

// startSeconds returns how many seconds the first build may take. The largest book of
// one ConfigMap takes up to 15 s with little CPU. 600 s is how long Kubernetes waits
// for a rollout to progress.
func startSeconds(v view.View) int32 {
	if len(v.Spec.MarkdownsFrom) > 0 {
		return 600
	}

	return 60
}

func container(v view.View, o request.Observed) corev1.Container {
	requests, limits := v.Resources()
	tcp := corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString(view.PortName)}}
	get := corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromString(view.PortName)}}

	return corev1.Container{
		Name:            view.ContainerName,
		Image:           v.Image(),
		ImagePullPolicy: v.Input.ImagePullPolicy,
		Command:         []string{"mdbook"},
		Args:            []string{"serve", "--hostname", listenAddress(v, o)},
		WorkingDir:      bookDir,
		// With this setting, mdBook reports a missing chapter by name. By default it creates an
		// empty one, which fails on a read-only volume.
		Env:   append([]corev1.EnvVar{{Name: "MDBOOK_BUILD__CREATE_MISSING", Value: "false"}}, v.Spec.Book.Env()...),
		Ports: []corev1.ContainerPort{{Name: view.PortName, ContainerPort: 3000, Protocol: corev1.ProtocolTCP}},
		// The port opens after the first build.
		StartupProbe: &corev1.Probe{ProbeHandler: tcp, PeriodSeconds: 1, FailureThreshold: startSeconds(v)},
		// A rebuild empties the site for at most a few seconds. The probe does not fail
		// three times in a row in that time.
		ReadinessProbe: &corev1.Probe{ProbeHandler: get, PeriodSeconds: 5, TimeoutSeconds: 2, FailureThreshold: 3},
		// TCP, because GET would restart a book without a first page again and again.
		LivenessProbe: &corev1.Probe{ProbeHandler: tcp, PeriodSeconds: 10, TimeoutSeconds: 2, FailureThreshold: 3},
		Resources:     corev1.ResourceRequirements{Requests: requests, Limits: limits},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: ptr.To(false),
			ReadOnlyRootFilesystem:   ptr.To(true),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
		VolumeMounts: []corev1.VolumeMount{
			{Name: view.VolumeName, MountPath: bookDir + "/src", ReadOnly: true},
			{Name: "output", MountPath: bookDir + "/book"},
		},
	}
}
