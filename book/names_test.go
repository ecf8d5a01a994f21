package book

import "testing"

// TestCheckNames checks names that no book can have. More cases are in testdata/cases.yaml.
func TestCheckNames(t *testing.T) {
	const key = "guide_intro.txt-cfba20caafa5c6c15c58"
	for _, tc := range []struct{ reason, name, other, want string }{
		{"An invalid name", "/b.md", "", `file name "/b.md" must be relative: remove the leading "/"`},
		{"A file and a folder", "x", "x/y/z.txt", `rename file "x" or the folder of "x/y/z.txt": both have this name`},
		{
			"The key of another file", "guide/intro.txt", key,
			`rename file "guide/intro.txt" or "` + key + `": both have the key "` + key + `" in the ConfigMap`,
		},
	} {
		files := Files{Markdowns: map[string]string{summaryName: "- [A](a.md)", "a.md": "", tc.name: ""}}
		if tc.other != "" {
			files.Markdowns[tc.other] = ""
		}
		if errors, _ := Check(files); errors.String() != tc.want {
			t.Errorf("%s\nwant %s\ngot  %s", tc.reason, tc.want, errors)
		}
		files.Shared = map[string]bool{tc.name: true}
		if errors, _ := Check(files); tc.other == key && len(errors.First) > 0 {
			t.Errorf("Files of other ConfigMaps have keys of their own, got %s", errors)
		}
	}
	errors, _ := Check(Files{Markdowns: map[string]string{summaryName: "- [A](a.md)", "a.md": ""}, Binaries: []string{"a.md"}})
	if got, want := errors.String(), `remove one of the two files named "a.md"`; got != want {
		t.Errorf("Two files have one name\nwant %s\ngot  %s", want, got)
	}
}
