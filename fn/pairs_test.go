package fn_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/test/sample"
)

// A pair is two settings, in alphabetical order.
type pair [2]string

// exclusive has the pairs of settings that cannot be combined. Package validate has their errors.
var exclusive = map[string][]string{
	"input.ingress":                    {"input.route", "input.templates.httpRoute"},
	"input.listenAddress":              {"input.server"},
	"input.route":                      {"input.templates.ingress"},
	"input.templates.httpRoute":        {"input.templates.ingress"},
	"spec.binaries":                    {"spec.markdownsFrom.image", "spec.markdownsFrom.ociRepository"},
	"spec.markdowns":                   {"spec.markdownsFrom.image", "spec.markdownsFrom.ociRepository"},
	"spec.markdownsFrom.configMap":     {"spec.markdownsFrom.image", "spec.markdownsFrom.ociRepository"},
	"spec.markdownsFrom.image":         {"spec.markdownsFrom.ociRepository", "spec.markdownsFrom.path", "spec.summary"},
	"spec.markdownsFrom.ociRepository": {"spec.markdownsFrom.path", "spec.summary"},
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
		if slices.Contains(exclusive[p[0]], p[1]) == (generated[p] > 0) {
			t.Errorf("%s and %s: together in %d valid samples", p[0], p[1], generated[p])
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
	spec = at(schemaOf(t), "properties", "spec", "properties").(object)
	spec["markdownsFrom"] = []any{at(spec, "markdownsFrom", "items", "properties")}
	crd := readYAML(t, "package/function/input/markdownview.fn.crossplane.io_inputs.yaml")
	input = at(listAt(crd, "spec", "versions")[0], "schema", "openAPIV3Schema", "properties").(object)
	input["templates"] = at(input, "templates", "properties")

	return spec, input
}
