package folder

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func quiet(string, ...any) {}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write writes files to a folder. A text that begins with "-> " is a link.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	tree := fstest.MapFS{}
	for name, text := range files {
		target, link := strings.CutPrefix(text, "-> ")
		tree[name] = &fstest.MapFile{Data: []byte(target)}
		if link {
			tree[name].Mode = fs.ModeSymlink
		}
	}
	must(t, os.CopyFS(dir, tree))
}

func namesOf(f *Folder) (names []string) {
	for _, file := range f.Files {
		names = append(names, file.Name)
	}

	return names
}

func TestList(t *testing.T) {
	const leaves = "with a copy of the file, or list it in .markdownignore: " +
		"it is a link that leaves the folder or leads nowhere"
	cases := map[string]struct {
		reason string
		files  map[string]string
		want   []string
		err    string
	}{
		"Sorted":         {reason: "Files are sorted by name, and .git is not a part of the book.", files: map[string]string{"b.md": "", "a/c.md": "", ".git/config": "", ".nojekyll": ""}, want: []string{".nojekyll", "a/c.md", "b.md"}},
		"MarkdownIgnore": {reason: ".markdownignore takes precedence over .gitignore.", files: map[string]string{".gitignore": "*.md\n", ".markdownignore": "!a.md\ndrafts/\n", "a.md": "", "b.md": "", "drafts/c.png": ""}, want: []string{"a.md"}},
		"Link":           {reason: "A link within the folder is a file.", files: map[string]string{"a.md": "text", "guide/b.md": "-> ../a.md"}, want: []string{"a.md", "guide/b.md"}},
		"LinkOutside":    {reason: "A link that leaves the folder could publish any file.", files: map[string]string{"a.md": "-> ../secret"}, err: "replace DIR/a.md " + leaves},
		"LinkToFolder":   {reason: "A link to a folder could be a circle.", files: map[string]string{"a/b.md": "", "c": "-> a", "d": "-> .."}, err: "replace DIR/c with the files, or list it in .markdownignore: it is a link to a folder\nreplace DIR/d " + leaves},
		"IgnoreFolder":   {reason: "An ignore file that cannot be read could hide a secret.", files: map[string]string{".gitignore/a.md": ""}, err: "cannot read DIR/.gitignore: is a directory"},
		"LinkIgnored":    {reason: "A link that is ignored does not matter.", files: map[string]string{".markdownignore": "/a.md\n", "b.md": "", "a.md": "-> /etc/hostname"}, want: []string{"b.md"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			above := t.TempDir()
			dir := filepath.Join(above, "docs")
			write(t, above, map[string]string{"secret": "x"})
			write(t, dir, tc.files)
			var got []string
			problem := ""
			if f, err := List(dir, quiet); err != nil {
				problem = strings.ReplaceAll(err.Error(), dir, "DIR")
			} else {
				got = namesOf(f)
			}
			if diff := cmp.Diff([]any{tc.want, tc.err}, []any{got, problem}); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.reason, diff)
			}
		})
	}
}
