package fn_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
)

// A golden request was once sent at a moment in the life of a simulated MarkdownView, with the
// resources that a release composed, as the API server stored them. It is not updated when the
// function changes, so a change that would roll out every live Deployment appears as a
// difference in the response. To add one, write the request of a cluster with writeGolden.
//
// The files whose names begin with a number show what the function does. Read them first.
var update = flag.Bool("update", false, "write the golden responses")

// TestGolden compares the responses to the golden requests with the golden responses, and
// checks the laws for them. The requests whose names end with "available", and "autoscaled",
// are those of settled MarkdownViews.
func TestGolden(t *testing.T) {
	t.Parallel()
	for name, req := range goldenRequests(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join("testdata", "responses", name+".json")
			rsp := checkLaws(t, req)
			if strings.HasSuffix(name, "available") || name == "autoscaled" {
				lawSettled(t, req, rsp)
			}
			if *update {
				b, err := protojson.Marshal(rsp)
				writeGolden(t, path, b, err)
			}
			want := &fnv1.RunFunctionResponse{}
			readGolden(t, path, want)
			if diff := cmp.Diff(want, rsp, protocmp.Transform()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", path, diff)
			}
		})
	}
}

// lawSettled checks law 5 across releases: the response for a settled MarkdownView changes
// nothing.
func lawSettled(t *testing.T, req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse) {
	t.Helper()
	if len(rsp.GetResults()) > 0 {
		t.Errorf("law 5: events while nothing changes: %v", rsp.GetResults())
	}
	for _, key := range composedIn(rsp) {
		r := rsp.GetDesired().GetResources()[key]
		if r.GetReady() != fnv1.Ready_READY_TRUE {
			t.Errorf("law 5: %s is not ready", key)
		}
		live := req.GetObserved().GetResources()[key].GetResource().AsMap()
		after := clone(live)
		mergeInto(after, r.GetResource().AsMap())
		if diff := cmp.Diff(live, after); diff != "" {
			t.Errorf("law 5: applying %s again changes it: -live, +after:\n%s", key, diff)
		}
	}
}

// goldenRequests returns the requests of testdata by name.
func goldenRequests(t testing.TB) map[string]*fnv1.RunFunctionRequest {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "requests", "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("cannot find golden requests: %v", err)
	}
	requests := map[string]*fnv1.RunFunctionRequest{}
	for _, path := range paths {
		req := &fnv1.RunFunctionRequest{}
		readGolden(t, path, req)
		requests[strings.TrimSuffix(filepath.Base(path), ".json")] = req
	}

	return requests
}

func readGolden(t testing.TB, path string, into proto.Message) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("cannot read a golden file: %v", err)
	}
	if err := protojson.Unmarshal(b, into); err != nil {
		t.Fatalf("cannot decode %s: %v", path, err)
	}
}

// writeGolden writes a golden file. protojson changes its white space from build to build on
// purpose, so the JSON is indented again.
func writeGolden(t testing.TB, path string, b []byte, err error) {
	t.Helper()
	out := bytes.Buffer{}
	if err := errors.Join(err, json.Indent(&out, b, "", "  ")); err != nil {
		t.Fatalf("cannot encode %s: %v", path, err)
	}
	out.WriteByte('\n')
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatalf("cannot write a golden file: %v", err)
	}
}
