package book

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestTitle(t *testing.T) {
	cases := map[string]struct {
		reason, text, want string
	}{
		"Heading":     {"The first heading is the title.", "text\n\n## A b ##\n# C", "A b"},
		"Underlined":  {"A heading can be underlined.", "A\nb\n===\n", "A b"},
		"Markup":      {"Markup is removed.", "# *A* **b** `c*d*` [e](f g.md) ![h](i) _j_ ~~k~~ <b>l</b>", "A b c*d* e h j k l"},
		"Text":        {"Characters that are no markup are kept.", "# 2 * 3 snake_case a[0] 1 < 2 `", "2 * 3 snake_case a[0] 1 < 2 `"},
		"Escaped":     {"Escaped characters and references are resolved.", `# \*A\* &amp; &#66;`, "*A* & B"},
		"Attributes":  {"mdBook reads attributes.", "# A {#id .class}", "A"},
		"Empty":       {"An empty heading is none.", "#\n\n# <b>\n\n# A", "A"},
		"InCode":      {"A comment in code is no heading.", "```sh\n# no\n```\n\n    # no\n\n<!--\n# no\n-->\n# A", "A"},
		"InItem":      {"The heading of an item is not the title.", "- # no\n\n# A", "A"},
		"FrontMatter": {"Front matter has a title.", "---\ntitle: 'Alpha'\n---\n# A", "Alpha"},
		"NoTitle":     {"Front matter can lack a title.", "---\nid: a\n---\n# A", "A"},
		"Mark":        {"A byte order mark is no text.", "\ufeff# A", "A"},
		"Control":     {"Characters that cannot be shown are removed.", "# A\u200eb\x01", "Ab"},
		"None":        {"A text may have no heading.", "text\n#no\n", ""},
		"Late":        {"Only the first 4 KiB are read.", strings.Repeat("x\n", 2048) + "# A", ""},
		"Long":        {"A title has at most 120 characters.", "# " + strings.Repeat("字", 160), strings.Repeat("字", 120) + "…"},
		"VeryLong":    {"Only the first 512 bytes are read.", "# " + strings.Repeat("<b>", 200) + "x", "<b"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := title(tc.text); got != tc.want {
				t.Errorf("%s\nwant %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// FuzzSummary generates SUMMARY.md for random files: it lists all files that can be
// chapters, and mdBook reads the names unchanged.
func FuzzSummary(f *testing.F) {
	for _, c := range cases(f) {
		f.Add(strings.Join(c.Files, "\n"), c.Texts["a.md"])
	}
	f.Add("a b.md\na(1).md\nx/[y].md\n第一章/はじめに.md\nx/README.md\nx/y/z.md\nREADME.md\nindex.md", "# Ti`t*le* [x](y) <b>&amp;</b> \\_ `code` {#id}")
	f.Fuzz(func(t *testing.T, names, text string) {
		files := Files{Markdowns: map[string]string{}}
		for _, name := range strings.Split(names, "\n") {
			if ValidatePath(name) == nil && name != summaryName {
				files.Markdowns[name] = text
			}
		}
		errors, _ := Check(Files{Markdowns: files.Markdowns, Binaries: []string{summaryName}})
		if strings.Contains(errors.String(), "also the folder") || strings.Contains(errors.String(), "mdBook fails") ||
			strings.Contains(errors.String(), "same key") || strings.Contains(errors.String(), "toc.js") {
			return // These errors do not depend on SUMMARY.md.
		}
		summary := Summary(files)
		if again := Summary(files); again != summary {
			t.Fatalf("two results for the same files:\n%s\n%s", summary, again)
		}
		want := listable(files)
		files.Markdowns[summaryName] = summary
		got := Chapters(files)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("want chapters %q, got %q:\n%s", want, got, summary)
		}
		errors, _ = Check(files)
		if len(want) > 0 && len(errors.First) > 0 {
			t.Fatalf("%s\n%s", errors, summary)
		}
	})
}

func BenchmarkSummary(b *testing.B) {
	files := handbook(1000, 1000)
	b.ReportAllocs()
	for b.Loop() {
		Summary(files)
	}
}

// handbook returns a book as people write it: chapters of a size in bytes with links,
// images, code, tables, lists and Japanese.
func handbook(chapters, size int) Files {
	files := Files{Markdowns: map[string]string{}, Binaries: []string{"img/logo.svg"}}
	var summary strings.Builder
	summary.WriteString("# Summary\n\n")
	for i := range chapters {
		name := fmt.Sprintf("part%d/chapter%d.md", i/50, i)
		fmt.Fprintf(&summary, "- [Chapter %d](%s)\n", i, name)
		next := i/50*50 + (i+1)%min(50, chapters-i/50*50)
		text := fmt.Sprintf("# Chapter %d\n\nSee the [next chapter](chapter%d.md) and ![the logo](../img/logo.svg).\n\n", i, next)
		for len(text) < size {
			text += fmt.Sprintf(`## Section

Some *prose* with `+"`code`, as people write it, in lines of\nusual length, with `more\ncode`"+`, and a [link](https://example.com/) and
[another](chapter%d.md#section), and a [third][next].

1. an item with **bold** text
2. another
   - nested, with a [link](../part0/chapter0.md)

`+"```yaml\napiVersion: v1 # [no link](nowhere.md)\nkind: ConfigMap\n```"+`

| Column | Another |
|--------|---------|
| a      | [b](chapter%d.md) |

> これは日本語の文章です。[次の章](chapter%d.md)を参照してください。

<img src="../img/logo.svg" alt="logo">

[next]: chapter%d.md

`, next, next, next, next)
		}
		files.Markdowns[name] = text
	}
	files.Markdowns[summaryName] = summary.String()

	return files
}
