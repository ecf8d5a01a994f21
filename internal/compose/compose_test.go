package compose

import (
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/validate"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// TestTemplates checks the parts of the Deployment that templates change.
func TestTemplates(t *testing.T) {
	type part struct {
		Tolerations int
		Containers  []string
		Image       string
		RunAsUser   *int64
		Readiness   bool
		Replicas    *int32
		Rolling     bool
	}
	// ofPod clears the fields that are not part of the pod template.
	ofPod := func(p part) part {
		p.Replicas, p.Rolling = nil, false

		return p
	}
	ours := part{Containers: []string{"mdbook"}, Image: "docker.io/peaceiris/mdbook:v0.5.0", RunAsUser: ptr.To[int64](65532), Readiness: true, Replicas: ptr.To[int32](2), Rolling: true}

	cases := map[string]struct {
		reason   string
		template string
		want     func(p *part)
	}{
		"None":     {reason: "Without a template nothing changes", want: func(*part) {}},
		"Empty":    {reason: "An empty template changes nothing", template: `{}`, want: func(*part) {}},
		"Added":    {reason: "A template adds a field that the function does not set", template: `{spec: {template: {spec: {tolerations: [{operator: Exists}]}}}}`, want: func(p *part) { p.Tolerations = 1 }},
		"Sidecar":  {reason: "Containers are merged by name", template: `{spec: {template: {spec: {containers: [{name: proxy, image: proxy:v1}]}}}}`, want: func(p *part) { p.Containers = []string{"mdbook", "proxy"} }},
		"Changed":  {reason: "A container with our name changes ours", template: `{spec: {template: {spec: {containers: [{name: mdbook, image: other}]}}}}`, want: func(p *part) { p.Image = "other" }},
		"Removed":  {reason: "Null removes a field", template: `{spec: {template: {spec: {securityContext: {runAsUser: null}}}}}`, want: func(p *part) { p.RunAsUser = nil }},
		"Replaced": {reason: "A template can have directives", template: `{spec: {template: {spec: {containers: [{name: mdbook, readinessProbe: null}, {name: gone, $patch: delete}]}}}}`, want: func(p *part) { p.Readiness = false }},
		"Recreate": {reason: "Another strategy removes the fields of the default strategy", template: `{spec: {strategy: {type: Recreate}}}`, want: func(p *part) { p.Rolling = false }},
		"Replicas": {reason: "A template can set replicas", template: `{spec: {replicas: 0}}`, want: func(p *part) { p.Replicas = ptr.To[int32](0) }},
		"SameName": {reason: "A template can repeat the name of the resource", template: `{apiVersion: apps/v1, kind: Deployment, metadata: {name: viewer-sample}}`, want: func(*part) {}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			v.Input.Templates.Deployment = viewtest.Template(t, tc.template)
			composed, problems := Compose(v, request.Observed{})
			if len(problems) > 0 {
				t.Fatalf("\n%s\ncompose(): %v", tc.reason, viewtest.Messages(problems))
			}

			want := ours
			tc.want(&want)
			spec := composed.Deployment.Spec.Template.Spec
			got := part{
				Tolerations: len(spec.Tolerations),
				RunAsUser:   spec.SecurityContext.RunAsUser,
				Replicas:    composed.Deployment.Spec.Replicas,
				Rolling:     composed.Deployment.Spec.Strategy.RollingUpdate != nil,
			}
			for _, c := range spec.Containers {
				got.Containers = append(got.Containers, c.Name)
				if c.Name == "mdbook" {
					got.Image, got.Readiness = c.Image, c.ReadinessProbe != nil
				}
			}
			// A strategic merge patch puts additional items first.
			slices.Sort(got.Containers)
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if changed := composed.Revision != viewtest.Revision; changed == gocmp.Equal(ofPod(want), ofPod(ours)) {
				t.Errorf("\n%s\nOnly a change of the pod template changes the revision: changed %t", tc.reason, changed)
			}
		})
	}
}

func TestTemplateErrors(t *testing.T) {
	const fixed = ": Forbidden: remove it: a template cannot change this field"

	cases := map[string]struct {
		reason     string
		deployment string
		configMap  string
		service    string
		want       []string
	}{
		"Unknown":  {reason: "The error of an unknown field names the field", deployment: `{spec: {template: {spec: {tolerationz: []}}}}`, want: []string{"input.templates.deployment.spec.template.spec.tolerationz: Forbidden: unknown field"}},
		"Type":     {reason: "A value of a wrong type is an error", deployment: `{spec: {minReadySeconds: soon}}`, want: []string{"input.templates.deployment.spec.minReadySeconds: Invalid value: must be a whole number"}},
		"NoObject": {reason: "A template must be an object", deployment: `text`, want: []string{"input.templates.deployment: Invalid value: must be an object"}},
		"Directives": {
			reason: "Directives that kubectl computes, and invalid values, are errors",
			deployment: `{$patch: replace, metadata: {labels: {$patch: mangle}, annotations: {$retainKeys: a}}, spec: {$retainKeys: [strategy], strategy: {$retainKeys: [type, {}]},
			              template: {spec: {containers: [{name: mdbook, $patch: merge, $setElementOrder/env: [a]}], tolerationz: [{$patch: 1}]}}}}`,
			want: []string{
				`input.templates.deployment.metadata.labels.$patch: Unsupported value: supported values: "replace", "delete"`,
				"input.templates.deployment.metadata.annotations.$retainKeys: Invalid value: must be a list of strings",
				"input.templates.deployment.spec.strategy.$retainKeys: Invalid value: must be a list of strings",
				`input.templates.deployment.spec.template.spec.containers[0].$patch: Unsupported value: supported values: "replace", "delete"`,
				"input.templates.deployment.spec.template.spec.containers[0].$setElementOrder/env: Forbidden: unknown directive: use $patch or $retainKeys, or remove it",
				"input.templates.deployment.spec.template.spec.tolerationz: Forbidden: unknown field",
				`input.templates.deployment.spec.template.spec.tolerationz[0].$patch: Unsupported value: supported values: "replace", "delete"`,
			},
		},
		"Exponent":  {reason: "A quantity with a large exponent would take minutes to compare", deployment: `{spec: {template: {spec: {containers: [{name: mdbook, resources: {limits: {cpu: 1e999999999}}}]}}}}`, want: []string{`input.templates.deployment.spec.template.spec.containers[0].resources.limits[cpu]: Invalid value: "1e999999999": must be a quantity such as "100m" or "64Mi"`}},
		"Retain":    {reason: "A directive that contradicts the template is an error", deployment: `{spec: {strategy: {$retainKeys: [type], rollingUpdate: {maxSurge: 1}}}}`, want: []string{"input.templates.deployment: Invalid value: "}},
		"Name":      {reason: "Crossplane never renames a resource", deployment: `{metadata: {name: other}}`, want: []string{"input.templates.deployment.metadata.name" + fixed}},
		"Namespace": {reason: "Crossplane never moves a resource", configMap: `{metadata: {namespace: other}}`, want: []string{"input.templates.configMap.metadata.namespace" + fixed}},
		"Generate":  {reason: "Crossplane never renames a resource", service: `{metadata: {generateName: other}}`, want: []string{"input.templates.service.metadata.generateName" + fixed}},
		"Kind":      {reason: "The kind and the apiVersion of a resource are permanent", service: `{kind: Ingress, apiVersion: v2}`, want: []string{"input.templates.service.kind" + fixed, "input.templates.service.apiVersion" + fixed}},
		"Owner":     {reason: "Crossplane sets the owner references", service: `{metadata: {ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: b}]}}`, want: []string{"input.templates.service.metadata.ownerReferences" + fixed}},
		"Status":    {reason: "The Deployment controller sets the status", deployment: `{status: {replicas: 1}}`, want: []string{"input.templates.deployment.status" + fixed}},
		"Selector":  {reason: "The selector of a Deployment is immutable", deployment: `{spec: {selector: {matchLabels: {a: b}}}}`, want: []string{"input.templates.deployment.spec.selector" + fixed}},
		"Service":   {reason: "The Service must select the pods", service: `{spec: {selector: {app.kubernetes.io/instance: other}}}`, want: []string{"input.templates.service.spec.selector" + fixed}},
		"PodLabel":  {reason: "The pods must keep the labels of the selector", deployment: `{spec: {template: {metadata: {labels: {app.kubernetes.io/name: other}}}}}`, want: []string{"input.templates.deployment.spec.template.metadata.labels.app.kubernetes.io/name" + fixed}},
		"LabelGone": {reason: "Null would remove a label of the selector", deployment: `{spec: {template: {metadata: {labels: {app.kubernetes.io/instance: null}}}}}`, want: []string{"input.templates.deployment.spec.template.metadata.labels.app.kubernetes.io/instance" + fixed}},
		"Label":     {reason: "The resources must keep the labels", service: `{metadata: {labels: {app.kubernetes.io/created-by: other}}}`, want: []string{"input.templates.service.metadata.labels.app.kubernetes.io/created-by" + fixed}},
		"SpecGone": {reason: "A template cannot remove the spec", deployment: `{spec: null}`, want: []string{
			"input.templates.deployment.spec.selector" + fixed,
			"input.templates.deployment.spec.template.metadata.labels.app.kubernetes.io/name" + fixed,
			"input.templates.deployment.spec.template.metadata.labels.app.kubernetes.io/instance" + fixed,
			"input.templates.deployment.spec.template.metadata.labels.app.kubernetes.io/created-by" + fixed,
		}},
		"Immutable":  {reason: "The ConfigMap must change with the text", configMap: `{immutable: true}`, want: []string{"input.templates.configMap.immutable" + fixed}},
		"File":       {reason: "A template cannot change a file of the MarkdownView", configMap: `{data: {SUMMARY.md: mine}}`, want: []string{"input.templates.configMap.data[SUMMARY.md]: Forbidden: rename this file or that of the MarkdownView: they have the same name"}},
		"Limit":      {reason: "A limit must not be below the request of the MarkdownView", deployment: `{spec: {template: {spec: {containers: [{name: mdbook, resources: {limits: {memory: 32Mi}}}]}}}}`, want: []string{`input.templates.deployment.spec.template.spec.containers[mdbook].resources.requests[memory]: Invalid value: "64Mi": must not be above the limit 32Mi`}},
		"VolumeGone": {reason: "A volume that is mounted must exist", deployment: `{spec: {template: {spec: {volumes: [{name: markdowns, $patch: delete}]}}}}`, want: []string{`input.templates.deployment.spec.template.spec.containers[mdbook].volumeMounts[0].name: Not found: "markdowns"`}},
		"PortGone": {reason: "The probes and the Service name the port", deployment: `{spec: {template: {spec: {containers: [{name: mdbook, ports: [{containerPort: 3000, $patch: delete}]}]}}}}`, want: []string{
			"input.templates.deployment.spec.template.spec.containers[mdbook].livenessProbe: Not found: \"port http\"",
			"input.templates.deployment.spec.template.spec.containers[mdbook].ports: Required value: keep the port named http: the Service needs it",
			"input.templates.deployment.spec.template.spec.containers[mdbook].readinessProbe: Not found: \"port http\"",
			"input.templates.deployment.spec.template.spec.containers[mdbook].startupProbe: Not found: \"port http\"",
		}},
		"SameName":     {reason: "Two containers cannot have the same name", deployment: `{spec: {template: {spec: {initContainers: [{name: mdbook, image: a}]}}}}`, want: []string{"input.templates.deployment.spec.template.spec.containers[mdbook]: Duplicate value"}},
		"Negative":     {reason: "The API server rejects a negative number of replicas", deployment: `{spec: {replicas: -1}}`, want: []string{"input.templates.deployment.spec.replicas: Invalid value: -1: must not be negative"}},
		"StrategyGone": {reason: "Kubernetes would set rollingUpdate, and reject it together with a later Recreate", deployment: `{spec: {strategy: null}}`, want: []string{"input.templates.deployment.spec.strategy: Required value: set type to Recreate, or to RollingUpdate with maxSurge and maxUnavailable"}},
		"TypeGone":     {reason: "Kubernetes would set the type", deployment: `{spec: {strategy: {type: null}}}`, want: []string{"input.templates.deployment.spec.strategy: Required value: set type to Recreate, or to RollingUpdate with maxSurge and maxUnavailable"}},
		"RollingGone":  {reason: "Kubernetes would set rollingUpdate", deployment: `{spec: {strategy: {rollingUpdate: null}}}`, want: []string{"input.templates.deployment.spec.strategy: Required value: set type to Recreate, or to RollingUpdate with maxSurge and maxUnavailable"}},
		"SurgeGone":    {reason: "Kubernetes would set maxSurge", deployment: `{spec: {strategy: {rollingUpdate: {maxSurge: null}}}}`, want: []string{"input.templates.deployment.spec.strategy: Required value: set type to Recreate, or to RollingUpdate with maxSurge and maxUnavailable"}},
		"MaxGone":      {reason: "Kubernetes would set maxUnavailable", deployment: `{spec: {strategy: {rollingUpdate: {maxUnavailable: null}}}}`, want: []string{"input.templates.deployment.spec.strategy: Required value: set type to Recreate, or to RollingUpdate with maxSurge and maxUnavailable"}},
		"FileName":     {reason: "A key of a ConfigMap has no folders", configMap: `{data: {a/b.md: text}}`, want: []string{"input.templates.configMap.data[a/b.md]: Invalid value: "}},
		"FileTwice":    {reason: "A key cannot be in data and in binaryData", configMap: `{data: {x.txt: text}, binaryData: {x.txt: dGV4dA==}}`, want: []string{"input.templates.configMap.binaryData[x.txt]: Duplicate value"}},
		"Labels":       {reason: "Labels are checked", service: `{metadata: {labels: {a b: c}}}`, want: []string{"input.templates.service.metadata.labels: Invalid value: "}},
		"Annotations":  {reason: "Annotations are checked", service: `{metadata: {annotations: {a b: c}}}`, want: []string{"input.templates.service.metadata.annotations: Invalid value: "}},
		"All":          {reason: "All errors are reported at once", configMap: `{immutable: true}`, service: `{kind: Pod}`, want: []string{"input.templates.configMap.immutable" + fixed, "input.templates.service.kind" + fixed}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			v.Input.Templates = v1beta1.Templates{
				ConfigMap:  viewtest.Template(t, tc.configMap),
				Deployment: viewtest.Template(t, tc.deployment),
				Service:    viewtest.Template(t, tc.service),
			}
			var composed *Desired
			problems := validate.Request(request.Request{View: v})
			if len(problems) == 0 {
				composed, problems = Compose(v, request.Observed{})
			}

			// Compare only the path of an error that comes from a library.
			got := viewtest.Messages(problems)
			for i := range got {
				for _, want := range tc.want {
					if len(got[i]) > len(want) && got[i][:len(want)] == want {
						got[i] = want
					}
				}
			}
			slices.Sort(got)
			slices.Sort(tc.want)
			if diff := gocmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nerrors: -want, +got:\n%s", tc.reason, diff)
			}

			if composed != nil {
				t.Errorf("\n%s\ncompose(): want no resources with errors, got %v", tc.reason, composed)
			}
			if got := problems.Reason(); got != report.ReasonInvalidInput {
				t.Errorf("\n%s\nreason: want %q, got %q", tc.reason, report.ReasonInvalidInput, got)
			}
		})
	}
}

// TestTemplateErrorsAmongOthers checks that the errors of templates are reported together
// with others.
func TestTemplateErrorsAmongOthers(t *testing.T) {
	const fixed = ": Forbidden: remove it: a template cannot change this field"

	cases := map[string]struct {
		reason, input string
		change        func(v *view.View)
		want          []string
	}{
		"Input": {
			reason: "Another field of the Input has an error",
			input:  `{ttl: -1s, templates: {deployment: {metadata: {name: other}}}}`,
			want:   []string{"input.templates.deployment.metadata.name" + fixed, `input.ttl: Invalid value: "-1s": must not be negative`},
		},
		"Spec": {
			reason: "The spec has an error",
			input:  `{templates: {service: {metadata: {name: other}}}}`,
			change: func(v *view.View) { v.Spec.Replicas = ptr.To[int32](9) },
			want:   []string{"input.templates.service.metadata.name" + fixed, "spec.replicas: Invalid value: 9: must be from 1 to 5"},
		},
		"Book": {
			reason: "mdBook cannot build the book",
			input:  `{templates: {service: {metadata: {name: other}}}}`,
			change: func(v *view.View) { v.Spec.Markdowns = map[string]string{"SUMMARY.md": "- [A](/a.md)"} },
			want:   []string{"input.templates.service.metadata.name" + fixed, `spec.markdowns: Invalid value: SUMMARY.md line 1: `},
		},
		"BookWithTemplate": {
			reason: "A book to which a template adds files is checked when the template has no errors",
			input:  `{templates: {configMap: {metadata: {name: other}, data: {a.md: text}}}}`,
			change: func(v *view.View) { v.Spec.Markdowns = map[string]string{"SUMMARY.md": "- [A](a.md)"} },
			want:   []string{"input.templates.configMap.metadata.name" + fixed},
		},
		"SameTemplate": {
			reason: "The same template has an unknown field",
			input:  `{templates: {deployment: {kind: Deployment, metadata: {name: other}, spec: {paws: true}}}}`,
			want:   []string{"input.templates.deployment.metadata.name" + fixed, "input.templates.deployment.spec.paws: Forbidden: unknown field"},
		},
		"Valid": {
			reason: "A template without errors adds none",
			input:  `{ttl: -1s, templates: {configMap: {metadata: {annotations: {a: b}}}, deployment: {kind: Deployment, spec: {paused: false}}, service: {spec: {ports: [{port: 80, $patch: delete}]}}}}`,
			want:   []string{`input.ttl: Invalid value: "-1s": must not be negative`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			v.Input = *viewtest.Decode[v1beta1.Input](t, tc.input)
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
				for _, want := range tc.want {
					if strings.HasPrefix(got[i], want) {
						got[i] = want // The rest comes from package book or a library.
					}
				}
			}
			slices.Sort(got)
			if diff := gocmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nerrors: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
