package fn_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/crossplane-contrib/function-markdownview/internal/compose"
	"github.com/crossplane-contrib/function-markdownview/internal/judge"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/response"
	"github.com/crossplane-contrib/function-markdownview/internal/validate"
	"github.com/crossplane-contrib/function-markdownview/test/cluster"
)

// servedBook returns a request for a book that is served. The book has ten files of size
// bytes in total.
func servedBook(t testing.TB, size int) *fnv1.RunFunctionRequest {
	t.Helper()

	files, summary := object{}, strings.Builder{}
	for i := range 9 {
		fmt.Fprintf(&summary, "- [Chapter](chapter-%d.md)\n", i)
		files[fmt.Sprintf("chapter-%d.md", i)] = strings.Repeat("*x* ", size/10/4)
	}
	fmt.Fprintf(&summary, "\n%s\n", strings.Repeat("x", size/10))
	files["SUMMARY.md"] = summary.String()

	return served(t, object{"markdowns": files, "replicas": 2.0})
}

// served returns a request for a MarkdownView whose pods serve the book.
func served(t testing.TB, spec object) *fnv1.RunFunctionRequest {
	t.Helper()

	c := cluster.New(t, viewOf(spec), nil, run)
	c.Settle()

	return c.Request()
}

// allocated returns how many bytes a call allocates.
func allocated(t testing.TB, req *fnv1.RunFunctionRequest) int {
	t.Helper()
	message := marshal(t, req)
	const calls = 20

	before, after := runtime.MemStats{}, runtime.MemStats{}
	runtime.ReadMemStats(&before)
	for range calls {
		if _, err := function.Respond(message); err != nil {
			t.Fatalf("cannot run the function: %v", err)
		}
	}
	runtime.ReadMemStats(&after)

	return int(after.TotalAlloc-before.TotalAlloc) / calls
}

// TestTextIsShared checks that the response shares the text with the request: a call
// for a large book allocates no more than one for a small book with as many files.
func TestTextIsShared(t *testing.T) {
	small, large := allocated(t, servedBook(t, 40<<10)), allocated(t, servedBook(t, 900<<10))
	if most := small + 32<<10; large > most {
		t.Errorf("bytes that a call with 900 KiB of text allocates: want at most %d, as with 40 KiB, got %d", most, large)
	}
}

// TestBookIsParsedOnce checks that a book that is served is not parsed again: a call
// allocates less than a parser would.
func TestBookIsParsedOnce(t *testing.T) {
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
		"A book without problems":              {"markdowns": parts},
		"A book whose condition is repeated":   {"markdowns": incomplete},
		"A book whose SUMMARY.md is generated": {"markdowns": chapters, "summary": "Auto"},
		"A book with folders and binaries":     {"markdowns": parts, "binaries": object{"img/a.png": "iVBORw0KGgo="}},
	} {
		req := served(t, spec)
		once := allocated(t, req)
		if once > 256<<10 {
			t.Errorf("%s: bytes that a call allocates: want at most 256 KiB, got %d", reason, once)
		}
		delete(req.GetObserved().GetResources()["deployment"].GetResource().GetFields(), "spec")
		if parsed := allocated(t, req); 2*parsed < 3*once {
			t.Errorf("%s: bytes that a call for a new book allocates: want at least %d, got %d, so this test shows nothing",
				reason, 3*once/2, parsed)
		}
	}
}

// TestRejectedIsCheap checks that a rejected request costs little memory: a user must
// not be able to stop the function with a book that an XRD without limits admits.
func TestRejectedIsCheap(t *testing.T) {
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
		req := servedBook(t, 10<<10)
		for field, value := range spec {
			specOf(req).Fields[field] = valueOf(t, value)
		}
		if got, most := allocated(t, req), 8*size; got > most {
			t.Errorf("%s: bytes that a call allocates: want at most %d, got %d", reason, most, got)
		}
	}
}

// TestKeptTextIsShared checks that, during a rollout with immutable ConfigMaps, the
// response also shares the text that pods still serve, which differs from the text of
// the spec.
func TestKeptTextIsShared(t *testing.T) {
	changed := func(immutable bool, texts int) int {
		req := servedBook(t, 900<<10)
		req.Input = toStruct(t, inputWith(object{"immutableConfigMaps": immutable}))
		specOf(req).GetFields()["markdowns"].GetStructValue().Fields["new.md"] = structpb.NewStringValue("new")
		if all := composedIn(run(t, req)); len(all) != texts+2 {
			t.Fatalf("want %d ConfigMaps, a Deployment and a Service, got %v", texts, all)
		}

		return allocated(t, req)
	}
	without, with := changed(false, 1), changed(true, 2)
	if most := without + 64<<10; with > most {
		t.Errorf("bytes that a call with 900 KiB of text and a kept text of the same size allocates: "+
			"want at most %d, about as many as without a kept text, got %d", most, with)
	}
}

// TestUnreadIsIgnored checks that fields that the function does not read cost no
// memory, whatever their size.
func TestUnreadIsIgnored(t *testing.T) {
	req, owned := servedBook(t, 10<<10), object{}
	without := allocated(t, req)
	for i := range 1000 {
		owned[fmt.Sprintf("f:field-%d", i)] = object{".": object{}}
	}
	pad := func(r *fnv1.Resource) {
		fields := r.GetResource().GetFields()
		managed := []any{object{"manager": "someone", "fieldsV1": owned}}
		fields["metadata"].GetStructValue().Fields["managedFields"] = valueOf(t, managed)
		fields["other"] = valueOf(t, owned)
	}
	pad(req.GetObserved().GetComposite())
	for _, r := range req.GetObserved().GetResources() {
		pad(r)
	}
	if most, with := without+32<<10, allocated(t, req); with > most {
		t.Errorf("bytes that a call with long managedFields allocates: want at most %d, as without, got %d", most, with)
	}
}

// BenchmarkRespond measures a call for books of 2, 100 and 900 KiB that are served, and
// BenchmarkStep its steps. make bench BASE=main compares them with those of another commit.
func BenchmarkRespond(b *testing.B) {
	sizes(b, func(b *testing.B, message []byte) {
		b.Helper()
		for b.Loop() {
			if _, err := function.Respond(message); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkStep(b *testing.B) {
	sizes(b, func(b *testing.B, message []byte) {
		b.Helper()
		req, err := request.Read(message)
		d, problems := compose.Compose(req.View, req.Observed)
		if err != nil || len(problems) > 0 {
			b.Fatal(err, problems)
		}
		v := judge.Judge(req.View, req.Observed, d, 0)
		for name, step := range map[string]func(){
			"read":     func() { _, _ = request.Read(message) },
			"validate": func() { validate.Request(req) },
			"compose":  func() { compose.Compose(req.View, req.Observed) },
			"judge":    func() { judge.Judge(req.View, req.Observed, d, 0) },
			"write":    func() { response.Write(req, d, v) },
		} {
			b.Run(name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					step()
				}
			})
		}
	})
}

func sizes(b *testing.B, step func(b *testing.B, message []byte)) {
	b.Helper()
	for _, kib := range []int{2, 100, 900} {
		b.Run(fmt.Sprintf("%dKiB", kib), func(b *testing.B) {
			b.ReportAllocs()
			step(b, marshal(b, servedBook(b, kib<<10)))
		})
	}
}
