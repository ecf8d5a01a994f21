// The race detector changes what a call allocates and how long it takes.
//go:build !race

package book

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/function-markdownview/test/cost"
	"github.com/crossplane-contrib/function-markdownview/test/sample"
)

// attacked returns books of a size in bytes with an expensive text, by the part of the book
// that has it.
func attacked(a cost.Attack, size int) map[string]func() {
	chapter := Files{Markdowns: map[string]string{summaryName: "- [A](a.md)", "a.md": a.Text(size)}}
	unlisted := Files{Markdowns: map[string]string{summaryName: "- [B](b.md)", "b.md": "", "a.md": a.Text(size)}}
	files := Files{Markdowns: map[string]string{}}
	for i := range 1000 {
		files.Markdowns[fmt.Sprintf("%d.md", i)] = a.Text(size / 1000)
	}
	all := map[string]func(){
		"chapter":  func() { Check(chapter) },
		"unlisted": func() { Check(unlisted) },
		"Auto":     func() { Summary(files) },
	}
	for _, part := range []int{32, 8, 4} {
		summary := Files{Markdowns: map[string]string{summaryName: a.Text(min(size, 1<<20) / part), "a.md": ""}}
		all[fmt.Sprintf("SUMMARY.md of %d KiB", size/part>>10)] = func() { Check(summary) }
	}

	return all
}

// handbook returns a book as people write it: chapters of a size in bytes with links,
// images, code, tables, lists and Japanese. Each chapter has a dead link, and SUMMARY.md has code:
// chapters without a dead link are not scanned, and a SUMMARY.md of plain links is not parsed,
// which makes most books cheaper. That is no reason to allow less to others.
func handbook(chapters, size int) Files {
	files := Files{Markdowns: map[string]string{}, Binaries: []string{"img/logo.svg"}}
	var summary strings.Builder
	summary.WriteString("# `Summary`\n\n")
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
		files.Markdowns[name] = text + "[Gone](gone.md)\n"
	}
	files.Markdowns[summaryName] = summary.String()

	return files
}

// TestAttacks checks that a text costs at most three times the CPU time, and twice the heap,
// of an ordinary book of the same size, 1 MiB. package fn has a test of whole calls.
func TestAttacks(t *testing.T) {
	const size, most, mostMemory = 1 << 20, 3, 2
	book := handbook(1000, size/1000-60)
	ordinary := func() { Check(book) }
	var usual cost.Cost
	for range 15 {
		usual.Add(ordinary)
	}
	t.Logf("an ordinary book takes %s and allocates %d KiB", usual.Time, usual.Bytes>>10)
	all := sample.ReadFile[[]cost.Attack](t, "testdata/attacks.yaml")
	if len(all) < 30 {
		t.Errorf("want at least 30 texts, got %d", len(all))
	}
	for _, a := range all {
		for part, f := range attacked(a, size) {
			took, beside := cost.Compare(ordinary, f, usual, most)
			if took.Time > most*beside.Time {
				t.Errorf("%s in a %s takes %s, and an ordinary book %s", a.Name, part, took.Time, beside.Time)
			}
			if size+took.Bytes > mostMemory*(size+usual.Bytes) { // The text is on the heap, too.
				t.Errorf("%s in a %s allocates %d KiB, and an ordinary book %d KiB", a.Name, part, took.Bytes>>10, usual.Bytes>>10)
			}
		}
	}
}

// FuzzCost looks for expensive texts: it repeats a text until it has 64 KiB. Its limits are
// higher, because what a call needs for a text of any size weighs more for a small one, and
// the fuzzer does not stop for a moment in which the machine is calm.
func FuzzCost(f *testing.F) {
	for _, a := range sample.ReadFile[[]cost.Attack](f, "testdata/attacks.yaml") {
		f.Add(a.Text(20)[:min(20, len(a.Text(20)))], a.Fill)
	}
	book := handbook(64, 1000)
	ordinary := func() { Check(book) }
	f.Fuzz(func(t *testing.T, head, fill string) {
		if fill == "" || len(head) > 1<<16 {
			return
		}
		a := cost.Attack{Fill: fill}
		text := head + a.Text(1<<16-len(head))
		var usual cost.Cost
		for range 3 {
			usual.Add(ordinary)
		}
		for part, f := range attacked(cost.Attack{Fill: text}, len(text)) {
			took, beside := cost.Compare(ordinary, f, usual, 10)
			if took.Time > 10*beside.Time+50*time.Millisecond || took.Bytes > 4*usual.Bytes+8<<20 {
				t.Errorf("%q and repetitions of %q in a %s take %s and %d bytes, and an ordinary book %s and %d bytes", head, fill, part, took.Time, took.Bytes, beside.Time, usual.Bytes)
			}
		}
	})
}
