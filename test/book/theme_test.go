package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-markdownview/book"
)

// unwritten has the files that Debian's mdBook does not write, so the pages lack them in any
// case: Debian has removed book.js from 0.4, and the fonts from both.
var unwritten = map[string]bool{"mdbook-trixie/book.js": true, "mdbook-sid/fonts/fonts.css": true}

// TestTheme checks that mdBook reads every file that the Input allows in a theme from
// the folder where pods mount it: each changes the output.
func TestTheme(t *testing.T) {
	t.Parallel()
	files := book.Files{Markdowns: map[string]string{"SUMMARY.md": "- [Chapter](a.md)\n", "a.md": "# Chapter\n"}}
	for version, m := range mdbooks(t) {
		for _, name := range themeFiles(t) {
			t.Run(version+"/"+strings.ReplaceAll(name, "/", "_"), func(t *testing.T) {
				t.Parallel()
				theme := map[string]any{name: "/* our own */ {{ }}"}
				if strings.HasSuffix(name, ".hbs") {
					theme[name] = "our own {{ title }}"
				}
				pod := compose(t, onePage(), map[string]any{"apiVersion": "markdownview.fn.crossplane.io/v1beta1", "kind": "Input", "theme": theme})
				mount := pod.Containers[0].VolumeMounts[2]
				dir := m.write(t, files)
				file := filepath.Join(dir, strings.TrimPrefix(mount.MountPath, pod.Containers[0].WorkingDir), pod.Volumes[2].DownwardAPI.Items[0].Path)
				if err := os.Chmod(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(theme[name].(string)), 0o444); err != nil {
					t.Fatal(err)
				}
				output, err := m.buildIn(t, dir, `MDBOOK_OUTPUT__HTML__REDIRECT={"/old.html":"a.html"}`)
				if err != nil {
					t.Fatal(err)
				}
				if got := contains(t, output, "our own"); got == unwritten[version+"/"+name] {
					t.Errorf("output with our own %s: %t", name, got)
				}
			})
		}
	}
}

// contains returns whether a file in a folder contains a text.
func contains(t *testing.T, dir, text string) (found bool) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		found = found || strings.Contains(string(raw), text)

		return err
	}); err != nil {
		t.Fatal(err)
	}

	return found
}

// themeFiles returns the names that the CRD of the Input allows in a theme.
func themeFiles(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile("../../package/function/input/markdownview.fn.crossplane.io_inputs.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rule := regexp.MustCompile(`name in \[([^\]]*)\]`).FindSubmatch(regexp.MustCompile(`\s+`).ReplaceAll(raw, []byte(" ")))
	var names []string
	if rule == nil {
		t.Fatal("cannot find the names of the files of a theme")
	}
	if err := yaml.Unmarshal([]byte("["+strings.ReplaceAll(string(rule[1]), "''", "'")+"]"), &names); err != nil {
		t.Fatal(err)
	}

	return names
}
