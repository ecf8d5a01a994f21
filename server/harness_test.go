package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/crossplane-contrib/function-markdownview/fn"
)

// patience is how long a test waits for something that takes milliseconds on an idle
// machine.
const patience = 2 * time.Minute

// must returns a value, and panics if there is an error.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}

	return value
}

// echo returns the request as the response: meta has the tag, and the observed state
// becomes the desired state.
func echo(request []byte) (fn.Response, error) {
	half := len(request) / 2
	return fn.Response{Parts: [][]byte{request[:half], request[half:]}}, nil
}

// A testServer is a server, in this process or in a separate one.
type testServer struct {
	address string
	log     *os.File
	ca      *identity   // Nil without mTLS.
	process *os.Process // Nil in this process.
	stop    context.CancelFunc
	done    <-chan error
}

// serve serves the function with mTLS on free ports until the test ends.
func serve(t *testing.T, respond Responder, tm times) *testServer {
	t.Helper()
	dir, ca := t.TempDir(), newCA(t)
	ca.writeServer(t, dir)
	r := serveWith(t, Options{TLSCertsDir: dir, MetricsAddress: "localhost:0"}, respond, tm)
	r.ca = ca

	return r
}

// serveWith is serve with other options.
func serveWith(t *testing.T, o Options, respond Responder, tm times) *testServer {
	t.Helper()
	o.Network, o.Address, o.MaxRecvMessageSize = "tcp", "localhost:0", 1
	if tm.idle == 0 {
		tm.idle = patience
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	done := make(chan error, 1)
	r := &testServer{log: newLog(t), stop: cancel, done: done}
	go func() { done <- run(ctx, respond, NewLogger(r.log, true), o, tm) }()
	r.address = r.await(t, "Serving the function")

	return r
}

// newLog returns a file for a log, which is printed if the test fails.
func newLog(t *testing.T) *os.File {
	t.Helper()
	log := must(os.Create(filepath.Join(t.TempDir(), "log")))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of the server:\n%s", must(os.ReadFile(log.Name())))
		}
		_ = log.Close()
	})

	return log
}

// await waits for a message in the log, and returns its address.
func (r *testServer) await(t *testing.T, message string) string {
	t.Helper()
	var entry struct{ Msg, Address string }
	eventually(t, "the log has "+message, func() bool {
		for line := range bytes.Lines(must(os.ReadFile(r.log.Name()))) {
			if json.Unmarshal(line, &entry) == nil && entry.Msg == message {
				return true
			}
		}

		return false
	})

	return entry.Address
}

// stopped waits until the server has stopped without an error, and logged a message.
func (r *testServer) stopped(t *testing.T, message string) {
	t.Helper()
	select {
	case err := <-r.done:
		if err != nil {
			t.Errorf("run(...): %v", err)
		}
	case <-time.After(patience):
		t.Fatal("run(...): the server does not stop")
	}
	r.await(t, message)
}

// dial connects as Crossplane does:
// https://github.com/crossplane/crossplane/blob/v2.4.0/internal/xfn/function_runner.go
func dial(t *testing.T, target string, creds credentials.TransportCredentials, o ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	conn := must(grpc.NewClient(target, append([]grpc.DialOption{
		grpc.WithTransportCredentials(creds),
		grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [{"round_robin": {}}], "methodConfig": [{"name": [{}], "waitForReady": true}]}`),
	}, o...)...))
	t.Cleanup(func() { _ = conn.Close() })

	return conn
}

// call calls the function.
func call(conn *grpc.ClientConn, req *fnv1.RunFunctionRequest, o ...grpc.CallOption) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	rsp, err := fnv1.NewFunctionRunnerServiceClient(conn).RunFunction(ctx, req, o...)
	if err == nil && rsp.GetMeta().GetTag() != req.GetMeta().GetTag() {
		return fmt.Errorf("response to %q is for %q", req.GetMeta().GetTag(), rsp.GetMeta().GetTag())
	}

	return err
}

// tryCall calls the function on a new connection, and fails at once if it cannot
// connect.
func tryCall(t *testing.T, address string, creds credentials.TransportCredentials) error {
	t.Helper()
	return call(dial(t, address, creds), newRequest("try", 10), grpc.WaitForReady(false))
}

// get returns the status code and the body at a path of the metrics port.
func (r *testServer) get(t *testing.T, client *http.Client, path string) (code int, body string, err error) {
	t.Helper()
	rsp, err := client.Get("http://" + r.await(t, "Serving metrics and probes") + path)
	if err != nil {
		return 0, "", err
	}
	defer rsp.Body.Close() //nolint:errcheck // It was read.
	text, err := io.ReadAll(rsp.Body)

	return rsp.StatusCode, string(text), err
}

// metric returns the value of a sample.
func (r *testServer) metric(t *testing.T, sample string) (v float64) {
	t.Helper()
	_, text, err := r.get(t, http.DefaultClient, "/metrics")
	_, value, _ := strings.Cut(text, "\n"+sample+" ")
	if _, scanErr := fmt.Sscan(value, &v); scanErr != nil {
		t.Fatalf("no %s in the metrics: %v", sample, errors.Join(err, scanErr))
	}

	return v
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("not in time: %s", what)
}

// newRequest returns a request for a MarkdownView with about size bytes of text, and with
// its composed ConfigMap.
func newRequest(name string, size int) *fnv1.RunFunctionRequest {
	markdowns := map[string]any{"SUMMARY.md": "# Summary\n\n- [Chapter](chapter0.md)\n"}
	for i := 0; i*2000 < size; i++ {
		markdowns[fmt.Sprintf("chapter%d.md", i)] = strings.Repeat("words ", min(size, 2000)/6)
	}

	return &fnv1.RunFunctionRequest{Meta: &fnv1.RequestMeta{Tag: name}, Observed: &fnv1.State{
		Composite: object(map[string]any{
			"apiVersion": "markdownview.fn.crossplane.io/v1alpha1",
			"kind":       "MarkdownView",
			"metadata":   map[string]any{"name": name, "namespace": "default"},
			"spec":       map[string]any{"markdowns": markdowns},
		}),
		Resources: map[string]*fnv1.Resource{
			"configmap": object(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": markdowns}),
		},
	}}
}

func object(fields map[string]any) *fnv1.Resource {
	return &fnv1.Resource{Resource: must(structpb.NewStruct(fields))}
}

// A load calls the function from several goroutines until it or the test ends. The test
// fails if a call does.
type load struct {
	stop    atomic.Bool
	calls   atomic.Int64
	callers sync.WaitGroup
}

func startLoad(t *testing.T, conn *grpc.ClientConn, callers int, req *fnv1.RunFunctionRequest) *load {
	t.Helper()
	l := &load{}
	for range callers {
		l.callers.Go(func() {
			for !l.stop.Load() {
				if err := call(conn, req); err != nil {
					t.Errorf("a call failed: %v", err)
					return
				}
				l.calls.Add(1)
			}
		})
	}
	t.Cleanup(l.end)

	return l
}

// more waits for more responses.
func (l *load) more(t *testing.T, calls int64) {
	t.Helper()
	target := l.calls.Load() + calls
	eventually(t, fmt.Sprintf("%d more calls", calls), func() bool { return t.Failed() || l.calls.Load() >= target })
}

func (l *load) end() {
	l.stop.Store(true)
	l.callers.Wait()
}
