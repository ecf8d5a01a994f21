package e2e

import (
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// OpenShift checks that example/production/openshift.yaml removes runAsUser from the
// pods. It runs kubectl apply twice without --server-side, because the second apply is
// a three-way merge, which removes nulls from the stored object. It does not wait for
// the pods: without runAsUser, mdBook's image does not start on a cluster that is not
// OpenShift.
func OpenShift(k *kit) {
	const path, composition = "../../example/production/openshift.yaml", "markdownview-openshift"
	k.afterwards(k.parse(k.read(path))[0])
	k.kubectl("apply", "--filename="+path)
	k.kubectl("annotate", "composition", composition, "example.com/changed=true")
	k.kubectl("apply", "--filename="+path)

	k.apply(book("handbook", composedBy(composition)))
	k.eventually("composed", func() error {
		_, err := k.tryChildren("handbook")
		return err
	})
	got := k.children("handbook").deployment.Spec.Template.Spec.SecurityContext
	nonRoot := true
	want := &corev1.PodSecurityContext{
		RunAsNonRoot:   &nonRoot,
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		k.Errorf("security context: -want, +got:\n%s", diff)
	}
}
