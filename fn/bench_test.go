package fn

import (
	"context"
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
)

// servedBook returns a request for a book that is served, of ten files that hold
// that many bytes in all.
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

	files := map[string]any{"SUMMARY.md": strings.Repeat("x", size/10)}
	for i := range 9 {
		files[fmt.Sprintf("chapter-%d.md", i)] = strings.Repeat("x", size/10)
	}
	xr := req.GetObserved().GetComposite().GetResource()
	xr.GetFields()["spec"].GetStructValue().GetFields()["markdowns"] = valueOf(t, files)
	req.GetObserved().GetResources()[keyConfigMap].GetResource().GetFields()["data"] = valueOf(t, files)

	return req
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
	const calls = 20

	before, after := runtime.MemStats{}, runtime.MemStats{}
	runtime.ReadMemStats(&before)
	for range calls {
		if _, err := f.RunFunction(context.Background(), req); err != nil {
			t.Fatalf("cannot run the function: %v", err)
		}
	}
	runtime.ReadMemStats(&after)

	return int(after.TotalAlloc-before.TotalAlloc) / calls
}

// TestTextIsShared checks that text goes from the request to the answer without
// a copy: a large book takes no more memory than a small one of as many files.
func TestTextIsShared(t *testing.T) {
	small, large := allocated(t, servedBook(t, 10<<10)), allocated(t, servedBook(t, 900<<10))
	if most := small + 128<<10; large > most { // Pools of libraries vary, most with the race detector.
		t.Errorf("bytes that a call with 900 KiB of text allocates: want at most %d, as many as with 10 KiB and a few more, got %d", most, large)
	}
}

// TestUnreadIsIgnored checks that what the function does not read costs it
// nothing, however much there is.
func TestUnreadIsIgnored(t *testing.T) {
	plain, laden := servedBook(t, 10<<10), servedBook(t, 10<<10)
	owned := map[string]any{}
	for i := range 1000 {
		owned[fmt.Sprintf("f:field-%d", i)] = map[string]any{".": map[string]any{}}
	}
	load := func(r *fnv1.Resource) {
		fields := r.GetResource().GetFields()["metadata"].GetStructValue().GetFields()
		fields["managedFields"] = valueOf(t, []any{map[string]any{"manager": "someone", "fieldsV1": owned}})
		r.GetResource().GetFields()["other"] = valueOf(t, owned)
	}
	load(laden.GetObserved().GetComposite())
	for _, r := range laden.GetObserved().GetResources() {
		load(r)
	}

	without, with := allocated(t, plain), allocated(t, laden)
	if most := without + 32<<10; with > most { // See TestTextIsShared.
		t.Errorf("bytes that a call with long managedFields allocates: want at most %d, as many as without, got %d", most, with)
	}
}

// The steps of a call, each with a book of 2, 100 and 900 KiB that is served.
// make microbench compares them with those of another commit.

func sizes(b *testing.B, step func(b *testing.B, req *fnv1.RunFunctionRequest)) {
	b.Helper()
	for _, kib := range []int{2, 100, 900} {
		b.Run(fmt.Sprintf("%dKiB", kib), func(b *testing.B) {
			b.ReportAllocs()
			step(b, servedBook(b, kib<<10))
		})
	}
}

func BenchmarkRunFunction(b *testing.B) {
	f := New(logging.NewNopLogger(), 0)
	sizes(b, func(b *testing.B, req *fnv1.RunFunctionRequest) {
		b.Helper()
		for b.Loop() {
			if _, err := f.RunFunction(context.Background(), req); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	sizes(b, func(b *testing.B, req *fnv1.RunFunctionRequest) {
		b.Helper()
		for b.Loop() {
			read(req)
			observe(req)
		}
	})
}

func BenchmarkValidate(b *testing.B) {
	sizes(b, func(b *testing.B, req *fnv1.RunFunctionRequest) {
		b.Helper()
		v, _ := read(req)
		for b.Loop() {
			v.validate()
		}
	})
}

func BenchmarkCompose(b *testing.B) {
	sizes(b, func(b *testing.B, req *fnv1.RunFunctionRequest) {
		b.Helper()
		v, _ := read(req)
		for b.Loop() {
			compose(v)
		}
	})
}

func BenchmarkStatus(b *testing.B) {
	sizes(b, func(b *testing.B, req *fnv1.RunFunctionRequest) {
		b.Helper()
		v, _ := read(req)
		want, _ := compose(v)
		seen := observe(req)
		for b.Loop() {
			ready := readiness{configMap: seen.configMap.ready(want, seen.deployment), deployment: seen.deployment.ready(want), service: seen.service.ready(want)}
			statusOf(v, want, seen, ready)
			available(v, seen.deployment, &want)
			degraded(v, want, seen)
		}
	})
}

func BenchmarkRespond(b *testing.B) {
	sizes(b, func(b *testing.B, req *fnv1.RunFunctionRequest) {
		b.Helper()
		v, _ := read(req)
		want, _ := compose(v)
		seen := observe(req)
		for b.Loop() {
			respond(req, v, want, seen, 0)
		}
	})
}
