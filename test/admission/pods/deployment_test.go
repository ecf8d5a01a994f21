// Package pods tests the pods that the function composes, and the pods of
// example/production: the restricted Pod Security Standard must allow them, and the
// files of the example must match each other.
package pods

import (
	"maps"

	"github.com/crossplane/crossplane/apis/v2/pkg/v1beta1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
)

// deployment returns the Deployment that Crossplane v2.4 creates for a function with a
// DeploymentRuntimeConfig, with the fields that affect its pods. The code of Crossplane
// cannot be imported:
// https://github.com/crossplane/crossplane/blob/v2.4.0/internal/controller/pkg/runtime/runtime.go#L338
// The kind job of CI runs Crossplane itself, in a namespace that enforces the
// restricted standard.
func deployment(config *v1beta1.DeploymentRuntimeConfig) *appsv1.Deployment {
	d := &appsv1.Deployment{Spec: *config.Spec.DeploymentTemplate.Spec.DeepCopy()}

	labels := map[string]string{"pkg.crossplane.io/revision": "function-1", "pkg.crossplane.io/function": "function"}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	if d.Spec.Template.Labels == nil {
		d.Spec.Template.Labels = map[string]string{}
	}
	maps.Copy(d.Spec.Template.Labels, labels)

	pod := &d.Spec.Template.Spec
	if pod.SecurityContext == nil {
		pod.SecurityContext = &corev1.PodSecurityContext{
			RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To(int64(2000)), RunAsGroup: ptr.To(int64(2000)),
		}
	}
	if pod.ServiceAccountName == "" {
		pod.ServiceAccountName = "function-1"
	}
	pod.Volumes = append(pod.Volumes, corev1.Volume{
		Name:         "tls-server-certs",
		VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "function-server"}},
	})

	run(runtimeContainer(pod))

	return d
}

// runtimeContainer returns the container in which Crossplane runs the function.
// Crossplane makes it the first one, and adds it if there is no container with its
// name.
func runtimeContainer(pod *corev1.PodSpec) *corev1.Container {
	for i := range pod.Containers {
		if pod.Containers[i].Name == "package-runtime" {
			pod.Containers[0], pod.Containers[i] = pod.Containers[i], pod.Containers[0]
			return &pod.Containers[0]
		}
	}
	pod.Containers = append([]corev1.Container{{Name: "package-runtime"}}, pod.Containers...)

	return &pod.Containers[0]
}

// run configures a container to run the function.
func run(c *corev1.Container) {
	if c.SecurityContext == nil {
		c.SecurityContext = &corev1.SecurityContext{
			RunAsUser: ptr.To(int64(2000)), RunAsGroup: ptr.To(int64(2000)), RunAsNonRoot: ptr.To(true),
			AllowPrivilegeEscalation: ptr.To(false), Privileged: ptr.To(false),
		}
	}
	if c.Image == "" {
		c.Image = "xpkg.crossplane.io/crossplane-contrib/function-markdownview:v0.1.0"
	}
	names := sets.New[string]()
	for _, p := range c.Ports {
		names.Insert(p.Name)
	}
	for _, p := range []corev1.ContainerPort{{Name: "metrics", ContainerPort: 8080}, {Name: "grpc", ContainerPort: 9443}} {
		if !names.Has(p.Name) {
			c.Ports = append(c.Ports, p)
		}
	}
	c.Env = append(c.Env, corev1.EnvVar{Name: "TLS_SERVER_CERTS_DIR", Value: "/tls/server"})
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "tls-server-certs", ReadOnly: true, MountPath: "/tls/server"})
}
