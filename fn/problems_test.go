package fn

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// messages returns the messages of problems.
func messages(p problems) []string {
	var out []string
	for _, problem := range p {
		out = append(out, problem.Error.Error())
	}

	return out
}

func TestProblems(t *testing.T) {
	required := func(reason string, path ...string) problem {
		return problem{reason, field.Required(field.NewPath(path[0], path[1:]...), "add it")}
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
		problems problems
		want     want
	}{
		"None": {reason: "Without problems there is no reason"},
		"Spec": {
			reason:   "The user fixes the spec",
			problems: problems{spec},
			want:     want{ReasonInvalidSpec, "spec.markdowns: Required value: add it"},
		},
		"Input": {
			reason:   "The platform team fixes the Input",
			problems: problems{input},
			want:     want{ReasonInvalidInput, "input.namespace: Required value: add it"},
		},
		"Pipeline": {
			reason:   "The author of the Composition renames a resource",
			problems: problems{pipeline},
			want:     want{ReasonPipelineConflict, "desired.resources: Required value: add it"},
		},
		"Resource": {
			reason:   "Somebody deletes the existing resource",
			problems: problems{resource},
			want:     want{ReasonResourceConflict, "observed.resources: Required value: add it"},
		},
		"SpecFirst": {
			reason:   "The reason is that of the problem that the user can fix, and the message has each problem once, sorted",
			problems: problems{input, spec, spec},
			want:     want{ReasonInvalidSpec, "input.namespace: Required value: add it; spec.markdowns: Required value: add it"},
		},
		"InputBeforeConflicts": {
			reason:   "Problems that the platform team can fix come before conflicts",
			problems: problems{resource, pipeline, input},
			want: want{
				ReasonInvalidInput,
				"desired.resources: Required value: add it; input.namespace: Required value: add it; observed.resources: Required value: add it",
			},
		},
		"PipelineBeforeResource": {
			reason:   "Conflicts in the pipeline come before conflicts with existing resources",
			problems: problems{resource, pipeline},
			want:     want{ReasonPipelineConflict, "desired.resources: Required value: add it; observed.resources: Required value: add it"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := want{tc.problems.reason(), tc.problems.explain()}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestExplainManyProblems(t *testing.T) {
	var p problems
	for _, c := range "abcdefghijklmnopqrstu" {
		p = append(p, problem{ReasonInvalidSpec, field.Required(field.NewPath(string(c)), "x")})
	}

	got := p.explain()
	if !strings.HasPrefix(got, "a: Required value: x; b: ") || !strings.HasSuffix(got, "t: Required value: x; and more") {
		t.Errorf("A message has at most twenty problems: got %s", got)
	}
	if got := p[:20].explain(); !strings.HasSuffix(got, "; t: Required value: x") {
		t.Errorf("There are no more than twenty problems: got %s", got)
	}
}
