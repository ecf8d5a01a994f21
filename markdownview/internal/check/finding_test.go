package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// TestWriteSARIF checks what code hosts read. release/program_test.go validates it with the
// schema of SARIF.
func TestWriteSARIF(t *testing.T) {
	const text = `
$schema: https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json
version: 2.1.0
runs:
- tool:
    driver:
      name: markdownview
      version: v1.2.3
      informationUri: https://github.com/crossplane-contrib/function-markdownview/blob/main/docs/authors.md
      rules:
      - {id: InvalidSpec, shortDescription: {text: "An error of the function, with the reason InvalidSpec"}}
  results:
  - ruleId: InvalidSpec
    level: error
    message: {text: no title}
    locations: [{physicalLocation: {artifactLocation: {uri: docs/a%20b.md}, region: {startLine: 3}}}]
  - ruleId: InvalidSpec
    level: error
    message: {text: no files}
    locations: [{physicalLocation: {artifactLocation: {uri: docs}}}]
`
	var out bytes.Buffer
	findings := []Finding{{"docs/a b.md", 3, LevelError, "InvalidSpec", "no title"}, {"docs", 0, LevelError, "InvalidSpec", "no files"}}
	if err := WriteSARIF(&out, "v1.2.3", findings); err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := errors.Join(json.Unmarshal(out.Bytes(), &got), yaml.Unmarshal([]byte(text), &want)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
