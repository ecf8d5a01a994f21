package fn

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// service returns the Service of a view. It sets the type even if that is the default
// of Kubernetes: when somebody changes a field that we do not own, Crossplane does not
// change it back.
func service(v view) *corev1.Service {
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: v.metadata(v.viewerName(), v.input.Service.Annotations),
		Spec: corev1.ServiceSpec{
			Type:     cmp.Or(v.input.Service.Type, corev1.ServiceTypeClusterIP),
			Selector: v.selector(),
			Ports: []corev1.ServicePort{{
				Name:       portName,
				Protocol:   corev1.ProtocolTCP,
				Port:       servicePort,
				TargetPort: intstr.FromString(portName),
			}},
		},
	}
}
