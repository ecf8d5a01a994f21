package report

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestProblems(t *testing.T) {
	required := func(reason, at string) Problem {
		return Problem{reason, field.Required(field.NewPath(at), "add it")}
	}
	spec, notFound := required(ReasonInvalidSpec, "spec"), required(ReasonConfigMapNotFound, "guide")
	repository, input := required(ReasonOCIRepositoryNotReady, "handbook"), required(ReasonInvalidInput, "input")
	pipeline, resource := required(ReasonPipelineConflict, "desired"), required(ReasonResourceConflict, "observed")
	for name, tc := range map[string]struct {
		reason           string
		problems         Problems
		wantReason, want string
	}{
		"None":     {"Without problems there is no reason", nil, "", ""},
		"Spec":     {"The user comes first, and each problem is named once", Problems{notFound, spec, spec}, "InvalidSpec", "guide, spec"},
		"Missing":  {"Then what the user or others create", Problems{repository, notFound}, "ConfigMapNotFound", "guide, handbook"},
		"Flux":     {"Then what Flux reports", Problems{input, repository}, "OCIRepositoryNotReady", "handbook, input"},
		"Input":    {"Then what the platform team can fix", Problems{pipeline, input}, "InvalidInput", "desired, input"},
		"Pipeline": {"Then conflicts in the pipeline", Problems{resource, pipeline}, "PipelineConflict", "desired, observed"},
		"Resource": {"Then conflicts with existing resources", Problems{resource}, "ResourceConflict", "observed"},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.ReplaceAll(strings.ReplaceAll(tc.problems.Explain(), ": Required value: add it", ""), "; ", ", ")
			if reason := tc.problems.Reason(); reason != tc.wantReason || got != tc.want {
				t.Errorf("\n%s\nwant %s: %s\ngot  %s: %s", tc.reason, tc.wantReason, tc.want, reason, got)
			}
		})
	}
}

func TestExplainManyProblems(t *testing.T) {
	var errs field.ErrorList
	for _, c := range "abcdefghijklmnopqrstu" {
		errs = append(errs, field.Required(field.NewPath(string(c)), "x"))
	}
	p := ProblemsOf(ReasonInvalidSpec, errs)

	got := p.Explain()
	if !strings.HasPrefix(got, "a: Required value: x; b: ") || !strings.HasSuffix(got, "t: Required value: x; and more") {
		t.Errorf("A message has at most twenty problems: got %s", got)
	}
	if got := p[:20].Explain(); !strings.HasSuffix(got, "; t: Required value: x") {
		t.Errorf("There are no more than twenty problems: got %s", got)
	}
}
