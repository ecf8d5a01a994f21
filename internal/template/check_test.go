package template

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// TestCheck checks the errors that a template has before it is merged.
func TestCheck(t *testing.T) {
	const control = "remove the control character, which the API server would reject or change"
	for name, tc := range map[string]struct {
		reason, template string
		want             []string
	}{
		"Valid":      {reason: "A template can have directives", template: `{metadata: {labels: {$patch: replace, a: b}}, spec: {$retainKeys: [type], type: NodePort}}`},
		"NoObject":   {reason: "A template is a part of a resource", template: `[]`, want: []string{"at: Invalid value: must be an object"}},
		"Typo":       {reason: "A resource does not have the field", template: `{spec: {typ: NodePort}}`, want: []string{`at.spec.typ: Forbidden: unknown field: use one of ` + serviceFields}},
		"Type":       {reason: "A field has a type", template: `{spec: {type: 1}}`, want: []string{"at.spec.type: Invalid value: must be a string"}},
		"Directive":  {reason: "kubectl computes other directives", template: `{spec: {$setElementOrder/ports: []}}`, want: []string{"at.spec.$setElementOrder/ports: Forbidden: unknown directive: use $patch or $retainKeys, or remove it"}},
		"Patch":      {reason: "A directive has some values", template: `{spec: {$patch: merge}}`, want: []string{`at.spec.$patch: Unsupported value: supported values: "replace", "delete"`}},
		"RetainKeys": {reason: "A directive has a type", template: `{spec: {$retainKeys: [1]}}`, want: []string{"at.spec.$retainKeys: Invalid value: must be a list of strings"}},
		"InList":     {reason: "Items and keys are checked", template: `{spec: {externalIPs: ["\u0085"], selector: {"a\u0085": b}}}`, want: []string{"at.spec.externalIPs[0]: Invalid value: " + control, "at.spec.selector[a\u0085]: Invalid value: " + control}},
		"Control":    {reason: "YAML changes some characters", template: `{metadata: {annotations: {a: "\u0085"}}}`, want: []string{"at.metadata.annotations.a: Invalid value: " + control}},
	} {
		t.Run(name, func(t *testing.T) {
			got := viewtest.Messages(report.ProblemsOf("", Check[corev1.Service](viewtest.Template(t, tc.template), field.NewPath("at"))))
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if errs := Check[corev1.Service](nil, nil); len(errs) > 0 {
		t.Errorf("No template has no errors, got %v", errs)
	}
}

const serviceFields = "allocateLoadBalancerNodePorts, clusterIP, clusterIPs, externalIPs, externalName, externalTrafficPolicy, healthCheckNodePort, " +
	"internalTrafficPolicy, ipFamilies, ipFamilyPolicy, loadBalancerClass, loadBalancerIP, loadBalancerSourceRanges, ports, publishNotReadyAddresses, " +
	"selector, sessionAffinity, sessionAffinityConfig, trafficDistribution, type"
