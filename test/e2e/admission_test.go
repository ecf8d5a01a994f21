package e2e

import (
	"strings"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AdmissionOfTutorial checks that the API server accepts and rejects the same objects
// as the webhook of the tutorial, with a message that states why, and sets the same
// defaults. test/admission tests every rule.
func AdmissionOfTutorial(k *kit) {
	for want, spec := range map[string]map[string]any{
		"add SUMMARY.md, which lists the chapters": {"markdowns": map[string]any{"page.md": "# Page\n"}, "replicas": int64(3)},
		"spec.markdowns: Required value":           {"markdowns": map[string]any{}},
		"spec.replicas: Invalid value: 100":        {"markdowns": map[string]any{"SUMMARY.md": ""}, "replicas": int64(100)},
	} {
		u := book("tutorial")
		u.Object["spec"] = spec
		if err := k.tryApply(u); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
			k.Errorf("want an Invalid error that contains %q, got %v", want, err)
		}
	}

	u := book("defaults")
	k.apply(u)
	k.settle("defaults")
	c := k.children("defaults")
	if diff := cmp.Diff(int32(1), *c.deployment.Spec.Replicas); diff != "" {
		k.Errorf("default replicas: -want +got:\n%s", diff)
	}
	if diff := cmp.Diff("docker.io/peaceiris/mdbook:v0.5.0", c.deployment.Spec.Template.Spec.Containers[0].Image); diff != "" {
		k.Errorf("default image: -want +got:\n%s", diff)
	}
	v, err := k.view("defaults")
	k.must(err)
	k.check(v.is("Degraded", metav1.ConditionFalse, "AsExpected"))
}
