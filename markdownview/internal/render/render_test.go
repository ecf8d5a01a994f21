package render

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCall checks which documents of one file are read.
func TestCall(t *testing.T) {
	const (
		xr          = "kind: MarkdownView\nmetadata: {name: w}\nspec: {markdowns: {SUMMARY.md: '[A](a.md)', a.md: Hello}}\n"
		composition = "kind: Composition\nspec: {pipeline: [{step: book, functionRef: {name: function-markdownview}, input: {apiVersion: markdownview.fn.crossplane.io/v1beta1, kind: Input, viewerImage: A}}]}\n"
		input       = "apiVersion: markdownview.fn.crossplane.io/v1beta1\nkind: Input\nviewerImage: A\n"
		invalid     = `cannot compose MarkdownView "w": input.viewerImage: Invalid value: "A": write an image reference such as docker.io/peaceiris/mdbook:v0.5.0`
	)
	cases := map[string]struct {
		reason, text       string
		composition, input bool
		want               string
	}{
		"Composition": {reason: "The MarkdownView and the Composition are in one file.", text: composition + "---\n" + xr, composition: true, want: invalid},
		"Input":       {reason: "The MarkdownView and the Input are in one file.", text: xr + "---\n" + input, input: true, want: invalid},
		"NoView":      {reason: "The file has no MarkdownView.", text: composition, composition: true, want: "add a MarkdownView to FILE, or name another file"},
		"NoStep":      {reason: "The file has no Composition.", text: xr, composition: true, want: "add a Composition with function-markdownview in its pipeline to FILE, or name another file"},
		"NoInput":     {reason: "The file has no Input.", text: xr, input: true, want: "add an Input of function-markdownview to FILE, or name another file"},
		"WrongInput":  {reason: "The Input is not an object.", text: xr + "---\nkind: Composition\nspec: {pipeline: [{step: book, functionRef: {name: function-markdownview}, input: text}]}\n", composition: true, want: "cannot read FILE: spec.pipeline.input cannot be a string"},
		"BadMap": {
			reason: "A ConfigMap cannot be read because of an error in the file.",
			text:   "kind: MarkdownView\nmetadata: {name: w}\nspec: {markdowns: {SUMMARY.md: '[A](a.md)'}, markdownsFrom: [{configMap: {name: more}}]}\n---\na: b: c\n",
			want:   "cannot read the ConfigMaps of FILE: error converting YAML to JSON",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			file, policy := filepath.Join(t.TempDir(), "all.yaml"), Policy{}
			if tc.composition {
				policy.Composition = file
			}
			if tc.input {
				policy.Input = file
			}
			if err := os.WriteFile(file, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, s := "", Load(file, policy)
			if c, err := s.Call(t.Context(), 0, s.XR); err != nil {
				got = strings.ReplaceAll(err.Error(), file, "FILE")
			} else {
				got = c.Response.GetResults()[0].GetMessage()
			}
			if !strings.HasPrefix(got, tc.want) {
				t.Errorf("%s\nwant %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
