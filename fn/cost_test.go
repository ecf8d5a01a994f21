// The race detector changes what a call allocates and how long it takes.
//go:build !race

package fn_test

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/proto"

	"github.com/crossplane-contrib/function-markdownview/test/cost"
	"github.com/crossplane-contrib/function-markdownview/test/sample"
)

// TestAllocations checks how many bytes a call allocates, once earlier calls have filled pools.
func TestAllocations(t *testing.T) {
	allocated := func(req *fnv1.RunFunctionRequest) int {
		message := marshal(t, req)
		const calls = 20
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range calls {
			respond(t, message)()
		}
		runtime.ReadMemStats(&after)

		return int(after.TotalAlloc-before.TotalAlloc) / calls
	}
	type call struct {
		reason string
		req    *fnv1.RunFunctionRequest
		most   int
	}
	small := servedBook(t, 10<<10)
	cases := []call{
		{"The response shares the text with the request", servedBook(t, 900<<10), allocated(servedBook(t, 40<<10)) + 32<<10},
	}

	changed := func(immutable bool, texts int) *fnv1.RunFunctionRequest {
		req := servedBook(t, 900<<10)
		req.Input = toStruct(t, inputWith(object{"immutableConfigMaps": immutable}))
		setIn(t, req.GetObserved().GetComposite().GetResource(), object{"spec": object{"markdowns": object{"new.md": "new"}}})
		if all := composedIn(run(t, req)); len(all) != texts+2 {
			t.Fatalf("want %d ConfigMaps, a Deployment and a Service, got %v", texts, all)
		}

		return req
	}
	cases = append(cases, call{
		"During a rollout with immutable ConfigMaps, it shares the text that pods still serve, too",
		changed(true, 2), allocated(changed(false, 1)) + 64<<10,
	})

	unread, owned := proto.Clone(small).(*fnv1.RunFunctionRequest), object{}
	for i := range 1000 {
		owned[fmt.Sprintf("f:field-%d", i)] = object{".": object{}}
	}
	padding := object{
		"metadata": object{"managedFields": []any{object{"manager": "someone", "fieldsV1": owned}}}, "other": owned,
	}
	setIn(t, unread.GetObserved().GetComposite().GetResource(), padding)
	for _, r := range unread.GetObserved().GetResources() {
		setIn(t, r.GetResource(), padding)
	}
	cases = append(cases, call{"Fields that the function does not read cost nothing", unread, allocated(small) + 32<<10})

	parts := object{
		"SUMMARY.md": "- [A](a.md)",
		"a.md":       strings.Repeat("*x* [a](b.md)\n\n", 5000), "b.md": "# *B*\n\n" + strings.Repeat("*x* [a](a.md) ", 1000),
	}
	incomplete, chapters := clone(parts), object{}
	incomplete["SUMMARY.md"] = "- [B](b.md)"
	for i := range 50 {
		chapters[fmt.Sprintf("%d.md", i)] = "# *Title*\n\n[a](0.md)\n"
	}
	for reason, spec := range map[string]object{
		"A served book without problems is not parsed again": {"markdowns": parts},
		"Nor is one whose condition is repeated":             {"markdowns": incomplete},
		"Nor is one whose SUMMARY.md is generated":           {"markdowns": chapters, "summary": "Auto"},
		"Nor is one with folders and binaries":               {"markdowns": parts, "binaries": object{"img/a.png": "iVBO"}},
	} {
		req := served(t, spec)
		parsed := proto.Clone(req).(*fnv1.RunFunctionRequest)
		delete(parsed.GetObserved().GetResources()["deployment"].GetResource().GetFields(), "spec")
		cases = append(cases, call{reason, req, min(256<<10, allocated(parsed)*2/3)})
	}

	// A user must not be able to stop the function with a book that an XRD without limits admits.
	const size = 2 << 20
	// named returns values with different names, one for every 32 bytes of size.
	named := func(prefix string, value any) object {
		all := object{}
		for i := range size / 32 {
			all[fmt.Sprintf("%s%08d", prefix, i)] = value
		}

		return all
	}
	for reason, spec := range map[string]object{
		"Every file has an invalid name": {"markdowns": named("a b/", "")},
		"Every file is a number":         {"markdowns": named("n", 1)},
		"Every resource is unknown":      {"resources": object{"limits": named("n", 1)}},
		"Every quantity is invalid":      {"resources": object{"limits": named("b", "")}},
	} {
		req := proto.Clone(small).(*fnv1.RunFunctionRequest)
		setIn(t, req.GetObserved().GetComposite().GetResource(), object{"spec": spec})
		cases = append(cases, call{reason, req, 8 * size})
	}

	for _, tc := range cases {
		if got := allocated(tc.req); got > tc.most { // A later case can then take minutes.
			t.Fatalf("%s: bytes that a call allocates: want at most %d, got %d", tc.reason, tc.most, got)
		}
	}
}

// ordinary returns a chapter as people write it, with links, code, tables and lists. It has a dead
// link, and calls lists it in a SUMMARY.md with code: chapters without a dead link are not scanned,
// and a SUMMARY.md of plain links is not parsed, which makes most books cheaper. That is no reason to
// allow less to others.
func ordinary(name string, size int) string {
	const section = "## Section\n\nSome *prose* with `code`, in lines of\nusual length, and a [link](%[1]s) and " +
		"![an image](https://example.com/a.png).\n\n1. an item\n2. another\n   - nested\n\n" +
		"```yaml\nkind: ConfigMap # [no link](nowhere.md)\n```\n\n| A | B |\n|---|---|\n| c | [d](%[1]s) |\n\n" +
		"> 日本語の文章です。\n\n"
	text := fmt.Sprintf(section, name)

	return "# Chapter\n\n[Gone](gone.md)\n\n" + strings.Repeat(text, size/len(text))
}

// calls returns requests for books with a text, by the part of the book that has it: 1 MB in the
// spec, or eight ConfigMaps of 1 MB. A chapter has at most so many bytes.
func calls(t *testing.T, text func(name string, size int) string, chapter int) map[string][]byte {
	t.Helper()
	const size, title = 1_000_000, "# `Summary`\n\n"
	// chapters returns a text in chapters, and a SUMMARY.md that lists them.
	chapters := func(prefix string, size int) (files object, listed string) {
		files = object{}
		for i := range max(1, size/chapter) {
			name := fmt.Sprintf("%s%d.md", prefix, i)
			files[name] = text(name, min(size, chapter))
			listed += "- [A](" + name + ")\n"
		}

		return files, listed
	}
	book := func(summary string, size int) object {
		files, listed := chapters("", size)
		files["SUMMARY.md"] = cmp.Or(summary, title+listed)

		return object{"markdowns": files}
	}
	parts, sources, shared, list := object{}, []any{}, map[string]object{}, ""
	for i := range 900 {
		name := fmt.Sprintf("%d.md", i)
		parts[name] = text(name, size/1000)
	}
	for i := range 8 {
		name := fmt.Sprint(i)
		files, listed := chapters(name+"-", size)
		shared[name], sources, list = data(files), append(sources, from(name, "")), list+listed
	}
	all := map[string][]byte{}
	for part, spec := range map[string]object{
		"chapter":       book("", size),
		"SUMMARY":       book(text("0.md", 250_000), 700_000),
		"small SUMMARY": book(text("0.md", 32_000), 900_000),
		"Auto":          {"markdowns": parts, "summary": "Auto"},
		"ConfigMaps":    {"markdowns": object{"SUMMARY.md": title + list}, "markdownsFrom": sources},
	} {
		all[part] = marshal(t, sharing(t, spec, nil, shared).Request())
	}

	return all
}

// attacks returns the texts of package book by name, each as a function of its size in bytes.
func attacks(t *testing.T) map[string]func(name string, size int) string {
	t.Helper()
	texts := map[string]func(string, int) string{}
	for _, a := range sample.ReadFile[[]cost.Attack](t, "../book/testdata/attacks.yaml") {
		texts[a.Name] = func(_ string, size int) string {
			return strings.ReplaceAll(a.Text(size), "\x00", " ") // The API server rejects it.
		}
	}

	return texts
}

// respond returns a call.
func respond(t *testing.T, message []byte) func() {
	t.Helper()

	return func() {
		if _, err := function.Respond(message); err != nil {
			t.Fatalf("cannot run the function: %v", err)
		}
	}
}

// TestExpensiveTexts checks that a book whose author wants it to be expensive does not cost others
// much: a call costs at most three times the CPU time, and twice the heap, of one for an ordinary
// book of the same size. Package book has a test of the largest part of such calls.
func TestExpensiveTexts(t *testing.T) {
	const mostTime, mostMemory = 3, 2
	// An ordinary book with a large SUMMARY.md has many chapters.
	messages, usual := calls(t, ordinary, 10_240), map[string]cost.Cost{}
	messages["SUMMARY"] = calls(t, ordinary, 1_111)["chapter"]
	messages["small SUMMARY"] = messages["SUMMARY"]
	for part, message := range messages {
		var c cost.Cost
		for range 15 {
			c.Add(respond(t, message))
		}
		t.Logf("ordinary, %s: %s, %d KiB", part, c.Time, c.Bytes>>10)
		usual[part] = c
	}
	for name, text := range attacks(t) {
		for part, message := range calls(t, text, 1_000_000) {
			took, beside := cost.Compare(respond(t, messages[part]), respond(t, message), usual[part], mostTime)
			heap, most := len(message)+took.Bytes, mostMemory*(len(messages[part])+usual[part].Bytes)
			if took.Time > mostTime*beside.Time || heap > most {
				t.Errorf("%s in the %s: a call takes %s and %d KiB, and for an ordinary book %s and at most %d KiB",
					name, part, took.Time, heap>>10, beside.Time, most>>10)
			}
		}
	}
}

// TestNeighbors checks that calls for expensive texts delay a small book hardly more than calls for
// ordinary books of the same size do: 8 callers at once, and the 99th percentile of the small book.
func TestNeighbors(t *testing.T) {
	small := marshal(t, sharing(t, object{"markdowns": book("text")}, nil, nil).Request())
	p99 := func(messages ...[]byte) time.Duration {
		var stop atomic.Bool
		var others sync.WaitGroup
		for i := range 8 {
			others.Go(func() {
				for n := i; !stop.Load(); n++ {
					_, _ = function.Respond(messages[n%len(messages)])
				}
			})
		}
		took := make([]time.Duration, 300)
		for i := range took {
			began := time.Now()
			_, _ = function.Respond(small)
			took[i] = time.Since(began)
		}
		stop.Store(true)
		others.Wait()
		slices.Sort(took)

		return took[len(took)*99/100]
	}
	var expensive [][]byte
	for _, name := range []string{
		"brackets", "backticks", "deep list and spaces", "link openers", "tags with open attributes", "definitions",
		"includes", "deep lists",
	} {
		parts := calls(t, attacks(t)[name], 1_000_000)
		expensive = append(expensive, parts["chapter"], parts["SUMMARY"], parts["Auto"])
	}
	large := calls(t, ordinary, 10_240)["chapter"]
	var usual, attacked time.Duration
	for range 3 { // Other processes of the machine may interfere.
		if usual, attacked = p99(large), p99(expensive...); attacked <= 3*usual+50*time.Millisecond {
			return
		}
	}
	t.Errorf("99th percentile of a small book: %s, and only %s beside ordinary books", attacked, usual)
}
