package fn

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
)

// service returns the Service of a view. Its type is set even where it is the
// default of Kubernetes: a field that we do not own is not put back when
// somebody changes it.
func service(v view) *corev1ac.ServiceApplyConfiguration {
	kind := v.input.Service.Type
	if kind == "" {
		kind = corev1.ServiceTypeClusterIP
	}

	return &corev1ac.ServiceApplyConfiguration{
		TypeMetaApplyConfiguration:   *metav1ac.TypeMeta().WithAPIVersion("v1").WithKind("Service"),
		ObjectMetaApplyConfiguration: v.metadata(v.viewerName()).WithAnnotations(v.input.Service.Annotations),
		Spec: corev1ac.ServiceSpec().
			WithType(kind).
			WithSelector(v.selector()).
			WithPorts(corev1ac.ServicePort().
				WithName(portName).
				WithProtocol(corev1.ProtocolTCP).
				WithPort(80).
				WithTargetPort(intstr.FromString(portName))),
	}
}
