package compose

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/crossplane-contrib/function-markdownview/internal/files"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

// Service returns the Service of a view. It sets the type even if that is the default
// of Kubernetes: when somebody changes a field that we do not own, Crossplane does not
// change it back.
func Service(v view.View) *corev1.Service {
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: files.Metadata(v, v.ViewerName(), v.Input.Service.Annotations),
		Spec: corev1.ServiceSpec{
			Type:     cmp.Or(v.Input.Service.Type, corev1.ServiceTypeClusterIP),
			Selector: v.Selector(),
			Ports: []corev1.ServicePort{{
				Name:       view.PortName,
				Protocol:   corev1.ProtocolTCP,
				Port:       view.ServicePort,
				TargetPort: intstr.FromString(view.PortName),
			}},
		},
	}
}

// PortOf returns the port of a Service that serves the book: ours, whose number a
// template can change, or the first one if a template has removed ours. Validation rejects a
// Service without ports.
func PortOf(ports []corev1.ServicePort) int32 {
	if len(ports) == 0 {
		return view.ServicePort
	}

	return ports[max(0, slices.IndexFunc(ports, func(p corev1.ServicePort) bool { return p.Name == view.PortName }))].Port
}

// listenAddress returns the address at which mdBook or nginx listens. By default it is IPv6 if
// the Service has an IPv6 address. While there is no Service, it is the address of the
// existing pods, or IPv4, which every kernel has.
func listenAddress(v view.View, o request.Observed) string {
	switch {
	case v.Input.ListenAddress != "":
		return v.Input.ListenAddress
	case o.Service != nil && slices.Contains(o.Service.Spec.IPFamilies, string(corev1.IPv6Protocol)),
		o.Service == nil && o.Deployment != nil && o.Deployment.ListensOn(view.ListenBoth):
		return view.ListenBoth
	default:
		return view.ListenIPv4
	}
}
