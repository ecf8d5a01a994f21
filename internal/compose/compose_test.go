package compose

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/validate"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// composed returns the desired resources of a valid view.
func composed(t *testing.T, v view.View, o request.Observed) *Desired {
	t.Helper()
	d, problems := Compose(v, o)
	if len(problems) > 0 {
		t.Fatal(viewtest.Messages(problems))
	}

	return d
}

// TestTemplates checks what templates change in the Deployment, and that only a change of the
// pods changes the revision. Package template has more cases.
func TestTemplates(t *testing.T) {
	const server = "server: {}, "
	for name, tc := range map[string]struct {
		reason, input, template string
		// want has the containers, the number of replicas and the strategy.
		want string
		same bool
	}{
		"None":     {reason: "Without a template nothing changes", want: "mdbook, 2, RollingUpdate 100% 0", same: true},
		"SameName": {reason: "A template can repeat the name of the resource", template: `metadata: {name: viewer-sample}`, want: "mdbook, 2, RollingUpdate 100% 0", same: true},
		"Sidecar":  {reason: "Containers of a template come first", template: `spec: {template: {spec: {containers: [{name: proxy, image: proxy:v1}]}}}`, want: "proxy mdbook, 2, RollingUpdate 100% 0"},
		"Second":   {reason: "Containers keep the order of the template: Pagefind reads the book that mdBook has built", input: server, template: `spec: {template: {spec: {initContainers: [{name: mdbook}, {name: pagefind, image: a}]}}}`, want: "mdbook pagefind server, 2, RollingUpdate 100% 0"},
		"Recreate": {reason: "Another strategy removes the fields of the default strategy", template: `spec: {strategy: {type: Recreate}}`, want: "mdbook, 2, Recreate", same: true},
		"Replicas": {reason: "A template can set replicas", template: `spec: {replicas: 0}`, want: "mdbook, 0, RollingUpdate 100% 0", same: true},
	} {
		t.Run(name, func(t *testing.T) {
			v := viewtest.With(t, "{"+tc.input+"}")
			v.Input.Templates.Deployment = viewtest.Template(t, "{"+tc.template+"}")
			d := composed(t, v, request.Observed{})
			var names []string
			for _, c := range append(d.Deployment.Spec.Template.Spec.InitContainers, d.Deployment.Spec.Template.Spec.Containers...) {
				names = append(names, c.Name)
			}
			strategy := d.Deployment.Spec.Strategy
			got := fmt.Sprintf("%s, %d, %s", strings.Join(names, " "), *d.Deployment.Spec.Replicas, strategy.Type)
			if r := strategy.RollingUpdate; r != nil {
				got += " " + r.MaxSurge.String() + " " + r.MaxUnavailable.String()
			}
			if got != tc.want {
				t.Errorf("\n%s\nDeployment: want %q, got %q", tc.reason, tc.want, got)
			}
			if same := d.Revision == viewtest.Revision; same != tc.same {
				t.Errorf("\n%s\nsame revision: want %t, got %t", tc.reason, tc.same, same)
			}
		})
	}
}

// TestTemplateErrors checks that the errors of templates are reported together with each
// other, and with other errors.
func TestTemplateErrors(t *testing.T) {
	const (
		fixed = ": Forbidden: remove it: a template cannot change this field"
		named = `{metadata: {name: other}}`
	)
	for name, tc := range map[string]struct {
		reason, input string
		change        func(v *view.View)
		want          []string
	}{
		"All": {
			reason: "Every template has an error that shows in the merge",
			input: `{route: {host: a.b, parentRefs: [{name: a}]}, podDisruptionBudget: {}, templates: {configMap: ` + named + `, deployment: ` + named +
				`, service: ` + named + `, httpRoute: ` + named + `, podDisruptionBudget: ` + named + `}}`,
			want: []string{
				"input.templates.configMap.metadata.name" + fixed, "input.templates.deployment.metadata.name" + fixed, "input.templates.httpRoute.metadata.name" + fixed,
				"input.templates.podDisruptionBudget.metadata.name" + fixed, "input.templates.service.metadata.name" + fixed,
			},
		},
		"Input": {
			reason: "Another field of the Input has an error",
			input: `{ttl: -1s, ingress: {host: a.b}, podDisruptionBudget: {}, templates: {configMap: ` + named + `, deployment: ` + named +
				`, ingress: ` + named + `, podDisruptionBudget: ` + named + `}}`,
			want: []string{
				"input.templates.configMap.metadata.name" + fixed, "input.templates.deployment.metadata.name" + fixed, "input.templates.ingress.metadata.name" + fixed,
				"input.templates.podDisruptionBudget.metadata.name" + fixed, `input.ttl: Invalid value: "-1s": must not be negative`,
			},
		},
		"Spec": {
			reason: "The spec has an error",
			input:  `{route: {host: a.b, parentRefs: [{name: a}]}, templates: {service: ` + named + `, httpRoute: ` + named + `}}`,
			change: func(v *view.View) { v.Spec.Replicas = ptr.To[int32](9) },
			want: []string{
				"input.templates.httpRoute.metadata.name" + fixed, "input.templates.service.metadata.name" + fixed, "spec.replicas: Invalid value: 9: must be from 1 to 5",
			},
		},
		"Book": {
			reason: "mdBook cannot build the book",
			input:  `{templates: {service: ` + named + `}}`,
			change: func(v *view.View) { v.Spec.Markdowns = map[string]string{"SUMMARY.md": "- [A](/a.md)"} },
			want:   []string{"input.templates.service.metadata.name" + fixed, `spec.markdowns: Invalid value: SUMMARY.md line 1: write the path of `},
		},
		"BookWithTemplate": {
			reason: "A book to which a template adds files is checked when the template has no errors",
			input:  `{ingress: {host: a.b}, templates: {configMap: {metadata: {name: other}, data: {a.md: text}}, ingress: ` + named + `}}`,
			change: func(v *view.View) { v.Spec.Markdowns = map[string]string{"SUMMARY.md": "- [A](a.md)"} },
			want:   []string{"input.templates.configMap.metadata.name" + fixed, "input.templates.ingress.metadata.name" + fixed},
		},
		"Valid": {
			reason: "A template without errors adds none",
			input:  `{ttl: -1s, templates: {configMap: {metadata: {annotations: {a: b}}}, deployment: {kind: Deployment, spec: {paused: false}}, service: {spec: {ports: [{port: 80, $patch: delete}]}}}}`,
			want:   []string{`input.ttl: Invalid value: "-1s": must not be negative`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := viewtest.With(t, tc.input)
			if tc.change != nil {
				tc.change(&v)
			}
			problems := validate.Request(request.Request{View: v})
			if len(problems) > 0 {
				problems = append(problems, TemplateProblems(v)...)
			} else {
				_, problems = Compose(v, request.Observed{})
			}
			got := viewtest.Messages(problems)
			for i := range got {
				got[i], _, _ = strings.Cut(got[i], "chapter") // The rest comes from package book.
			}
			slices.Sort(got)
			if diff := gocmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nerrors: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFilesBesideImage checks that a template cannot add files to a book in an image.
func TestFilesBesideImage(t *testing.T) {
	for at, from := range map[string]view.Source{"image": {Image: &view.ImageSource{}}, "ociRepository": {OCIRepository: &view.RepositorySource{}}} {
		v := viewtest.View()
		v.Spec.Markdowns, v.Spec.MarkdownsFrom = nil, []view.Source{from}
		v.Input.Templates.ConfigMap = viewtest.Template(t, `{data: {a.txt: text}}`)
		_, problems := Compose(v, request.Observed{})
		want := []string{"spec.markdownsFrom[0]." + at + ": Forbidden: use markdowns or ConfigMaps: " +
			"the Input's templates.configMap adds files to every book, and nothing can be added to an image"}
		if diff := gocmp.Diff(want, viewtest.Messages(problems)); diff != "" {
			t.Errorf("errors: -want, +got:\n%s", diff)
		}
	}
}

// TestGeneratedSummary checks that SUMMARY.md is generated again if somebody changed it
// in the cluster.
func TestGeneratedSummary(t *testing.T) {
	v := viewtest.View()
	v.Spec.Markdowns = map[string]string{"a.md": "# A"}
	v.Spec.Summary = view.SummaryAuto
	first, _ := Compose(v, request.Observed{})
	const want = "# Summary\n\n- [A](a.md)\n"
	for _, text := range []string{"", want, "# Summary\n\n- [Mine](a.md)\n"} {
		o := request.Observed{Deployment: &request.ObservedDeployment{}, ConfigMaps: map[string]*view.ConfigMap{view.KeyConfigMap: {Data: map[string]string{view.SummaryName: text}}}}
		o.Deployment.Spec.Template.Metadata.Annotations.Revision = first.Revision
		d := composed(t, v, o)
		if got := d.ConfigMap.Data[view.SummaryName]; got != want {
			t.Errorf("SUMMARY.md when %q is observed: want %q, got %q", text, want, got)
		}
	}
}
