package proof

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/book"
)

func TestRead(t *testing.T) {
	anchor := func(target, id string) string {
		return `remove "#` + id + `", or add a heading or an element with this id to b.md: the link to "` + target + `" leads to the top of the page`
	}
	cases := map[string]struct {
		reason string
		a, b   string
		want   []string
	}{
		"Good":        {reason: "Links to headings, pages and elsewhere.", a: "# A\n[b](b.md) [b](b.md#two-words) [a](#a) [x](https://example.com/#x) [m](mailto:a@example.com) [t](#top) [e](#)", b: "# Two words"},
		"Twice":       {reason: "mdBook numbers headings with the same text.", a: "[b](b.md#b) [b](b.md#b-1) [b](b.md#b-2)", b: "# B\n## b\n", want: []string{anchor("b.md#b-2", "b-2")}},
		"Own":         {reason: "A heading can set its id.", a: "[b](b.md#own) [b](b.md#title)", b: "# Title {#own}", want: []string{anchor("b.md#title", "title")}},
		"HTML":        {reason: "Elements of HTML have ids.", a: "[b](b.md#x) [b](b.md#y) [b](b.md#z)", b: "<div id=\"x\">\n\n<a name=y></a>\n\n</div>\n", want: []string{anchor("b.md#z", "z")}},
		"Markup":      {reason: "Markup of a heading is not in its id, and the text of code is.", a: "[b](b.md#the-x_y-of-bold--links)", b: "# The `x_y` of **bold** & [links](a.md) ![no](logo.png)\n"},
		"Unicode":     {reason: "mdBook 0.4 and 0.5 write letters outside of ASCII in another case.", a: "[b](b.md#Äpfel) [b](b.md#äpfel) [b](b.md#%C3%A4pfel) [b](b.md#第一章)", b: "# Äpfel\n# 第一章！\n"},
		"Code":        {reason: "Code has no links and no headings.", a: "    [b](x.md)\n\n`[b](x.md)`\n\n[b](b.md#c)", b: "```\n# C\n```\n", want: []string{anchor("b.md#c", "c")}},
		"Definitions": {reason: "Links can be defined elsewhere.", a: "[b]\n\n[c][b]\n\n[b]: b.md#c\n", b: "", want: []string{anchor("b.md#c", "c"), anchor("b.md#c", "c")}},
		"Include":     {reason: "Headings of an included file are on the page, and their numbers are not known.", a: "[b](b.md#c) [b](b.md#c-1) [b](b.md#d)", b: "{{#include c.txt}}\n", want: []string{anchor("b.md#d", "d")}},
		"Image":       {reason: "An image that is not in the book.", a: "![x](x.png) <img src=\"logo.png\"> <img src='y.png'>", want: []string{`fix the link to "x.png", which leads nowhere, or add x.png to the book`, `fix the link to "y.png", which leads nowhere, or add y.png to the book`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			files := book.Files{Markdowns: map[string]string{"SUMMARY.md": "- [A](a.md)\n- [B](b.md)\n", "a.md": tc.a, "b.md": tc.b, "c.txt": "# C\n"}, Binaries: []string{"logo.png"}}
			var got []string
			for _, p := range Read(files, func(string, ...any) {}) {
				got = append(got, p.Message)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.reason, diff)
			}
		})
	}
}
