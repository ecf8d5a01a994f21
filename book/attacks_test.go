package book

import (
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// An attack is a text of testdata/attacks.yaml.
type attack struct {
	Name string `json:"name"`
	Head []struct {
		Text  string `json:"text"`
		Times int    `json:"times"`
	} `json:"head"`
	Fill string `json:"fill"`
}

// text returns the text at a size in bytes.
func (a attack) text(size int) string {
	var out strings.Builder
	for _, h := range a.Head {
		out.WriteString(strings.Repeat(h.Text, h.Times))
	}
	out.WriteString(strings.Repeat(a.Fill, max(0, size-out.Len())/len(a.Fill)))

	return out.String()[:min(size, out.Len())]
}

func attacks(tb testing.TB) []attack {
	tb.Helper()
	raw, err := os.ReadFile("testdata/attacks.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	var all []attack
	if err := yaml.UnmarshalStrict(raw, &all); err != nil {
		tb.Fatal(err)
	}

	return all
}
