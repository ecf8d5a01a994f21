package fn_test

import (
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/test/sample"
)

// A pair is two settings, in alphabetical order.
type pair [2]string

const (
	whole  = "spec.markdownsFrom: Forbidden: remove markdowns, binaries and the other entries, or the image"
	noPath = "spec.markdownsFrom[0].path: Forbidden: remove path"
	oneOf  = "spec.markdownsFrom[0]: Required value: set exactly one of configMap, image and ociRepository"
)

// exclusive has the pairs of settings that cannot be combined.
var exclusive = map[pair]struct{ spec, input, want string }{
	{"input.ingress", "input.route"}: {
		input: `{ingress: {host: "{name}.example.com"}, route: {host: "{name}.example.com", parentRefs: [{name: public}]}}`,
		want:  "input.ingress: Forbidden: set route or ingress, not both",
	},
	{"input.ingress", "input.templates.httpRoute"}: {
		input: `{ingress: {host: "{name}.example.com"}, templates: {httpRoute: {metadata: {labels: {a: b}}}}}`,
		want:  "input.templates.httpRoute: Forbidden: set input.route, or remove the template: it has no effect",
	},
	{"input.route", "input.templates.ingress"}: {
		input: `{route: {host: example.com, parentRefs: [{name: a}]}, templates: {ingress: {metadata: {labels: {a: b}}}}}`,
		want:  "input.templates.ingress: Forbidden: set input.ingress, or remove the template: it has no effect",
	},
	{"input.templates.httpRoute", "input.templates.ingress"}: {
		input: `{templates: {httpRoute: {metadata: {labels: {a: b}}}, ingress: {metadata: {labels: {a: b}}}}}`,
		want:  "input.templates.httpRoute: Forbidden: set input.route, or remove",
	},
	{"input.listenAddress", "input.server"}: {
		input: `{listenAddress: "::", server: {}}`,
		want:  "input.listenAddress: Forbidden: remove it, and set the address in the configuration of the web server",
	},
	{"spec.binaries", "spec.markdownsFrom.image"}: {
		spec: `{markdowns: {}, binaries: {logo.png: ""}, markdownsFrom: [{image: {reference: registry.example.com/book}}]}`,
		want: whole,
	},
	{"spec.markdowns", "spec.markdownsFrom.image"}: {
		spec: `{markdownsFrom: [{image: {reference: registry.example.com/book}}]}`,
		want: whole,
	},
	{"spec.markdownsFrom.configMap", "spec.markdownsFrom.image"}: {
		spec: `{markdowns: {}, markdownsFrom: [{configMap: {name: guide}}, {image: {reference: registry.example.com/book}}]}`,
		want: whole,
	},
	{"spec.markdownsFrom.image", "spec.markdownsFrom.path"}: {
		spec: `{markdowns: {}, markdownsFrom: [{path: guide, image: {reference: registry.example.com/book}}]}`,
		want: noPath,
	},
	{"spec.markdownsFrom.image", "spec.summary"}: {
		spec: `{markdowns: {}, summary: Auto, markdownsFrom: [{image: {reference: registry.example.com/book}}]}`,
		want: "spec.summary: Forbidden: remove summary, and add SUMMARY.md to the image",
	},
	{"spec.binaries", "spec.markdownsFrom.ociRepository"}: {
		spec: `{markdowns: {}, binaries: {logo.png: ""}, markdownsFrom: [{ociRepository: {name: handbook}}]}`,
		want: whole,
	},
	{"spec.markdowns", "spec.markdownsFrom.ociRepository"}: {
		spec: `{markdownsFrom: [{ociRepository: {name: handbook}}]}`,
		want: whole,
	},
	{"spec.markdownsFrom.configMap", "spec.markdownsFrom.ociRepository"}: {
		spec: `{markdowns: {}, markdownsFrom: [{configMap: {name: guide}, ociRepository: {name: handbook}}]}`,
		want: oneOf,
	},
	{"spec.markdownsFrom.image", "spec.markdownsFrom.ociRepository"}: {
		spec: `{markdowns: {}, markdownsFrom: [{image: {reference: example.com/book}, ociRepository: {name: handbook}}]}`,
		want: oneOf,
	},
	{"spec.markdownsFrom.ociRepository", "spec.markdownsFrom.path"}: {
		spec: `{markdowns: {}, markdownsFrom: [{path: guide, ociRepository: {name: handbook}}]}`,
		want: noPath,
	},
	{"spec.markdownsFrom.ociRepository", "spec.summary"}: {
		spec: `{markdowns: {}, summary: Auto, markdownsFrom: [{ociRepository: {name: handbook}}]}`,
		want: "spec.summary: Forbidden: remove summary",
	},
}

// TestPairs checks the laws with every two settings that can be combined. This includes a part
// of law 4: valid requests are not rejected. Samples without a new pair are skipped. The fuzz
// targets use the same samples.
func TestPairs(t *testing.T) {
	t.Parallel()

	generated := map[pair]int{}
	for seed := range uint64(500) {
		s := sample.Random(seed)
		view, input := s.View(), s.Input()
		sample.Fit(view, input)
		before := len(generated)
		for _, p := range pairsOf(view["spec"].(object), input) {
			generated[p]++
		}
		if len(generated) == before {
			continue
		}
		c := newCluster(t, view, input)
		c.Shared, c.Repositories = s.Shared(), map[string]object{"handbook": s.Repository()}
		if rsp := checkLaws(t, c.Request()); isFatal(rsp) {
			t.Errorf("law 4: sample %d is rejected: %v", seed, rsp.GetResults())
		}
	}
	for _, p := range pairsOf(everySetting(t)) {
		if _, never := exclusive[p]; never == (generated[p] > 0) {
			t.Errorf("%s and %s: together in %d valid samples", p[0], p[1], generated[p])
		}
	}
}

// TestExclusive checks that each pair in exclusive is rejected.
func TestExclusive(t *testing.T) {
	t.Parallel()

	for p, tc := range exclusive {
		spec, input := object{"markdowns": book("text")}, object{}
		for text, into := range map[string]*object{tc.spec: &spec, tc.input: &input} {
			if err := yaml.Unmarshal([]byte(text), into); err != nil {
				t.Fatal(err)
			}
		}
		input["allowedBookImages"] = []any{"*/book"}
		if !slices.Contains(pairsOf(spec, input), p) {
			t.Errorf("%v are not in %v and %v", p, spec, input)
		}
		rsp := run(t, sharing(t, spec, inputWith(input), map[string]object{"guide": data(book("text"))}).Request())
		if got := degraded(rsp); !strings.Contains(got, tc.want) {
			t.Errorf("%v: want %q, got %q", p, tc.want, got)
		}
	}
}

// pairsOf returns the pairs of settings in a spec and an Input. Each kind of source and of
// template is a setting of its own.
func pairsOf(spec, input object) []pair {
	set := map[string]bool{}
	for name, value := range spec {
		set["spec."+name] = name != "markdownsFrom" && value != "Required" && !cmp.Equal(value, any(object{}))
	}
	from, _ := spec["markdownsFrom"].([]any)
	for _, source := range from {
		for kind := range source.(object) {
			set["spec.markdownsFrom."+kind] = true
		}
	}
	for name, value := range input {
		set["input."+name] = value != false && !slices.Contains([]string{"apiVersion", "kind", "metadata", "templates"}, name)
	}
	templates, _ := input["templates"].(object)
	for kind, template := range templates {
		set["input.templates."+kind] = len(template.(object)) > 0
	}
	maps.DeleteFunc(set, func(_ string, is bool) bool { return !is })

	var pairs []pair
	settings := slices.Sorted(maps.Keys(set))
	for i, one := range settings {
		for _, other := range settings[i+1:] {
			pairs = append(pairs, pair{one, other})
		}
	}

	return pairs
}

// everySetting returns a spec and an Input with every field.
func everySetting(t *testing.T) (spec, input object) {
	t.Helper()

	b, err := os.ReadFile("../package/configuration/definition.yaml")
	if err != nil {
		t.Fatal(err)
	}
	xrd := object{}
	if err := yaml.Unmarshal(b, &xrd); err != nil {
		t.Fatal(err)
	}
	schema := at(listAt(xrd, "spec", "versions")[0], "schema", "openAPIV3Schema")
	spec = at(schema, "properties", "spec", "properties").(object)
	spec["markdownsFrom"] = []any{at(spec, "markdownsFrom", "items", "properties")}
	input = fieldsOf(reflect.TypeFor[v1beta1.Input]())
	input["templates"] = fieldsOf(reflect.TypeFor[v1beta1.Templates]())

	return spec, input
}

// fieldsOf returns an object with the fields of a type.
func fieldsOf(kind reflect.Type) object {
	fields := object{}
	for f := range kind.Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			fields[name] = object{name: true}
		}
	}

	return fields
}
