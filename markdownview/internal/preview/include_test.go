package preview

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCheckIncludes(t *testing.T) {
	cases := map[string]struct {
		reason string
		files  map[string]string
		want   string
	}{
		"Inside":   {reason: "Includes of files of the book, wherever they are.", files: map[string]string{"guide/a.md": "{{#include ../b.md:1:2}} {{ #playground b.rs}}\n{{#rustdoc_include x/../../b.rs:main}}"}},
		"Absolute": {reason: "A path of this machine.", files: map[string]string{"a.md": "\n{{#include /proc/self/environ}}"}, want: `a.md line 2: remove the include of "/proc/self/environ", which is outside of the book`},
		"Above":    {reason: "A path above the book.", files: map[string]string{"guide/a.md": "{{ #playground\u00a0../x/../../id_rsa:3 editable}}"}, want: `guide/a.md line 1: remove the include of "../x/../../id_rsa", which is outside of the book`},
		"Folder":   {reason: "The folder above the book.", files: map[string]string{"a.md": "{{#playpen ..}}"}, want: `a.md line 1: remove the include of "..", which is outside of the book`},
		"Windows":  {reason: "Backslashes separate folders on other machines.", files: map[string]string{"a.md": `{{#include ..\x}}`}, want: `a.md line 1: remove the include of "..\\x", which is outside of the book`},
		"Other":    {reason: "mdBook reads includes in every file that is included.", files: map[string]string{"a.md": "{{#include b.txt}}", "b.txt": "{{#include /x}}{{#include /y}}", "c.md": "{{#rustdoc_include /z}}"}, want: "b.txt line 1: remove the include of \"/x\", which is outside of the book\nb.txt line 1: remove the include of \"/y\", which is outside of the book\nc.md line 1: remove the include of \"/z\", which is outside of the book"},
		"Lines":    {reason: "An include can be on several lines.", files: map[string]string{"a.md": "{{#include\n/x}}"}, want: `a.md line 1: write the include and its file on one line`},
		"Opened":   {reason: "An include can be opened in an earlier line.", files: map[string]string{"a.md": "{{\n#include /x}}"}, want: `a.md line 2: remove the include of "/x", which is outside of the book`},
		"Escaped":  {reason: "mdBook shows an escaped include.", files: map[string]string{"a.md": `\{{#include /x}}`}},
		"Unclosed": {reason: "An include whose end is in another line is not escaped.", files: map[string]string{"a.md": "\\{{#include /x\n}}"}, want: `a.md line 1: remove the include of "/x", which is outside of the book`},
		"Spaced":   {reason: "With a space, an include is not escaped.", files: map[string]string{"a.md": `\{{ #include /x}}`}, want: `a.md line 1: remove the include of "/x", which is outside of the book`},
		"Code":     {reason: "Includes of other languages.", files: map[string]string{"a.md": "#include <../x.h>\n#include \"/y.h\"\nint a[] = {{1}};"}},
		"Title":    {reason: "Other links name no file.", files: map[string]string{"a.md": "{{#title /x}}"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			files := map[string][]byte{}
			for name, text := range tc.files {
				files[name] = []byte(text)
			}
			got := ""
			if err := checkIncludes(files); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.reason, diff)
			}
		})
	}
}
