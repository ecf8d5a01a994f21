package admission_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	xpv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	gocmp "github.com/google/go-cmp/cmp"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

const (
	inputCRD      = "../../package/function/input/markdownview.fn.crossplane.io_inputs.yaml"
	referencePage = "../../docs/reference.md"
)

var update = flag.Bool("update", false, "write docs/reference.md")

// TestReference checks that docs/reference.md has every field of the XRD and of the
// Input.
func TestReference(t *testing.T) {
	var xr extv1.JSONSchemaProps
	xrd := read[xpv1.CompositeResourceDefinition](t, definition)
	must(t, json.Unmarshal(xrd.Spec.Versions[0].Schema.OpenAPIV3Schema.Raw, &xr))
	in := read[extv1.CustomResourceDefinition](t, inputCRD).Spec.Versions[0].Schema.OpenAPIV3Schema
	for _, name := range []string{"apiVersion", "kind", "metadata"} {
		delete(in.Properties, name)
	}

	want := "# Fields\n\n`make generate` writes this page from the XRD of MarkdownView and the CRD of the Input.\n" +
		"\n## Spec of a MarkdownView\n\nOnly the files of the book are required. [Content](content.md) has examples.\n" + fields("spec", xr.Properties["spec"]) +
		"\n## Status of a MarkdownView\n\nCrossplane adds `status.conditions`.\n" + fields("status", xr.Properties["status"]) +
		"\n## Input of the function\n\n`apiVersion: markdownview.fn.crossplane.io/v1beta1`, `kind: Input`. It applies to all MarkdownViews of its\n" +
		"Composition. Every field is optional, and an unknown field is an error.\n" +
		"[example/platform](../example/platform/composition.yaml) sets most fields, and [serving](serving.md) describes those\n" +
		"about serving and publishing books.\n" + fields("", *in)
	if *update {
		must(t, os.WriteFile(referencePage, []byte(want), 0o644))
	}
	if diff := gocmp.Diff(want, readPage(t, referencePage)); diff != "" {
		t.Errorf("docs/reference.md is out of date: run \"make generate\": -want, +got:\n%s", diff)
	}
}

// fields returns a table of the fields below a field, sorted by path.
func fields(path string, s extv1.JSONSchemaProps) string {
	return "\n| Field | Type | Meaning |\n|---|---|---|\n" + rows(path, s)
}

func rows(path string, s extv1.JSONSchemaProps) string {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		at := strings.TrimPrefix(path+"."+name, ".")
		meaning := strings.Join(append([]string{strings.ReplaceAll(strings.Join(strings.Fields(p.Description), " "), "|", `\|`)}, bounds(p)...), " ")
		if slices.Contains(s.Required, name) {
			meaning = "Required. " + meaning
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s |\n", at, kindOf(p), meaning)
		out.WriteString(rows(at, p))
		// The description of imagePullSecrets describes its entries.
		if p.Items != nil && at != "imagePullSecrets" {
			out.WriteString(rows(at+"[]", *p.Items.Schema))
		}
	}

	return out.String()
}

func kindOf(s extv1.JSONSchemaProps) string {
	switch {
	case s.XIntOrString:
		return "integer or string"
	case s.AdditionalProperties != nil:
		return "map of " + kindOf(*s.AdditionalProperties.Schema)
	case s.Items != nil:
		return "list of " + kindOf(*s.Items.Schema)
	default:
		return s.Type
	}
}

// bounds returns the rules of a schema other than CEL rules, as sentences.
func bounds(s extv1.JSONSchemaProps) []string {
	var out []string
	if s.Default != nil {
		out = append(out, fmt.Sprintf("Default: `%s`.", strings.Trim(string(s.Default.Raw), `"`)))
	}
	enum := s.Enum
	if s.Items != nil {
		enum = s.Items.Schema.Enum
	}
	if enum != nil {
		var values []string
		for _, e := range enum {
			values = append(values, "`"+strings.Trim(string(e.Raw), `"`)+"`")
		}
		out = append(out, "One of "+strings.Join(values, ", ")+".")
	}
	if s.Minimum != nil && s.Maximum != nil {
		out = append(out, fmt.Sprintf("From %v to %v.", *s.Minimum, *s.Maximum))
	}
	if most := cmp.Or(s.MaxProperties, s.MaxItems); most != nil {
		out = append(out, fmt.Sprintf("At most %d entries.", *most))
	}
	if s.MaxLength != nil {
		out = append(out, fmt.Sprintf("At most %d characters.", *s.MaxLength))
	}

	return out
}
