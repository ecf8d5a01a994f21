package main

import (
	"html"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/book"
)

// program builds the program for authors.
func program(t *testing.T) string {
	t.Helper()
	command := filepath.Join(t.TempDir(), "markdownview")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", command, "./markdownview")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("cannot build markdownview: %v\n%s", err, out)
	}

	return command
}

// TestHeadings checks that "markdownview check" knows the ids that mdBook 0.4 and 0.5 give to
// headings: it reports a link exactly if neither has its id.
func TestHeadings(t *testing.T) {
	t.Parallel()
	headings, err := os.ReadFile("testdata/headings.md")
	must(t, err)
	files := map[string]string{"SUMMARY.md": "- [Headings](headings.md)\n- [A](a.md)\n- [B](b.md)\n", "headings.md": string(headings), "a.md": "", "b.md": "", "logo.png": "\xff"}
	ids := map[string]bool{}
	attribute, footnote := regexp.MustCompile(`\sid="([^"]+)"`), regexp.MustCompile(`^(footnote|fr)-`)
	for version, m := range mdbooks(t) {
		output, err := m.build(t, book.Files{Markdowns: files})
		must(t, err)
		page, err := os.ReadFile(filepath.Join(output, "headings.html"))
		must(t, err)
		_, body, _ := strings.Cut(string(page), "<main>")
		body, _, _ = strings.Cut(body, "</main>")
		all := attribute.FindAllStringSubmatch(body, -1)
		if len(all) < 90 {
			t.Errorf("mdBook %s gives %d ids", version, len(all))
		}
		for _, id := range all {
			if !footnote.MatchString(id[1]) {
				ids[html.UnescapeString(id[1])] = true
			}
		}
	}
	// Ids that are nearly right.
	links := maps.Clone(ids)
	for id := range ids {
		for _, wrong := range []string{id + "-1", id + "-", "-" + id, strings.ToUpper(id), strings.ToLower(id), strings.Trim(id, "-"), strings.ReplaceAll(id, "--", "-"), strings.ReplaceAll(id, "-", "")} {
			links[wrong] = ids[wrong]
		}
	}
	delete(links, "")
	dir := t.TempDir()
	var want, got []string
	targets := slices.Sorted(maps.Keys(links))
	for _, id := range targets {
		files["a.md"] += "[" + "link](headings.md#" + url.PathEscape(id) + ")\n"
		if !links[id] {
			want = append(want, id)
		}
	}
	for name, text := range files {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	out, _ := exec.CommandContext(t.Context(), program(t), "check", dir).CombinedOutput()
	for _, m := range regexp.MustCompile(`(?m)^.*/a\.md:(\d+): warning: .*\(DeadAnchor\)$`).FindAllStringSubmatch(string(out), -1) {
		line, _ := strconv.Atoi(m[1])
		got = append(got, targets[line-1])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("links to ids that check reports: -mdBook +check\n%s", diff)
	}
}
