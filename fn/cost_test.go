// The race detector changes what a call allocates and how long it takes.
//go:build !race

package fn_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// A book whose author wants it to be expensive must not cost others much: a call costs at
// most as many times an ordinary one of the same size.
const (
	mostTime   = 3
	mostMemory = 2
)

// expensive returns the texts of ../book/testdata/attacks.yaml by name, each as a function
// of its size in bytes.
func expensive(t *testing.T) map[string]func(size int) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "book", "testdata", "attacks.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Name string `json:"name"`
		Head []struct {
			Text  string `json:"text"`
			Times int    `json:"times"`
		} `json:"head"`
		Fill string `json:"fill"`
	}
	if err := yaml.UnmarshalStrict(raw, &all); err != nil {
		t.Fatal(err)
	}
	texts := map[string]func(int) string{}
	for _, a := range all {
		texts[a.Name] = func(size int) string {
			var out strings.Builder
			for _, h := range a.Head {
				out.WriteString(strings.Repeat(h.Text, h.Times))
			}
			out.WriteString(strings.Repeat(a.Fill, max(0, size-out.Len())/len(a.Fill)))

			return strings.ReplaceAll(out.String()[:min(size, out.Len())], "\x00", " ") // The API server rejects it.
		}
	}

	return texts
}

// ordinary returns the files of a book as people write it: chapters of a size in bytes with
// links, code, tables and lists. The names begin with a prefix. Each chapter has a dead link,
// and SUMMARY.md has code: chapters without a dead link are not scanned, and a SUMMARY.md of
// plain links is not parsed, which makes most books cheaper. That is no reason to allow less
// to others.
func ordinary(prefix string, size, chapter int) object {
	const section = "## Section\n\nSome *prose* with `code`, in lines of\nusual length, and a [link](%[1]s) and " +
		"![an image](https://example.com/a.png).\n\n1. an item\n2. another\n   - nested\n\n" +
		"```yaml\nkind: ConfigMap # [no link](nowhere.md)\n```\n\n| A | B |\n|---|---|\n| c | [d](%[1]s) |\n\n" +
		"> 日本語の文章です。\n\n"
	files := object{}
	var summary strings.Builder
	summary.WriteString("# `Summary`\n\n")
	for i := range size / chapter {
		name := fmt.Sprintf("%schapter-%d.md", prefix, i)
		text := fmt.Sprintf(section, name)
		text = strings.Repeat(text, (chapter-chapter/40)/len(text))
		files[name] = fmt.Sprintf("# Chapter %d\n\n[Gone](gone.md)\n\n%s", i, text)
		fmt.Fprintf(&summary, "- [Chapter](%s)\n", name)
	}
	files["SUMMARY.md"] = summary.String()

	return files
}

// calls returns the requests that have a text, each with its size in bytes: 1 MiB in the
// spec, and eight ConfigMaps of 1 MiB. Without a text, the books are ordinary.
func calls(t *testing.T, text func(size int) string) map[string][]byte {
	t.Helper()
	const size = 1_000_000
	configMaps := func(files func(i int) object) map[string]object {
		all := map[string]object{}
		for i := range 8 {
			all[fmt.Sprint(i)] = data(files(i))
		}

		return all
	}
	var sources []any
	for i := range 8 {
		sources = append(sources, from(fmt.Sprint(i), ""))
	}
	request := func(spec object, configMaps map[string]object) []byte {
		return marshal(t, sharing(t, spec, nil, configMaps).Request())
	}
	listing := func(summary string) object {
		return object{"markdowns": object{"SUMMARY.md": summary}, "markdownsFrom": sources}
	}
	if text == nil {
		summary := strings.Builder{}
		shared := configMaps(func(i int) object {
			files := ordinary(fmt.Sprintf("%d-", i), size, 10_240)
			summary.WriteString(files["SUMMARY.md"].(string))
			delete(files, "SUMMARY.md")

			return files
		})

		parts := object{}
		for i := range 90 {
			for name, text := range ordinary(fmt.Sprintf("%d-", i), 10_240, 10_240) {
				parts[strings.Replace(name, "SUMMARY", fmt.Sprintf("%d", i), 1)] = text
			}
		}
		for i := range 800 {
			parts[fmt.Sprintf("%d/short.md", i)] = "# A *short* chapter\n"
		}

		return map[string][]byte{
			"spec": request(object{"markdowns": ordinary("", size, 10_240)}, nil),
			// A large SUMMARY.md is one of many chapters.
			"spec, SUMMARY": request(object{"markdowns": ordinary("", size, size/900)}, nil),
			"spec, Auto":    request(object{"markdowns": parts, "summary": "Auto"}, nil),
			"ConfigMaps":    request(listing(summary.String()), shared),
		}
	}
	var summary strings.Builder
	whole, part := text(size), text(size/1000)
	shared := configMaps(func(i int) object {
		fmt.Fprintf(&summary, "- [A](%d.md)\n", i)
		return object{fmt.Sprintf("%d.md", i): whole}
	})
	parts := object{}
	for i := range 900 {
		parts[fmt.Sprintf("%d.md", i)] = part
	}

	return map[string][]byte{
		"spec":          request(object{"markdowns": object{"SUMMARY.md": "- [A](a.md)\n", "a.md": whole}}, nil),
		"spec, Auto":    request(object{"markdowns": parts, "summary": "Auto"}, nil),
		"spec, SUMMARY": request(object{"markdowns": object{"SUMMARY.md": text(250_000), "a.md": text(700_000)}}, nil),
		"spec, small":   request(object{"markdowns": object{"SUMMARY.md": text(32_000), "a.md": text(900_000)}}, nil),
		"ConfigMaps":    request(listing(summary.String()), shared),
	}
}

// respond calls the function.
func respond(t *testing.T, message []byte) {
	t.Helper()
	if _, err := function.Respond(message); err != nil {
		t.Fatalf("cannot run the function: %v", err)
	}
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}

	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// A cost is the least CPU time of some calls, and the heap that a call needs: its request and
// all that it allocates. No call is so large that the garbage collector of the function
// would run in it (see gcPercent in package server), so that is the peak of the heap.
type cost struct {
	time  time.Duration
	bytes int
}

// run adds a call.
func (c *cost) run(t *testing.T, message []byte) {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := processorTime(t)
	respond(t, message)
	took := processorTime(t) - began
	runtime.ReadMemStats(&after)
	if c.time == 0 || took < c.time {
		c.time = took
	}
	c.bytes = len(message) + int(after.TotalAlloc-before.TotalAlloc)
}

// TestExpensiveTexts checks the cost of a call for each of the texts, in each part of a book.
func TestExpensiveTexts(t *testing.T) {
	ordinary, usual := calls(t, nil), map[string]*cost{}
	for where, message := range ordinary {
		usual[where] = &cost{}
		for range 15 {
			usual[where].run(t, message)
		}
		t.Logf("ordinary, %s: %s, %d KiB", where, usual[where].time, usual[where].bytes>>10)
	}
	for name, text := range expensive(t) {
		for where, message := range calls(t, text) {
			like := where
			if where == "spec, small" {
				like = "spec, SUMMARY"
			}
			var took, beside cost
			took.run(t, message)
			// Other processes of the machine can double the CPU time of a call, so
			// ordinary ones are measured beside it.
			for n := 0; took.time > mostTime*usual[like].time && n < 30; n++ {
				beside.run(t, ordinary[like])
				took.run(t, message)
			}
			if beside.time == 0 {
				beside = *usual[like]
			}
			if took.time > mostTime*beside.time || took.bytes > mostMemory*usual[like].bytes {
				t.Errorf("%s in the %s: a call takes %s and %d KiB, and for an ordinary book %s and %d KiB",
					name, where, took.time, took.bytes>>10, beside.time, usual[like].bytes>>10)
			}
		}
	}
}

// TestNeighbors checks that calls for expensive texts delay a small book hardly more than
// calls for ordinary books of the same size do: 8 callers at once, and the 99th percentile
// of the small book.
func TestNeighbors(t *testing.T) {
	large := calls(t, nil)
	book := marshal(t, sharing(t, object{"markdowns": book("text")}, nil, nil).Request())
	p99 := func(messages [][]byte) time.Duration {
		var stop atomic.Bool
		var others sync.WaitGroup
		for i := range 8 {
			others.Go(func() {
				for n := i; !stop.Load(); n++ {
					respond(t, messages[n%len(messages)])
				}
			})
		}
		took := make([]time.Duration, 300)
		for i := range took {
			began := time.Now()
			respond(t, book)
			took[i] = time.Since(began)
		}
		stop.Store(true)
		others.Wait()
		slices.Sort(took)

		return took[len(took)*99/100]
	}
	var attacks [][]byte
	texts := expensive(t)
	for _, name := range []string{
		"brackets", "backticks", "deep list and spaces", "link openers", "tags with open attributes", "definitions",
		"includes", "deep lists",
	} {
		texts := calls(t, texts[name])
		attacks = append(attacks, texts["spec"], texts["spec, SUMMARY"], texts["spec, Auto"])
	}
	var usual, attacked time.Duration
	for range 3 { // Other processes of the machine may interfere.
		usual, attacked = p99([][]byte{large["spec"]}), p99(attacks)
		if attacked <= mostTime*usual+50*time.Millisecond {
			t.Logf("99th percentile of a small book: %s, and %s beside ordinary books", attacked, usual)
			return
		}
	}
	t.Errorf("99th percentile of a small book: %s, and only %s beside ordinary books", attacked, usual)
}
