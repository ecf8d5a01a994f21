package fn_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/crossplane-contrib/function-markdownview/fn"
)

// A brokenLogger panics when the function writes its debug log, and keeps what the
// function then logs.
type brokenLogger struct {
	logging.Logger

	info []any
}

func (l *brokenLogger) Debug(string, ...any) { panic(errors.New("one\ntwo")) }

func (l *brokenLogger) Info(message string, values ...any) {
	l.info = append([]any{message}, values...)
}

func TestPanic(t *testing.T) {
	const message = "Panic: See the log of the function, which panicked"

	req := goldenRequests(t)["pipeline"]
	log := &brokenLogger{Logger: logging.NewNopLogger()}
	rsp, err := fn.New(log, 0).RunFunction(t.Context(), req)
	if err != nil {
		t.Fatalf("A panic is a result, not a gRPC error: %v", err)
	}
	want := []string{
		"Available Unknown " + message, "Degraded True " + message, "BookComplete Unknown " + message,
		"FATAL Panic: cannot run the function: panic: one two",
	}
	if diff := cmp.Diff(want, reported(rsp)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	lawUnchanged(t, req, rsp)
	if !slices.Contains(log.info, any("sample")) || !slices.ContainsFunc(log.info, func(v any) bool {
		s, ok := v.(string)

		return ok && strings.Contains(s, "fn.(*Function).respond")
	}) {
		t.Errorf("want a log with the name of the XR and a stack, got %v", log.info)
	}
}

// TestTooLarge checks that a response that is too large for Crossplane is a fatal result
// without desired state, which keeps Available.
func TestTooLarge(t *testing.T) {
	const limit = 4 << 20
	respondTo := func(size int) fn.Response {
		req := goldenRequests(t)["2-available"]
		req.Desired = toState(t, "other", object{"text": strings.Repeat("x", size)})
		rsp, err := function.Respond(marshal(t, req))
		if err != nil {
			t.Fatal(err)
		}

		return rsp
	}
	most := 3<<20 + limit - respondTo(3<<20).Size()
	if got := respondTo(most); len(got.Results) > 0 || got.Size() != limit {
		t.Errorf("want %d bytes without results, got %d bytes and results %v", limit, got.Size(), got.Results)
	}

	got, rsp := respondTo(most+1), &fnv1.RunFunctionResponse{}
	if diff := cmp.Diff([]fn.Result{{Severity: "fatal", Reason: "ResponseTooLarge"}}, got.Results); diff != "" {
		t.Errorf("results: -want, +got:\n%s", diff)
	}
	if err := proto.Unmarshal(slices.Concat(got.Parts...), rsp); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"Available True Available: The book is served",
		"Degraded True ResponseTooLarge: " +
			"Compose fewer or smaller resources in the pipeline: together they are larger than the 4 MiB that Crossplane accepts from a function",
		"BookComplete True Complete: No problems found in the book",
		"FATAL ResponseTooLarge: " +
			"cannot return desired state: the response has 4194305 bytes, and Crossplane accepts at most 4194304",
	}
	if diff := cmp.Diff(want, reported(rsp)); diff != "" || rsp.GetDesired() != nil || rsp.GetMeta().GetTag() != "tag" {
		t.Errorf("want a tag and no desired state, got %v: -want, +got:\n%s", rsp, diff)
	}
}

// TestRespondErrors checks that bytes that are not a request give a gRPC error.
func TestRespondErrors(t *testing.T) {
	whole := marshal(t, goldenRequests(t)["2-available"])
	for _, message := range [][]byte{whole[:len(whole)-1], []byte("\x0a\x03\x0a\x01\xff"), []byte("text")} {
		if rsp, err := function.Respond(message); err == nil || !strings.HasPrefix(err.Error(), "cannot decode request: ") {
			t.Errorf("%.20q: want an error, got %v and %v", message, err, rsp)
		}
	}
}

// TestTTL checks that the TTL of the flag arrives. Package judge has a test for the others.
func TestTTL(t *testing.T) {
	rsp, err := fn.New(logging.NewNopLogger(), time.Minute).RunFunction(t.Context(), goldenRequests(t)["2-available"])
	if got := rsp.GetMeta().GetTtl().AsDuration(); err != nil || got != time.Minute {
		t.Errorf("want a minute, got %s and %v", got, err)
	}
}
