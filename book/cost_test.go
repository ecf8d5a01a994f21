package book

import (
	"fmt"
	"strings"
	"testing"
)

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

func BenchmarkCheck(b *testing.B) {
	for _, chapters := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(chapters), func(b *testing.B) {
			files := handbook(chapters, 920_000/chapters)
			if errors, warnings := Check(files); len(errors.First)+len(warnings.First) > 0 {
				b.Fatal(errors, warnings)
			}
			size := 0
			for _, text := range files.Markdowns {
				size += len(text)
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				Check(files)
			}
		})
	}
}

func BenchmarkScan(b *testing.B) {
	text := handbook(1, 1<<20).Markdowns["part0/chapter0.md"]
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		for range scan(text) {
			continue
		}
	}
}
