package book

import (
	"testing"

	"github.com/crossplane-contrib/function-markdownview/book/filename"
)

func TestCheckNames(t *testing.T) {
	cases := map[string]struct {
		reason string
		names  []string
		want   string
	}{
		"Invalid": {
			reason: "An invalid name is an error.",
			names:  []string{"a.md", "/b.md"},
			want:   `file name "/b.md" must be relative: remove the leading "/"`,
		},
		"Folder": {
			reason: "A volume cannot have a file and a folder with the same name.",
			names:  []string{"a.md", "x", "x/y/z.txt"},
			want:   `rename file "x" or the folder of "x/y/z.txt": both have this name`,
		},
		"Key": {
			reason: "A file whose name is the key of another file would replace it.",
			names:  []string{"a.md", "guide/intro.txt", filename.Key("guide/intro.txt")},
			want:   `rename file "guide/intro.txt" or "` + filename.Key("guide/intro.txt") + `": both have the key "` + filename.Key("guide/intro.txt") + `" in the ConfigMap`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			files := Files{Markdowns: map[string]string{summaryName: "- [A](a.md)"}}
			for _, name := range tc.names {
				files.Markdowns[name] = ""
			}
			errors, _ := Check(files)
			if got := errors.String(); got != tc.want {
				t.Errorf("%s\nwant %s\ngot  %s", tc.reason, tc.want, got)
			}
		})
	}
	t.Run("Twice", func(t *testing.T) {
		errors, _ := Check(Files{Markdowns: map[string]string{summaryName: "- [A](a.md)", "a.md": ""}, Binaries: []string{"a.md"}})
		if got, want := errors.String(), `remove one of the two files named "a.md"`; got != want {
			t.Errorf("Two files cannot have the same name.\nwant %s\ngot  %s", want, got)
		}
	})
}
