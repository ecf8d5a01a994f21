package admission_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// TestReadmeIsShort holds the README at a length that is read to its end. Everything else
// has a page in docs.
func TestReadmeIsShort(t *testing.T) {
	if n := strings.Count(readPage(t, "../../README.md"), "\n"); n > 200 {
		t.Errorf("README.md has %d lines, and at most 200 are read: move something to a page in docs", n)
	}
}

// TestLinks checks that every relative link of every page leads to a file and, in a page,
// to a heading that exist.
func TestLinks(t *testing.T) {
	links := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, page := range pages(t) {
		for _, link := range links.FindAllStringSubmatch(withoutCode(readPage(t, page)), -1) {
			file, anchor, _ := strings.Cut(link[1], "#")
			if strings.Contains(file, "://") {
				continue
			}
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: link to %s: %s", page, link[1], err)
			} else if anchor != "" && !anchors(readPage(t, target))[anchor] {
				t.Errorf("%s: link to %s: no heading has this anchor", page, link[1])
			}
		}
	}
}

// TestPages checks that the README links to each page in docs, and that the scripts run the
// commands of each page. The exceptions need a published release or Docker, or are make targets,
// which are jobs in CI.
func TestPages(t *testing.T) {
	readme, scripts := readPage(t, "../../README.md"), readPage(t, "../readme.sh")+readPage(t, "../migration.sh")
	except := []string{"CONTRIBUTING.md", "SECURITY.md", "docs/look.md", "example/production/README.md", "test/e2e/README.md"}
	for _, page := range pages(t) {
		name := strings.TrimPrefix(page, "../../")
		if strings.HasPrefix(name, "docs/") && !strings.Contains(readme, "("+name) {
			t.Errorf("README.md has no link to %s", name)
		}
		if strings.Contains(readPage(t, page), "```shell\n") && !slices.Contains(except, name) && !strings.Contains(scripts, name) {
			t.Errorf("test/readme.sh does not run %s", name)
		}
	}
}

// TestInvalidExample checks that docs/status.md shows what the API server prints for
// example/invalid.
func TestInvalidExample(t *testing.T) {
	var xr map[string]any
	must(t, yaml.Unmarshal([]byte(readPage(t, "../../example/invalid/xr.yaml")), &xr))
	_, want := serveFile(t, definition).create(t, xr)
	var got []string
	lines := regexp.MustCompile(`(?m)^\* (spec\..*)$`)
	for _, line := range lines.FindAllStringSubmatch(readPage(t, "../../docs/status.md"), -1) {
		got = append(got, line[1])
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/status.md: -want, +got:\n%s", diff)
	}
}

// pages returns the Markdown files of the repository, without those of tests.
func pages(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("git", "-C", "../..", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "*.md").Output()
	must(t, err)
	var all []string
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		if !strings.Contains(name, "testdata/") && !strings.HasPrefix(name, "test/bench/") {
			all = append(all, "../../"+name)
		}
	}
	if len(all) < 15 {
		t.Fatalf("found only %d pages: %v", len(all), all)
	}

	return all
}

func readPage(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	must(t, err)

	return string(b)
}

// withoutCode returns a page without code blocks, in which brackets are not links, and a
// line that begins with # is not a heading.
func withoutCode(page string) string {
	return regexp.MustCompile("(?ms)^ *```.*?^ *```$").ReplaceAllString(page, "")
}

// anchors returns the anchors that GitHub gives to the headings of a page.
func anchors(page string) map[string]bool {
	all := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(withoutCode(page), -1) {
		name := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		all[strings.ReplaceAll(name, " ", "-")] = true
	}

	return all
}
