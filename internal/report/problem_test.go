package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestProblems(t *testing.T) {
	required := func(reason string, path ...string) Problem {
		return Problem{reason, field.Required(field.NewPath(path[0], path[1:]...), "add it")}
	}
	spec := required(ReasonInvalidSpec, "spec", "markdowns")
	input := required(ReasonInvalidInput, "input", "namespace")
	pipeline := required(ReasonPipelineConflict, "desired", "resources")
	resource := required(ReasonResourceConflict, "observed", "resources")

	type want struct {
		reason, explain string
	}
	cases := map[string]struct {
		reason   string
		problems Problems
		want     want
	}{
		"None": {reason: "Without problems there is no reason"},
		"Spec": {
			reason:   "The user fixes the spec",
			problems: Problems{spec},
			want:     want{ReasonInvalidSpec, "spec.markdowns: Required value: add it"},
		},
		"Input": {
			reason:   "The platform team fixes the Input",
			problems: Problems{input},
			want:     want{ReasonInvalidInput, "input.namespace: Required value: add it"},
		},
		"Pipeline": {
			reason:   "The author of the Composition renames a resource",
			problems: Problems{pipeline},
			want:     want{ReasonPipelineConflict, "desired.resources: Required value: add it"},
		},
		"Resource": {
			reason:   "Somebody deletes the existing resource",
			problems: Problems{resource},
			want:     want{ReasonResourceConflict, "observed.resources: Required value: add it"},
		},
		"SpecFirst": {
			reason:   "The reason is that of the problem that the user can fix, and the message has each problem once, sorted",
			problems: Problems{input, spec, spec},
			want:     want{ReasonInvalidSpec, "input.namespace: Required value: add it; spec.markdowns: Required value: add it"},
		},
		"InputBeforeConflicts": {
			reason:   "Problems that the platform team can fix come before conflicts",
			problems: Problems{resource, pipeline, input},
			want: want{
				ReasonInvalidInput,
				"desired.resources: Required value: add it; input.namespace: Required value: add it; observed.resources: Required value: add it",
			},
		},
		"PipelineBeforeResource": {
			reason:   "Conflicts in the pipeline come before conflicts with existing resources",
			problems: Problems{resource, pipeline},
			want:     want{ReasonPipelineConflict, "desired.resources: Required value: add it; observed.resources: Required value: add it"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := want{tc.problems.Reason(), tc.problems.Explain()}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestExplainManyProblems(t *testing.T) {
	var p Problems
	for _, c := range "abcdefghijklmnopqrstu" {
		p = append(p, Problem{ReasonInvalidSpec, field.Required(field.NewPath(string(c)), "x")})
	}

	got := p.Explain()
	if !strings.HasPrefix(got, "a: Required value: x; b: ") || !strings.HasSuffix(got, "t: Required value: x; and more") {
		t.Errorf("A message has at most twenty problems: got %s", got)
	}
	if got := p[:20].Explain(); !strings.HasSuffix(got, "; t: Required value: x") {
		t.Errorf("There are no more than twenty problems: got %s", got)
	}
}
