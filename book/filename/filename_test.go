package filename

import (
	"strings"
	"testing"
)

func TestValidate(t *testing.T) {
	repeat := strings.Repeat
	const control = "must not contain control characters"
	for _, tc := range []struct{ reason, name, want string }{
		{"A file next to SUMMARY.md.", "a.md", ""},
		{"A name can have folders.", "guide/intro.md", ""},
		{"A name can be in any language, with spaces.", "第一章/は じめに.md", ""},
		{"Dots are allowed if they are not a whole segment.", "a/..b/c...md", ""},
		{"A segment can begin with a dot.", ".a/.b", ""},
		{"NAME_MAX is 255.", repeat("a", 255), ""},
		{"A name can have 31 folders.", repeat("a/", 31) + "b", ""},
		{"A name can have 1,024 bytes.", repeat(repeat("a", 127)+"/", 7) + repeat("a", 128), ""},
		{"A file must have a name.", "", "must not be empty"},
		{"Kubernetes rejects it.", "/etc/passwd", `must be relative: remove the leading "/"`},
		{"Kubernetes rejects it.", "a/../b.md", `must not contain ".." as the name of a folder or file`},
		{"Kubernetes reserves names such as ..data.", "..data", `must not begin with ".."`},
		{"Two names would be one file.", "a/./b.md", `must not contain "." as the name of a folder or file`},
		{"Two names would be one file.", "a//b.md", `must not contain "//"`},
		{"The name is that of a folder.", "a/", `must be the name of a file: remove the trailing "/"`},
		{"A backslash is no separator on Linux.", `a\b.md`, `must not contain a backslash: write "/" between folders`},
		{"A newline is a control character.", "a\nb.md", control},
		{"U+0080 to U+009F are control characters too.", "a\u0085.md", control},
		{"YAML does not support the character.", "a\ufffe.md", control},
		{"YAML does not support the character.", "a\uffff.md", control},
		{"JSON does not support the bytes.", "a\xff.md", "must be valid UTF-8"},
		{"NAME_MAX is 255.", "a/" + repeat("a", 256), "must not contain a folder or file name longer than 255 bytes"},
		{"PATH_MAX includes the folder of the volume.", repeat(repeat("a", 127)+"/", 7) + repeat("a", 129), "must be at most 1024 bytes long"},
		{"mdBook would nest lists as deep as folders.", repeat("a/", 32) + "b", "must be at most 31 folders deep"},
	} {
		got := ""
		if err := Validate(tc.name); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%q: %s\nwant %q, got %q", tc.name, tc.reason, tc.want, got)
		}
	}
}

// TestKey checks that keys never change: they are part of the API.
func TestKey(t *testing.T) {
	cases := map[string]string{
		"a.md":                   "a.md",
		".hidden":                ".hidden",
		"azAZ09":                 "azAZ09",
		"A_b-c.1":                "A_b-c.1",
		strings.Repeat("a", 253): strings.Repeat("a", 253),
		"guide/intro.md":         "guide_intro.md-f5e30844a0a461111eb1",
		"a b.md":                 "a_b.md-10ad72d813cafad8a8fd",
		"第一章/はじめに.md":            "_.md-457e0690ef8aa1ab6d95",
		"img/logo.svg":           "img_logo.svg-91133bada76342f1fd03",
		"..a":                    "a-f76a4defb3e93d15c9ff",
		strings.Repeat("a", 254): strings.Repeat("a", 232) + "-136496c2a16a22b58bbd",
	}
	for name, want := range cases {
		if got := Key(name); got != want {
			t.Errorf("Key(%q): want %q, got %q", name, want, got)
		}
	}
}

// FuzzKey checks that two files never have the same key.
func FuzzKey(f *testing.F) {
	f.Add("guide/intro.md", "guide_intro.md")
	f.Add("a b", "a/b")
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, name := range []string{a, b} {
			if key := Key(name); Validate(name) == nil && (!IsKey(key)) {
				t.Errorf("Key(%q): want a valid key, got %q", name, key)
			}
		}
		if a != b && Key(a) == Key(b) {
			t.Errorf("%q and %q both have the key %q", a, b, Key(a))
		}
	})
}
