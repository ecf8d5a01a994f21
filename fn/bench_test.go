package fn

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/crossplane-contrib/function-markdownview/internal/compose"
	"github.com/crossplane-contrib/function-markdownview/internal/judge"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/response"
	"github.com/crossplane-contrib/function-markdownview/internal/validate"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// servedBook returns a request for a book that is served. The book has ten files of size
// bytes in total.
func servedBook(t testing.TB, size int) *fnv1.RunFunctionRequest {
	t.Helper()

	b, err := os.ReadFile(filepath.Join("testdata", "requests", "available.json"))
	if err != nil {
		t.Fatalf("cannot read the golden request: %v", err)
	}
	req := &fnv1.RunFunctionRequest{}
	if err := protojson.Unmarshal(b, req); err != nil {
		t.Fatalf("cannot decode the golden request: %v", err)
	}

	files := map[string]any{}
	summary := strings.Builder{}
	for i := range 9 {
		fmt.Fprintf(&summary, "- [Chapter](chapter-%d.md)\n", i)
		files[fmt.Sprintf("chapter-%d.md", i)] = strings.Repeat("*x* ", size/10/4)
	}
	fmt.Fprintf(&summary, "\n%s\n", strings.Repeat("x", size/10))
	files["SUMMARY.md"] = summary.String()
	settle(t, req, map[string]any{"markdowns": files, "replicas": 2})

	return req
}

// settle changes a request so that the MarkdownView has a spec, and its pods serve the
// book.
func settle(t testing.TB, req *fnv1.RunFunctionRequest, spec map[string]any) {
	t.Helper()
	xr := req.GetObserved().GetComposite().GetResource()
	xr.GetFields()["spec"] = valueOf(t, spec)
	// The Deployment does not have the revision of a text that the ConfigMap lacks.
	configMap := req.GetObserved().GetResources()[view.KeyConfigMap]
	delete(req.GetObserved().GetResources(), view.KeyConfigMap)
	rsp, err := New(logging.NewNopLogger(), 0).RunFunction(t.Context(), req)
	req.GetObserved().GetResources()[view.KeyConfigMap] = configMap
	if err != nil || len(rsp.GetDesired().GetResources()) == 0 {
		t.Fatalf("cannot compose the spec: %v, %v", err, rsp.GetResults())
	}
	for _, key := range []string{view.KeyConfigMap, view.KeyDeployment} {
		live := req.GetObserved().GetResources()[key].GetResource().GetFields()
		for name, value := range rsp.GetDesired().GetResources()[key].GetResource().GetFields() {
			if name != "metadata" {
				live[name] = value
			}
		}
	}
	annotations := rsp.GetDesired().GetResources()[view.KeyDeployment].GetResource().GetFields()["metadata"].GetStructValue().GetFields()["annotations"]
	if annotations != nil {
		req.GetObserved().GetResources()[view.KeyDeployment].GetResource().GetFields()["metadata"].GetStructValue().Fields["annotations"] = annotations
	}
	var conditions []any
	for _, c := range rsp.GetConditions() {
		status := map[fnv1.Status]string{fnv1.Status_STATUS_CONDITION_TRUE: "True", fnv1.Status_STATUS_CONDITION_FALSE: "False"}[c.GetStatus()]
		conditions = append(conditions, map[string]any{"type": c.GetType(), "status": status, "reason": c.GetReason(), "message": c.GetMessage()})
	}
	xr.GetFields()["status"] = valueOf(t, map[string]any{"conditions": conditions})
}

func valueOf(t testing.TB, v any) *structpb.Value {
	t.Helper()
	out, err := structpb.NewValue(v)
	if err != nil {
		t.Fatalf("cannot convert a value: %v", err)
	}

	return out
}

// allocated returns how many bytes a call allocates.
func allocated(t testing.TB, req *fnv1.RunFunctionRequest) int {
	t.Helper()
	f := New(logging.NewNopLogger(), 0)
	message := viewtest.Encode(t, req)
	const calls = 20

	before, after := runtime.MemStats{}, runtime.MemStats{}
	runtime.ReadMemStats(&before)
	for range calls {
		if _, err := f.Respond(message); err != nil {
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
		t.Errorf("bytes that a call with 900 KiB of text allocates: want at most %d, about as many as with 40 KiB, got %d", most, large)
	}
}

// TestBookIsParsedOnce checks that a book that is served is not parsed again: a call
// allocates less than a parser would.
func TestBookIsParsedOnce(t *testing.T) {
	cases := map[string]struct {
		reason string
		spec   map[string]any
	}{
		"Complete":   {reason: "A book without problems", spec: map[string]any{"markdowns": parts("- [A](a.md)")}},
		"Incomplete": {reason: "A book whose condition is repeated", spec: map[string]any{"markdowns": parts("- [B](b.md)")}},
		"Generated":  {reason: "A book whose SUMMARY.md is generated", spec: map[string]any{"markdowns": chapters(50), "summary": "Auto"}},
		"Nested":     {reason: "A book with folders and binaries", spec: map[string]any{"markdowns": parts("- [A](a.md)"), "binaries": map[string]any{"img/a.png": "iVBORw0KGgo="}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := servedBook(t, 1<<10)
			settle(t, req, tc.spec)
			served := allocated(t, req)

			if served > 256<<10 {
				t.Errorf("\n%s\nbytes that a call allocates: want at most 256 KiB, got %d", tc.reason, served)
			}
			delete(req.GetObserved().GetResources()[view.KeyDeployment].GetResource().GetFields(), "spec")
			if parsed := allocated(t, req); 2*parsed < 3*served {
				t.Errorf("\n%s\nbytes that a call for a new book allocates: want at least %d, got %d, so this test shows nothing", tc.reason, 3*served/2, parsed)
			}
		})
	}
}

// parts returns a book that takes much memory to parse.
func chapters(n int) map[string]any {
	files := map[string]any{}
	for i := range n {
		files[fmt.Sprintf("%d.md", i)] = "# *Title*\n\n[a](0.md)\n"
	}

	return files
}

func parts(summary string) map[string]any {
	files := map[string]any{"a.md": strings.Repeat("*x* [a](b.md)\n\n", 5000), "b.md": "# *B*\n\n" + strings.Repeat("*x* [a](a.md) ", 1000)}
	if summary != "" {
		files["SUMMARY.md"] = summary
	}

	return files
}

// TestRejectedIsCheap checks that a rejected request costs little memory: a user must
// not be able to stop the function with a book that an XRD without limits admits.
func TestRejectedIsCheap(t *testing.T) {
	const size = 2 << 20
	cases := map[string]struct {
		reason string
		change func(spec map[string]any)
	}{
		"FileNames":     {reason: "Every file has an invalid name", change: func(spec map[string]any) { spec["markdowns"] = namedTexts(size, "a b/") }},
		"Types":         {reason: "Every file is a number", change: func(spec map[string]any) { spec["markdowns"] = numbers(size) }},
		"ResourceNames": {reason: "Every resource is unknown", change: func(spec map[string]any) { spec["resources"] = map[string]any{"limits": numbers(size)} }},
		"Quantities":    {reason: "Every quantity is invalid", change: func(spec map[string]any) { spec["resources"] = map[string]any{"limits": namedTexts(size, "b")} }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := servedBook(t, 10<<10)
			spec := req.GetObserved().GetComposite().GetResource().GetFields()["spec"].GetStructValue()
			changed := map[string]any{}
			tc.change(changed)
			for field, value := range changed {
				spec.Fields[field] = valueOf(t, value)
			}

			if got, most := allocated(t, req), 8*size; got > most {
				t.Errorf("\n%s\nbytes that a call allocates: want at most %d, got %d", tc.reason, most, got)
			}
		})
	}
}

// namedTexts returns empty texts with different names, one for every 32 bytes of size.
func namedTexts(size int, prefix string) map[string]any {
	texts := map[string]any{}
	for i := range size / 32 {
		texts[fmt.Sprintf("%s%08d", prefix, i)] = ""
	}

	return texts
}

func numbers(size int) map[string]any {
	all := namedTexts(size, "n")
	for name := range all {
		all[name] = 1
	}

	return all
}

// TestKeptTextIsShared checks that, during a rollout with immutable ConfigMaps, the
// response also shares the text that pods still serve, which differs from the text of
// the spec.
func TestKeptTextIsShared(t *testing.T) {
	changed := func(immutable string) *fnv1.RunFunctionRequest {
		req := servedBook(t, 900<<10)
		req.Input = viewtest.Object(t, `{immutableConfigMaps: `+immutable+`}`)
		spec := req.GetObserved().GetComposite().GetResource().GetFields()["spec"].GetStructValue()
		spec.GetFields()["markdowns"].GetStructValue().GetFields()["new.md"] = structpb.NewStringValue("new")

		return req
	}
	req, err := request.Read(viewtest.Encode(t, changed("true")))
	if err != nil {
		t.Fatal(err)
	}
	d, problems := compose.Compose(req.View, req.Observed)
	if len(problems) > 0 || len(d.Resources) != 4 {
		t.Fatalf("want a kept ConfigMap, got problems %v", viewtest.Messages(problems))
	}
	without, with := allocated(t, changed("false")), allocated(t, changed("true"))
	if most := without + 64<<10; with > most {
		t.Errorf("bytes that a call with 900 KiB of text and a kept text of the same size allocates: want at most %d, about as many as without a kept text, got %d", most, with)
	}
}

// TestUnreadIsIgnored checks that fields that the function does not read cost no
// memory, whatever their size.
func TestUnreadIsIgnored(t *testing.T) {
	plain, padded := servedBook(t, 10<<10), servedBook(t, 10<<10)
	owned := map[string]any{}
	for i := range 1000 {
		owned[fmt.Sprintf("f:field-%d", i)] = map[string]any{".": map[string]any{}}
	}
	pad := func(r *fnv1.Resource) {
		fields := r.GetResource().GetFields()["metadata"].GetStructValue().GetFields()
		fields["managedFields"] = valueOf(t, []any{map[string]any{"manager": "someone", "fieldsV1": owned}})
		r.GetResource().GetFields()["other"] = valueOf(t, owned)
	}
	pad(padded.GetObserved().GetComposite())
	for _, r := range padded.GetObserved().GetResources() {
		pad(r)
	}

	without, with := allocated(t, plain), allocated(t, padded)
	if most := without + 32<<10; with > most {
		t.Errorf("bytes that a call with long managedFields allocates: want at most %d, about as many as without, got %d", most, with)
	}
}

// Benchmarks of a call and of its steps, for books of 2, 100 and 900 KiB that are
// served. make bench BASE=main compares them with those of another commit.

func sizes(b *testing.B, step func(b *testing.B, message []byte)) {
	b.Helper()
	for _, kib := range []int{2, 100, 900} {
		b.Run(fmt.Sprintf("%dKiB", kib), func(b *testing.B) {
			b.ReportAllocs()
			step(b, viewtest.Encode(b, servedBook(b, kib<<10)))
		})
	}
}

// composed returns the results of the steps before judge.
func composed(b *testing.B, message []byte) (request.Request, *compose.Desired) {
	b.Helper()
	req, err := request.Read(message)
	if err != nil {
		b.Fatal(err)
	}
	d, problems := compose.Compose(req.View, req.Observed)
	if len(problems) > 0 {
		b.Fatal(viewtest.Messages(problems))
	}

	return req, d
}

func BenchmarkRespond(b *testing.B) {
	f := New(logging.NewNopLogger(), 0)
	sizes(b, func(b *testing.B, message []byte) {
		b.Helper()
		for b.Loop() {
			if _, err := f.Respond(message); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkStepRead(b *testing.B) {
	sizes(b, func(b *testing.B, message []byte) {
		b.Helper()
		for b.Loop() {
			if _, err := request.Read(message); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkStepValidate(b *testing.B) {
	sizes(b, func(b *testing.B, message []byte) {
		b.Helper()
		req, _ := composed(b, message)
		for b.Loop() {
			validate.Request(req)
		}
	})
}

func BenchmarkStepCompose(b *testing.B) {
	sizes(b, func(b *testing.B, message []byte) {
		b.Helper()
		req, _ := composed(b, message)
		for b.Loop() {
			compose.Compose(req.View, req.Observed)
		}
	})
}

func BenchmarkStepJudge(b *testing.B) {
	sizes(b, func(b *testing.B, message []byte) {
		b.Helper()
		req, d := composed(b, message)
		for b.Loop() {
			judge.Judge(req.View, req.Observed, d, 0)
		}
	})
}

func BenchmarkStepRespond(b *testing.B) {
	sizes(b, func(b *testing.B, message []byte) {
		b.Helper()
		req, d := composed(b, message)
		v := judge.Judge(req.View, req.Observed, d, 0)
		for b.Loop() {
			response.Write(req, d, v)
		}
	})
}
