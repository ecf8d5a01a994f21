package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
	for version, m := range mdbooks(t) {
		for _, name := range themeFiles(t) {
			t.Run(version+"/"+strings.ReplaceAll(name, "/", "_"), func(t *testing.T) {
				t.Parallel()
				theme := map[string]any{name: "/* our own */ {{ }}"}
				if strings.HasSuffix(name, ".hbs") {
					theme[name] = "our own {{ title }}"
				}
				pod := compose(t, onePage(), map[string]any{"apiVersion": "markdownview.fn.crossplane.io/v1beta1", "kind": "Input", "theme": theme})
				folder, err := filepath.Rel(pod.Containers[0].WorkingDir, pod.Containers[0].VolumeMounts[2].MountPath)
				must(t, err)
				files := book.Files{Markdowns: map[string]string{
					"SUMMARY.md": "- [Chapter](a.md)\n", "a.md": "# Chapter\n",
					filepath.Join("..", folder, pod.Volumes[2].DownwardAPI.Items[0].Path): theme[name].(string),
				}}
				output, err := m.build(t, files, `MDBOOK_OUTPUT__HTML__REDIRECT={"/old.html":"a.html"}`)
				must(t, err)
				all := strings.Join(slices.Collect(maps.Values(readAll(t, output))), "")
				if got := strings.Contains(all, "our own"); got == unwritten[version+"/"+name] {
					t.Errorf("output with our own %s: %t", name, got)
				}
			})
		}
	}
}

// themeFiles returns the names that the CRD of the Input allows in a theme.
func themeFiles(t *testing.T) (names []string) {
	t.Helper()
	raw, err := os.ReadFile("../../package/function/input/markdownview.fn.crossplane.io_inputs.yaml")
	must(t, err)
	rule := regexp.MustCompile(`name\s+in\s+(\[[^\]]*\])`).FindSubmatch(raw)
	if rule == nil {
		t.Fatal("cannot find the names of the files of a theme")
	}
	must(t, yaml.Unmarshal([]byte(strings.ReplaceAll(string(rule[1]), "''", "'")), &names))

	return names
}
