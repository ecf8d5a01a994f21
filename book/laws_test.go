package book

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestValidatePath(t *testing.T) {
	cases := map[string]struct {
		reason string
		name   string
		want   string
	}{
		"Plain":          {"A file next to SUMMARY.md.", "a.md", ""},
		"Nested":         {"A name can have folders.", "guide/intro.md", ""},
		"Japanese":       {"A name can be in any language.", "第一章/はじめに.md", ""},
		"Space":          {"A name can have spaces.", "a b.md", ""},
		"DotsInside":     {"Dots are allowed if they are not a whole segment.", "a/..b/c...md", ""},
		"Hidden":         {"A segment can begin with a dot.", ".a/.b", ""},
		"LongestSegment": {"NAME_MAX is 255.", strings.Repeat("a", 255), ""},
		"Deepest":        {"A name can have 31 folders.", strings.Repeat("a/", 31) + "b", ""},
		"Empty":          {"A file must have a name.", "", "must not be empty"},
		"Absolute":       {"Kubernetes rejects it.", "/etc/passwd", `must be relative: remove the leading "/"`},
		"Parent":         {"Kubernetes rejects it.", "../a.md", `must not begin with ".."`},
		"ParentInside":   {"Kubernetes rejects it.", "a/../b.md", `must not contain ".." as the name of a folder or file`},
		"TwoDotsFirst":   {"Kubernetes reserves names such as ..data.", "..data", `must not begin with ".."`},
		"Dot":            {"The name is that of the folder itself.", ".", `must not contain "." as the name of a folder or file`},
		"DotInside":      {"Two names would be one file.", "a/./b.md", `must not contain "." as the name of a folder or file`},
		"TwoSlashes":     {"Two names would be one file.", "a//b.md", `must not contain "//"`},
		"TrailingSlash":  {"The name is that of a folder.", "a/", `must be the name of a file: remove the trailing "/"`},
		"Backslash":      {"A backslash is part of the name on Linux, and not a separator.", `a\b.md`, `must not contain a backslash: write "/" between folders`},
		"Newline":        {"A newline is a control character.", "a\nb.md", "must not contain control characters"},
		"Nul":            {"Linux does not support NUL in names.", "a\x00.md", "must not contain control characters"},
		"C1":             {"U+0080 to U+009F are control characters too.", "a\u0085.md", "must not contain control characters"},
		"NoCharacter":    {"YAML does not support the character.", "a\uffff.md", "must not contain control characters"},
		"NotUTF8":        {"JSON does not support the bytes.", "a\xff.md", "must be valid UTF-8"},
		"LongSegment":    {"NAME_MAX is 255.", "a/" + strings.Repeat("a", 256), "must not contain a folder or file name longer than 255 bytes"},
		"Long":           {"PATH_MAX includes the folder of the volume.", strings.Repeat("a/", 600) + "b", "must be at most 1024 bytes long"},
		"Deep":           {"mdBook would nest lists as deep as folders.", strings.Repeat("a/", 32) + "b", "must be at most 31 folders deep"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := ValidatePath(tc.name); err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("%s\nwant %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// TestKey checks that keys never change: they are part of the API.
func TestKey(t *testing.T) {
	cases := map[string]string{
		"a.md":                   "a.md",
		".hidden":                ".hidden",
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
			want:   `file "x" is also the folder of "x/y/z.txt": rename one`,
		},
		"Key": {
			reason: "A file whose name is the key of another file would replace it.",
			names:  []string{"a.md", "guide/intro.txt", Key("guide/intro.txt")},
			want:   `files "guide/intro.txt" and "` + Key("guide/intro.txt") + `" have the same key in the ConfigMap, "` + Key("guide/intro.txt") + `": rename one`,
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
		if got, want := errors.String(), `two files are named "a.md": remove one`; got != want {
			t.Errorf("Two files cannot have the same name.\nwant %s\ngot  %s", want, got)
		}
	})
}

// TestHostile checks that hostile text costs no more than ordinary text: eight times
// the text takes eight times as long. Quadratic work would take 64 times as long.
func TestHostile(t *testing.T) {
	for _, unit := range []string{
		"[", "![", "[a](", "[a](<b", "[a](b \"", "[a](b 'c\n", "[a]", "[a][b] ", "[a]: b\n", "[a]: b\n[a]\n", "[[a](b)", "]:", "](a", "=", "src=", " src='", " href=\"",
		"*a_ ", "a**b", "***a", "a*b_c", strings.Repeat("*a_", 60) + "\n\n",
		"`a``b", "```\n", "<", "<a ", "<a href='x' ", "<!--", "<?", "<img src='a'>\n",
		"> ", "- ", "1. ", "- a\n", "-\n", " - a\n", "+ - * ", "- [a](a.md)\n", "- [a](a.md)\n  1. [b](b.md)\n",
		strings.Repeat("> ", 30) + "a\n", strings.Repeat("- ", 30) + "a\n" + strings.Repeat("  ", 30),
		"&", "a\n", "a\n=\n", "\t", "\r", "\x00", "{{#include ", "{{#include a}}",
	} {
		for part, book := range map[string]func(text string) Files{
			"summary": func(text string) Files {
				return Files{Markdowns: map[string]string{summaryName: text, "a.md": ""}}
			},
			"chapter": func(text string) Files {
				return Files{Markdowns: map[string]string{summaryName: "- [A](a.md)", "a.md": text}}
			},
		} {
			took := func(size int) time.Duration {
				files := book(strings.Repeat(unit, size/len(unit)))
				began := processorTime(t)
				Check(files)

				return processorTime(t) - began
			}
			once, eight := took(1<<14), took(1<<17)
			if eight > 20*once+100*time.Millisecond {
				t.Errorf("a %s of %.40q took %s, and %s for eight times the text", part, unit, once, eight)
			}
		}
	}
}

// TestRejectedCostsNoMore checks that the most expensive SUMMARY.md costs no more than a
// served book with dead links, within measurement error: a rejected book is checked
// again at each retry.
func TestRejectedCostsNoMore(t *testing.T) {
	took := func(files Files) time.Duration {
		least := time.Hour
		for range 2 {
			began := processorTime(t)
			Check(files)
			least = min(least, processorTime(t)-began)
		}

		return least
	}
	served := took(Files{Markdowns: map[string]string{
		summaryName: "- [A](a.md)", "a.md": strings.Repeat("- [a](a.md)\n- [b](b.md)\n", 1<<20/24),
	}})
	for _, unit := range []string{"[", "- a\n", strings.Repeat("- ", 30) + "a\n" + strings.Repeat("  ", 30)} {
		files := Files{Markdowns: map[string]string{summaryName: strings.Repeat(unit, maxSummary/len(unit)), "a.md": ""}}
		if rejected := took(files); rejected > 3*served {
			t.Errorf("a SUMMARY.md of %.20q took %s, and a book that is served %s", unit, rejected, served)
		} else {
			t.Logf("%.20q: %s, served: %s", unit, rejected, served)
		}
	}
}

// TestLargeTextsOneByOne checks that several calls do not hold the documents of large
// texts at the same time: a document takes up to 400 times the size of its text.
func TestLargeTextsOneByOne(t *testing.T) {
	const size, calls = 1 << 17, 4
	text := strings.Repeat("- a\n", size/4) + "[dead](dead.md)\n"
	for part, files := range map[string]Files{
		"chapter": {Markdowns: map[string]string{summaryName: "- [A](a.md)", "a.md": text}},
		"summary": {Markdowns: map[string]string{summaryName: text, "a.md": ""}},
	} {
		if one, all := mostLive(1, files), mostLive(calls, files); all > 2*one {
			t.Errorf("%d checks of a %s of %d KiB use %d MiB, and one uses %d MiB", calls, part, size>>10, all>>20, one>>20)
		} else {
			t.Logf("%s: %d MiB, and one check %d MiB", part, all>>20, one>>20)
		}
	}
}

// mostLive returns the largest heap in bytes, as the garbage collector found it, while
// the files are checked calls times at once.
func mostLive(calls int, files Files) uint64 {
	var wg sync.WaitGroup
	for range calls {
		wg.Go(func() { Check(files) })
	}
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	most := uint64(0)
	for {
		runtime.GC()
		metrics.Read(live)
		most = max(most, live[0].Value.Uint64())
		select {
		case <-done:
			return most
		default:
		}
	}
}

// limit is far longer than a check takes, and far shorter than quadratic work would take.
const limit = 20 * time.Second

// processorTime returns the CPU time of the process, which does not depend on other
// processes.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}

	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// TestLargeSummary checks the size limit of SUMMARY.md, whose lines cost more than
// other text, and that only a small SUMMARY.md is cached.
func TestLargeSummary(t *testing.T) {
	check := func(size int) string {
		item := "- [A](a.md)\n"
		text := item + strings.Repeat("\n", size-len(item))
		errors, _ := Check(Files{Markdowns: map[string]string{summaryName: text, "a.md": ""}})

		return errors.String()
	}
	for size, want := range map[int]string{
		maxKnown: "", maxKnown + 1: "", maxSummary: "",
		maxSummary + 1: "SUMMARY.md: is larger than 256 KiB: list the chapters only, or split the book",
	} {
		if got := check(size); got != want {
			t.Errorf("%d bytes: want %q, got %q", size, want, got)
		}
		if again := check(size); again != want {
			t.Errorf("%d bytes, again: want %q, got %q", size, want, again)
		}
	}
	for i := range 2 * known {
		Check(Files{Markdowns: map[string]string{summaryName: fmt.Sprint(i)}})
	}
	if n := summaries.Len(); n > known {
		t.Errorf("want at most 32 cached texts, got %d", n)
	}
}

func TestHostileNames(t *testing.T) {
	many := Files{Markdowns: map[string]string{}}
	var summary strings.Builder
	for i := range 60000 {
		many.Markdowns[fmt.Sprintf("/%d/%s", i, strings.Repeat("x", 10))] = ""
		fmt.Fprintf(&summary, "- [a](%d/xxxxxxxxxy)\n", i)
	}
	many.Markdowns[summaryName] = summary.String()
	slashes := Files{Markdowns: map[string]string{summaryName: "- [A](" + strings.Repeat("/", 1<<19) + ")", strings.Repeat("a/", 1<<19): ""}}
	for name, files := range map[string]Files{"many": many, "slashes": slashes} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := processorTime(t)
		errors, _ := Check(files)
		took := processorTime(t) - began
		runtime.ReadMemStats(&after)
		if len(errors.First) > maxProblems {
			t.Errorf("%s: want at most 20 errors, got %d", name, len(errors.First))
		}
		if got := len(errors.String()); got > 20000 {
			t.Errorf("%s: the errors are %d bytes long", name, got)
		}
		if took > limit {
			t.Errorf("%s: took %s", name, took)
		}
		t.Logf("%s: %s, %d MiB allocated", name, took, (after.TotalAlloc-before.TotalAlloc)>>20)
	}
}

// large returns a book of 1 MiB and 1,000 files.
func large() Files {
	files := Files{Markdowns: map[string]string{}, Binaries: []string{"img/logo.svg"}}
	var summary strings.Builder
	summary.WriteString("# Summary\n\n")
	for i := range 1000 {
		name := fmt.Sprintf("part%d/chapter%d.md", i/50, i)
		fmt.Fprintf(&summary, "- [Chapter %d](%s)\n", i, name)
		text := fmt.Sprintf("# Chapter %d\n\nSee the [next](chapter%d.md) and ![the logo](../img/logo.svg).\n\n", i, i/50*50+(i+1)%50)
		for len(text) < 1000 {
			text += "Some *prose* with `code`, as people write it, in lines of\nusual length, and a [link](https://example.com/).\n\n- an item\n- another\n\n"
		}
		files.Markdowns[name] = text
	}
	files.Markdowns[summaryName] = summary.String()

	return files
}

func BenchmarkCheck(b *testing.B) {
	files := large()
	if errors, warnings := Check(files); len(errors.First)+len(warnings.First) > 0 {
		b.Fatal(errors, warnings)
	}
	b.ReportAllocs()
	for b.Loop() {
		Check(files)
	}
}

func BenchmarkSummary(b *testing.B) {
	files := large()
	b.ReportAllocs()
	for b.Loop() {
		Summary(files)
	}
}
