package fn

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
)

func template(t *testing.T, text string) *runtime.RawExtension {
	t.Helper()
	if text == "" {
		return nil
	}
	b, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}

	return &runtime.RawExtension{Raw: b}
}

// TestTemplates looks at the parts of the Deployment that templates change.
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
	// ofPod leaves out what is not of the pod template.
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
		"None":     {reason: "Without a template ours stands", want: func(*part) {}},
		"Empty":    {reason: "An empty one changes nothing", template: `{}`, want: func(*part) {}},
		"Added":    {reason: "What we do not set is added", template: `{spec: {template: {spec: {tolerations: [{operator: Exists}]}}}}`, want: func(p *part) { p.Tolerations = 1 }},
		"Sidecar":  {reason: "Containers are merged by name", template: `{spec: {template: {spec: {containers: [{name: proxy, image: proxy:v1}]}}}}`, want: func(p *part) { p.Containers = []string{"mdbook", "proxy"} }},
		"Changed":  {reason: "And ours is changed by its name", template: `{spec: {template: {spec: {containers: [{name: mdbook, image: other}]}}}}`, want: func(p *part) { p.Image = "other" }},
		"Removed":  {reason: "Null removes", template: `{spec: {template: {spec: {securityContext: {runAsUser: null}}}}}`, want: func(p *part) { p.RunAsUser = nil }},
		"Replaced": {reason: "Directives work", template: `{spec: {template: {spec: {containers: [{name: mdbook, readinessProbe: null}, {name: gone, $patch: delete}]}}}}`, want: func(p *part) { p.Readiness = false }},
		"Recreate": {reason: "What goes with another strategy goes with it", template: `{spec: {strategy: {type: Recreate}}}`, want: func(p *part) { p.Rolling = false }},
		"Replicas": {reason: "Even replicas", template: `{spec: {replicas: 0}}`, want: func(p *part) { p.Replicas = ptr.To[int32](0) }},
		"SameName": {reason: "A name that is ours changes nothing", template: `{apiVersion: apps/v1, kind: Deployment, metadata: {name: viewer-sample}}`, want: func(*part) {}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := settledView()
			v.input.Templates.Deployment = template(t, tc.template)
			composed, faults := compose(v)
			if len(faults) > 0 {
				t.Fatalf("\n%s\nfaults: %v", tc.reason, faults)
			}

			want := ours
			tc.want(&want)
			spec := composed.deployment.Spec.Template.Spec
			got := part{
				Tolerations: len(spec.Tolerations),
				RunAsUser:   spec.SecurityContext.RunAsUser,
				Replicas:    composed.deployment.Spec.Replicas,
				Rolling:     composed.deployment.Spec.Strategy.RollingUpdate != nil,
			}
			for _, c := range spec.Containers {
				got.Containers = append(got.Containers, c.Name)
				if c.Name == "mdbook" {
					got.Image, got.Readiness = c.Image, c.ReadinessProbe != nil
				}
			}
			// A strategic merge patch puts what it adds first.
			slices.Sort(got.Containers)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if changed := revisionOf(composed) != settledRevision; changed == cmp.Equal(ofPod(want), ofPod(ours)) {
				t.Errorf("\n%s\nA change of the pod template is another revision, and nothing else is: changed %t", tc.reason, changed)
			}
		})
	}
}

func TestTemplateFaults(t *testing.T) {
	const fixed = ": Forbidden: a template cannot change this field: remove it"

	cases := map[string]struct {
		reason     string
		deployment string
		configMap  string
		service    string
		want       []string
	}{
		"Unknown":   {reason: "A typo is an error that names it", deployment: `{spec: {template: {spec: {tolerationz: []}}}}`, want: []string{"input.templates.deployment.spec.template.spec.tolerationz: Forbidden: unknown field"}},
		"Type":      {reason: "So is a value of a wrong type", deployment: `{spec: {minReadySeconds: soon}}`, want: []string{"input.templates.deployment.spec.minReadySeconds: Invalid value: must be a whole number"}},
		"NoObject":  {reason: "And a template that is none", deployment: `text`, want: []string{"input.templates.deployment: Invalid value: must be an object"}},
		"Directive": {reason: "And a directive that is none", deployment: `{spec: {$patch: mangle}}`, want: []string{`input.templates.deployment.spec.$patch: Unsupported value: supported values: "replace", "delete"`}},
		"Retain":    {reason: "And one that contradicts itself", deployment: `{spec: {strategy: {$retainKeys: [type], rollingUpdate: {maxSurge: 1}}}}`, want: []string{"input.templates.deployment: Invalid value: "}},
		"Name":      {reason: "A name is for ever", deployment: `{metadata: {name: other}}`, want: []string{"input.templates.deployment.metadata.name" + fixed}},
		"Namespace": {reason: "So is a namespace", configMap: `{metadata: {namespace: other}}`, want: []string{"input.templates.configMap.metadata.namespace" + fixed}},
		"Generate":  {reason: "And where the name comes from", service: `{metadata: {generateName: other}}`, want: []string{"input.templates.service.metadata.generateName" + fixed}},
		"Kind":      {reason: "And the kind", service: `{kind: Ingress, apiVersion: v2}`, want: []string{"input.templates.service.kind" + fixed, "input.templates.service.apiVersion" + fixed}},
		"Owner":     {reason: "Owners are Crossplane's", service: `{metadata: {ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: b}]}}`, want: []string{"input.templates.service.metadata.ownerReferences" + fixed}},
		"Status":    {reason: "A status is not ours to set", deployment: `{status: {replicas: 1}}`, want: []string{"input.templates.deployment.status" + fixed}},
		"Selector":  {reason: "The selector ties viewers to their Deployment", deployment: `{spec: {selector: {matchLabels: {a: b}}}}`, want: []string{"input.templates.deployment.spec.selector" + fixed}},
		"Service":   {reason: "And to their Service", service: `{spec: {selector: {app.kubernetes.io/instance: other}}}`, want: []string{"input.templates.service.spec.selector" + fixed}},
		"PodLabel":  {reason: "So do the labels that it selects", deployment: `{spec: {template: {metadata: {labels: {app.kubernetes.io/name: other}}}}}`, want: []string{"input.templates.deployment.spec.template.metadata.labels.app.kubernetes.io/name" + fixed}},
		"LabelGone": {reason: "Which null would remove", deployment: `{spec: {template: {metadata: {labels: {app.kubernetes.io/instance: null}}}}}`, want: []string{"input.templates.deployment.spec.template.metadata.labels.app.kubernetes.io/instance" + fixed}},
		"Label":     {reason: "The resources keep them too", service: `{metadata: {labels: {app.kubernetes.io/created-by: other}}}`, want: []string{"input.templates.service.metadata.labels.app.kubernetes.io/created-by" + fixed}},
		"SpecGone": {reason: "Nothing is left of a spec that is removed", deployment: `{spec: null}`, want: []string{
			"input.templates.deployment.spec.selector" + fixed,
			"input.templates.deployment.spec.template.metadata.labels.app.kubernetes.io/name" + fixed,
			"input.templates.deployment.spec.template.metadata.labels.app.kubernetes.io/instance" + fixed,
			"input.templates.deployment.spec.template.metadata.labels.app.kubernetes.io/created-by" + fixed,
		}},
		"Immutable": {reason: "A ConfigMap must follow the text", configMap: `{immutable: true}`, want: []string{"input.templates.configMap.immutable" + fixed}},
		"File":      {reason: "A file is the MarkdownView's", configMap: `{data: {SUMMARY.md: mine}}`, want: []string{"input.templates.configMap.data[SUMMARY.md]: Forbidden: is a file of the MarkdownView: rename one of them"}},
		"All":       {reason: "All faults at once", configMap: `{immutable: true}`, service: `{kind: Pod}`, want: []string{"input.templates.configMap.immutable" + fixed, "input.templates.service.kind" + fixed}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := settledView()
			v.input.Templates = v1beta1.Templates{
				ConfigMap:  template(t, tc.configMap),
				Deployment: template(t, tc.deployment),
				Service:    template(t, tc.service),
			}
			composed, faults := compose(v)

			// Of what a library says of itself the path is enough.
			got := messages(faults)
			for i := range got {
				for _, want := range tc.want {
					if len(got[i]) > len(want) && got[i][:len(want)] == want {
						got[i] = want
					}
				}
			}
			slices.Sort(got)
			slices.Sort(tc.want)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nfaults: -want, +got:\n%s", tc.reason, diff)
			}

			v.input.Templates = v1beta1.Templates{}
			untouched, _ := compose(v)
			if diff := cmp.Diff(encode(untouched.deployment), encode(composed.deployment), protocmp.Transform()); diff != "" {
				t.Errorf("\n%s\nA template with faults must change nothing: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestConfigMapTemplate(t *testing.T) {
	v := settledView()
	v.input.Templates.ConfigMap = template(t, `{metadata: {labels: {a: b}}, data: {theme.css: body}, binaryData: {x.png: aGk=}}`)
	composed, faults := compose(v)
	if len(faults) > 0 {
		t.Fatal(faults)
	}

	if diff := cmp.Diff(map[string]string{"SUMMARY.md": "# Summary", "theme.css": "body"}, composed.configMap.Data); diff != "" {
		t.Errorf("A template adds files beside those of the book: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"SUMMARY.md": "# Summary"}, v.Spec.Markdowns); diff != "" {
		t.Errorf("And leaves the MarkdownView as it is: -want, +got:\n%s", diff)
	}
	if !stateOf[configMapState](t, `{data: {SUMMARY.md: "# Summary", theme.css: body}, binaryData: {x.png: aGk=}}`).ready(composed, nil) {
		t.Errorf("The ConfigMap is ready with all that was asked for")
	}
	if stateOf[configMapState](t, `{data: {SUMMARY.md: "# Summary", theme.css: body}, binaryData: {x.png: aGo=}}`).ready(composed, nil) {
		t.Errorf("The ConfigMap is not ready with another image")
	}
	if revisionOf(composed) == settledRevision {
		t.Errorf("A file that a template adds is content")
	}
}

func TestURL(t *testing.T) {
	cases := map[string]struct {
		reason  string
		service string
		want    string
	}{
		"None":  {reason: "Port 80 need not be said", service: `{}`, want: "http://viewer-sample.default.svc"},
		"Port":  {reason: "Another port must be", service: `{spec: {ports: [{$patch: replace}, {name: http, port: 8080, targetPort: http}]}}`, want: "http://viewer-sample.default.svc:8080"},
		"Other": {reason: "The port of the book is the one with its name", service: `{spec: {ports: [{name: metrics, port: 9090}]}}`, want: "http://viewer-sample.default.svc"},
		"First": {reason: "Without that name it is the first", service: `{spec: {ports: [{$patch: replace}, {name: web, port: 81}, {name: more, port: 82}]}}`, want: "http://viewer-sample.default.svc:81"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := view{}
			v.Metadata.Name, v.Metadata.Namespace = "sample", "default"
			v.input.Templates.Service = template(t, tc.service)
			want, faults := compose(v)
			if len(faults) > 0 {
				t.Fatal(faults)
			}
			if got := urlOf(v, want.service.Spec.Ports); got != tc.want {
				t.Errorf("\n%s\nurlOf(...): got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
