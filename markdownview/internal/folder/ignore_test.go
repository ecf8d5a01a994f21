package folder

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestListAsGit compares the files of random folders, which are in one repository, with those that
// Git does not ignore.
func TestListAsGit(t *testing.T) {
	lines := []string{
		"a", "b", "*.md", "a/", "/a", "a/b", "/a/b/", "**/b", "a/**", "a/**/b", "!a", "!b", "*.t?t", "[ab].md", "[!a].md", "!*.md",
		"# c", `\#x`, `\!a`, "a b", "x ", `x\ `, "*", "!*/", "/*", "b/*.md", "{a,b}", "é", "[a", "**", "/**", "a*", "",
	}
	segments := []string{"a", "b", "x.md", "a.md", "c.txt", "#x", "a b", "x", "x ", "é", "!a", "{a,b}", "[a"}
	top := t.TempDir()
	git := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", top, "-c", "core.excludesFile=", "-c", "core.ignoreCase=false"}, args...)...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}

		return string(out)
	}
	git("init", "--quiet")
	write(t, top, map[string]string{".gitignore": "f-b\n/[0-9]*[02468]/book/**/f-a\n"})
	var books []string
	for seed := range uint64(60) {
		r, files := rand.New(rand.NewPCG(seed, 0)), map[string]string{}
		some := func(prefix string) {
			text := ""
			for range r.IntN(4) + 1 {
				text += lines[r.IntN(len(lines))] + []string{"\n", "\n", "\r\n"}[r.IntN(3)]
			}
			files[prefix+".gitignore"] = text
		}
		some("")
		some("book/")
		if r.IntN(2) == 0 {
			some("book/b/")
		}
		for range 12 {
			var name []string
			for range r.IntN(3) + 1 {
				name = append(name, segments[r.IntN(len(segments))])
			}
			// A trailing folder name keeps files from having the names of folders.
			files["book/"+strings.Join(append(name, "f-"+name[len(name)-1]), "/")] = ""
		}
		write(t, filepath.Join(top, fmt.Sprint(seed)), files)
		books = append(books, fmt.Sprintf("%d/book", seed))
	}
	// Git may ignore a folder itself, which its author has named.
	ignored := strings.Fields(git(append([]string{"check-ignore"}, books...)...))
	kept := strings.Split(git("ls-files", "-z", "--others", "--exclude-standard"), "\x00")
	compared := 0
	for _, book := range books {
		if slices.Contains(ignored, book) {
			continue
		}
		compared++
		var want []string
		for _, file := range kept {
			if name, ok := strings.CutPrefix(file, book+"/"); ok && filepath.Base(name) != ".gitignore" {
				want = append(want, name)
			}
		}
		slices.Sort(want)
		f, err := List(filepath.Join(top, book), quiet)
		must(t, err)
		if diff := cmp.Diff(want, namesOf(f)); diff != "" {
			t.Errorf("folder %s: -Git +ours\n%s", book, diff)
		}
	}
	if compared < 40 {
		t.Errorf("only %d folders are compared", compared)
	}
}
