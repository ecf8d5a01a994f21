package fn

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
)

const (
	// defaultImage is the newest release of the image that the tutorial uses.
	// Its tags are pushed anew with every change of its build, so a platform
	// team that wants to be sure names a digest in the Input.
	defaultImage = "docker.io/peaceiris/mdbook:v0.5.0"

	portName      = "http"
	containerName = "mdbook"
	bookDir       = "/book"
	// user is any but root: the image names none, and mdBook reads and writes
	// nothing that belongs to one.
	user = 65532
)

// deployment returns the Deployment of a view: mdBook, which builds the book
// from the ConfigMap and serves it.
//
// A rollout adds a viewer before it takes one away, so a book that does not
// build leaves the old viewers serving. Replicas stay out where the XR has
// none: what we send we own, and an autoscaler would lose against us.
func deployment(v view) *appsv1ac.DeploymentApplyConfiguration {
	spec := appsv1ac.DeploymentSpec().
		WithStrategy(appsv1ac.DeploymentStrategy().
			WithType(appsv1.RollingUpdateDeploymentStrategyType).
			WithRollingUpdate(appsv1ac.RollingUpdateDeployment().
				WithMaxSurge(intstr.FromInt32(1)).
				WithMaxUnavailable(intstr.FromInt32(0)))).
		WithSelector(metav1ac.LabelSelector().WithMatchLabels(v.selector())).
		WithTemplate(corev1ac.PodTemplateSpec().
			WithLabels(v.selector()).
			WithSpec(podSpec(v)))
	spec.Replicas = v.Spec.Replicas

	return &appsv1ac.DeploymentApplyConfiguration{
		TypeMetaApplyConfiguration:   *metav1ac.TypeMeta().WithAPIVersion("apps/v1").WithKind("Deployment"),
		ObjectMetaApplyConfiguration: v.metadata(v.viewerName()),
		Spec:                         spec,
	}
}

func podSpec(v view) *corev1ac.PodSpecApplyConfiguration {
	p := corev1ac.PodSpec().
		// A book can include any file of its container into a page.
		WithAutomountServiceAccountToken(false).
		// mdBook takes MDBOOK_… variables for settings, and refuses to start on
		// those that Kubernetes makes for a Service called "mdbook".
		WithEnableServiceLinks(false).
		// mdBook ignores SIGTERM and serves until it is killed: long enough for
		// its endpoint to be gone, and no longer.
		WithTerminationGracePeriodSeconds(5).
		WithSecurityContext(corev1ac.PodSecurityContext().
			WithRunAsNonRoot(true).
			WithRunAsUser(user).
			WithRunAsGroup(user).
			WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))).
		WithContainers(container(v)).
		WithVolumes(
			corev1ac.Volume().WithName("markdowns").WithConfigMap(corev1ac.ConfigMapVolumeSource().WithName(v.configMapName())),
			corev1ac.Volume().WithName("output").WithEmptyDir(corev1ac.EmptyDirVolumeSource().WithSizeLimit(resource.MustParse("256Mi"))),
		)
	for _, s := range v.input.ImagePullSecrets {
		p.WithImagePullSecrets(corev1ac.LocalObjectReference().WithName(s.Name))
	}

	return p
}

func container(v view) *corev1ac.ContainerApplyConfiguration {
	requests, limits := v.resources()

	c := corev1ac.Container().
		WithName(containerName).
		WithImage(v.image()).
		WithCommand("mdbook").
		WithArgs("serve", "--hostname", "0.0.0.0").
		WithWorkingDir(bookDir).
		// A chapter that is missing is then an error that names it. By default
		// mdBook writes an empty one, which fails on a read-only volume.
		WithEnv(corev1ac.EnvVar().WithName("MDBOOK_BUILD__CREATE_MISSING").WithValue("false")).
		WithPorts(corev1ac.ContainerPort().WithName(portName).WithContainerPort(3000).WithProtocol(corev1.ProtocolTCP)).
		// The port opens after the first build, which takes up to 15 s for the
		// largest books on little CPU.
		WithStartupProbe(corev1ac.Probe().WithTCPSocket(tcp()).WithPeriodSeconds(1).WithFailureThreshold(60)).
		// A rebuild empties the site for up to some seconds: three failures in
		// a row are more than that.
		WithReadinessProbe(corev1ac.Probe().
			WithHTTPGet(corev1ac.HTTPGetAction().WithPath("/").WithPort(intstr.FromString(portName))).
			WithPeriodSeconds(5).WithTimeoutSeconds(2).WithFailureThreshold(3)).
		// Not GET: a book without a first page would be restarted for ever.
		WithLivenessProbe(corev1ac.Probe().WithTCPSocket(tcp()).WithPeriodSeconds(10).WithTimeoutSeconds(2).WithFailureThreshold(3)).
		WithResources(corev1ac.ResourceRequirements().WithRequests(requests).WithLimits(limits)).
		WithSecurityContext(corev1ac.SecurityContext().
			WithAllowPrivilegeEscalation(false).
			WithReadOnlyRootFilesystem(true).
			WithCapabilities(corev1ac.Capabilities().WithDrop("ALL"))).
		WithVolumeMounts(
			corev1ac.VolumeMount().WithName("markdowns").WithMountPath(bookDir+"/src").WithReadOnly(true),
			corev1ac.VolumeMount().WithName("output").WithMountPath(bookDir+"/book"),
		)
	if v.input.ImagePullPolicy != "" {
		c.WithImagePullPolicy(v.input.ImagePullPolicy)
	}

	return c
}

func tcp() *corev1ac.TCPSocketActionApplyConfiguration {
	return corev1ac.TCPSocketAction().WithPort(intstr.FromString(portName))
}
