package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRun checks the exit codes and what pack writes. release/program_test.go runs the
// released program.
func TestRun(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"docs/a.md": "[B](b.md) ![C](img/c.png)\n", "docs/b.md": "B", "docs/img/c.png": "\x89PNG",
		"dead/a.md": "[B](b.md)\n", "wrong/SUMMARY.md": "- [A](a.md)\n", "view.yaml": "spec: {replicas: 2}\n",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]struct {
		reason string
		args   []string
		want   int
		output string
	}{
		"Check":         {reason: "There are no problems.", args: []string{"check", "docs"}},
		"Warning":       {reason: "A warning is a problem.", args: []string{"check", "docs", "dead"}, want: 1},
		"AllowWarnings": {reason: "Only errors count.", args: []string{"check", "dead", "--allow-warnings"}},
		"Error":         {reason: "An error is always a problem.", args: []string{"check", "wrong", "--allow-warnings"}, want: 1},
		"SARIF":         {reason: "The format does not change the exit code.", args: []string{"check", "dead", "--format", "sarif"}, want: 1},
		"NoFolder":      {reason: "The folder does not exist.", args: []string{"check", "other"}, want: 2},
		"NoFlag":        {reason: "The flag does not exist.", args: []string{"check", "docs", "--other"}, want: 2},
		"NoPort":        {reason: "The port cannot be used.", args: []string{"preview", "docs", "--port", "99999"}, want: 2},
		"NoMDBook":      {reason: "mdBook is not installed.", args: []string{"preview", "docs", "--port", "0", "--mdbook", "./mdbook"}, want: 2},
		"NoReference":   {reason: "The reference has no repository.", args: []string{"pack", "docs", "--push", "registry.example.com"}, want: 2},
		"NoOutput":      {reason: "The file cannot be written.", args: []string{"pack", "docs", "--output", "other/out.yaml"}, want: 2},
		"Pack": {
			reason: "Flags, and the fields of a given MarkdownView, are in the packed one. The function generates SUMMARY.md.",
			args:   []string{"pack", "docs", "--view", "view.yaml", "--name", "pr-1", "-n", "team", "--label", "a=b", "--output", "out.yaml"},
			output: `---
apiVersion: markdownview.fn.crossplane.io/v1alpha1
kind: MarkdownView
metadata:
  labels:
    a: b
  name: pr-1
  namespace: team
spec:
  binaries:
    img/c.png: iVBORw==
  markdowns:
    a.md: |
      [B](b.md) ![C](img/c.png)
    b.md: B
  replicas: 2
  summary: Auto
`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_ = os.Remove("out.yaml")
			if got := run(tc.args); got != tc.want {
				t.Errorf("%s\nwant exit code %d, got %d", tc.reason, tc.want, got)
			}
			output, _ := os.ReadFile("out.yaml")
			if diff := cmp.Diff(tc.output, string(output)); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.reason, diff)
			}
		})
	}
}
