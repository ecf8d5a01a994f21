package folder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func quiet(string, ...any) {}

// write writes files to a folder.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func namesOf(f *Folder) (names []string) {
	for _, file := range f.Files {
		names = append(names, file.Name)
	}

	return names
}

func TestList(t *testing.T) {
	cases := map[string]struct {
		reason string
		files  map[string]string
		links  map[string]string
		want   []string
		err    string
	}{
		"Sorted":         {reason: "Files are sorted by name, and .git is not a part of the book.", files: map[string]string{"b.md": "", "a/c.md": "", ".git/config": "", ".nojekyll": ""}, want: []string{".nojekyll", "a/c.md", "b.md"}},
		"MarkdownIgnore": {reason: ".markdownignore takes precedence over .gitignore.", files: map[string]string{".gitignore": "*.md\n", ".markdownignore": "!a.md\ndrafts/\n", "a.md": "", "b.md": "", "drafts/c.png": ""}, want: []string{"a.md"}},
		"Link":           {reason: "A link within the folder is a file.", files: map[string]string{"a.md": "text"}, links: map[string]string{"guide/b.md": "../a.md"}, want: []string{"a.md", "guide/b.md"}},
		"LinkOutside":    {reason: "A link that leaves the folder could publish any file.", links: map[string]string{"a.md": "../secret"}, err: "replace DIR/a.md with a copy of the file, or list it in .markdownignore: it is a link that leaves the folder or leads nowhere"},
		"LinkAbsolute":   {reason: "An absolute link leaves the folder.", links: map[string]string{"a.md": "/etc/hostname"}, err: "replace DIR/a.md with a copy of the file, or list it in .markdownignore: it is a link that leaves the folder or leads nowhere"},
		"LinkToFolder":   {reason: "A link to a folder could be a circle.", files: map[string]string{"a/b.md": ""}, links: map[string]string{"c": "a", "d": ".."}, err: "replace DIR/c with the files, or list it in .markdownignore: it is a link to a folder\nreplace DIR/d with a copy of the file, or list it in .markdownignore: it is a link that leaves the folder or leads nowhere"},
		"IgnoreFolder":   {reason: "An ignore file that cannot be read could hide a secret.", files: map[string]string{".gitignore/a.md": ""}, err: "cannot read DIR/.gitignore: is a directory"},
		"LinkIgnored":    {reason: "A link that is ignored does not matter.", files: map[string]string{".markdownignore": "/a.md\n", "b.md": ""}, links: map[string]string{"a.md": "/etc/hostname"}, want: []string{"b.md"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			above := t.TempDir()
			dir := filepath.Join(above, "docs")
			write(t, above, map[string]string{"secret": "x", "docs/.markdownignore": ""})
			write(t, dir, tc.files)
			for name, target := range tc.links {
				_ = os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755)
				if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			f, err := List(dir, quiet)
			got := ""
			if err != nil {
				got = strings.ReplaceAll(err.Error(), dir, "DIR")
			}
			if diff := cmp.Diff(tc.err, got); diff != "" {
				t.Fatalf("%s\nerror: -want +got\n%s", tc.reason, diff)
			}
			if tc.err != "" {
				return
			}
			if diff := cmp.Diff(tc.want, namesOf(f)); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.reason, diff)
			}
		})
	}
}
