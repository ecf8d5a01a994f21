package server

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
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

// echo returns the request as the response: meta has the tag, and the observed state
// becomes the desired state.
func echo(request []byte) (fn.Response, error) {
	half := len(request) / 2
	return fn.Response{Parts: [][]byte{request[:half], request[half:]}}, nil
}

// A testServer is a server, in this process or in a separate one.
type testServer struct {
	address string
	metrics string
	log     *syncBuffer
	ca      *identity // Nil without mTLS.
	stop    context.CancelFunc
	done    <-chan error
}

// serve serves the function with mTLS on free ports until the test ends.
func serve(t *testing.T, respond Responder, tm times) *testServer {
	t.Helper()
	dir := t.TempDir()
	ca := newCA(t)
	ca.writeServer(t, dir)
	r := serveFrom(t, dir, respond, tm)
	r.ca = ca

	return r
}

// serveFrom is serve with certificates from dir.
func serveFrom(t *testing.T, dir string, respond Responder, tm times) *testServer {
	t.Helper()
	if tm.idle == 0 {
		tm.idle = patience
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	r := &testServer{log: &syncBuffer{}, stop: cancel, done: done}
	go func() {
		done <- run(ctx, respond, NewLogger(r.log, true), Options{
			Network:            "tcp",
			Address:            "localhost:0",
			TLSCertsDir:        dir,
			MaxRecvMessageSize: 1,
			MetricsAddress:     "localhost:0",
		}, tm)
	}()
	t.Cleanup(cancel)
	r.listening(t)

	return r
}

// listening waits until the server listens, and reads the addresses from its log.
func (r *testServer) listening(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of the server:\n%s", r.log)
		}
	})
	r.metrics, _ = r.log.await(t, "Serving metrics and probes")["address"].(string)
	r.address, _ = r.log.await(t, "Serving the function")["address"].(string)
}

// creds returns the credentials of a client that the server trusts.
func (r *testServer) creds(t *testing.T) credentials.TransportCredentials {
	t.Helper()
	return credentials.NewTLS(r.client(t))
}

func (r *testServer) client(t *testing.T) *tls.Config {
	t.Helper()
	return r.ca.client(t, r.ca, time.Now().Add(time.Hour))
}

// dial connects as Crossplane does:
// https://github.com/crossplane/crossplane/blob/v2.4.0/internal/xfn/function_runner.go
func dial(t *testing.T, target string, creds credentials.TransportCredentials, o ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(target, append([]grpc.DialOption{
		grpc.WithTransportCredentials(creds),
		grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [{"round_robin": {}}], "methodConfig": [{"name": [{}], "waitForReady": true}]}`),
	}, o...)...)
	if err != nil {
		t.Fatal(err)
	}
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
func (r *testServer) get(t *testing.T, path string) (int, string) {
	t.Helper()
	rsp, err := http.Get("http://" + r.metrics + path)
	if err != nil {
		t.Fatal(err)
	}
	defer rsp.Body.Close() //nolint:errcheck // It was read.
	body, err := io.ReadAll(rsp.Body)
	if err != nil {
		t.Fatal(err)
	}

	return rsp.StatusCode, string(body)
}

// metric returns the value of a sample.
func (r *testServer) metric(t *testing.T, sample string) float64 {
	t.Helper()
	_, text := r.get(t, "/metrics")
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(sample) + ` (.*)$`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no %s in the metrics", sample)
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
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

// newRequest returns a request for a MarkdownView with about size bytes of text.
func newRequest(name string, size int) *fnv1.RunFunctionRequest {
	markdowns := map[string]any{"SUMMARY.md": "# Summary\n\n- [Chapter](chapter0.md)\n"}
	for i := 0; i*2000 < size; i++ {
		markdowns[fmt.Sprintf("chapter%d.md", i)] = strings.Repeat("words ", min(size, 2000)/6)
	}

	return &fnv1.RunFunctionRequest{
		Meta: &fnv1.RequestMeta{Tag: name},
		Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: object(map[string]any{
			"apiVersion": "markdownview.fn.crossplane.io/v1alpha1",
			"kind":       "MarkdownView",
			"metadata":   map[string]any{"name": name, "namespace": "default"},
			"spec":       map[string]any{"markdowns": markdowns},
		})}},
	}
}

func object(fields map[string]any) *structpb.Struct {
	s, err := structpb.NewStruct(fields)
	if err != nil {
		panic(err)
	}

	return s
}

// A load calls the function from several goroutines until it is stopped.
type load struct {
	stop    atomic.Bool
	calls   atomic.Int64
	callers sync.WaitGroup
	failed  chan error
}

func startLoad(t *testing.T, conn *grpc.ClientConn, callers int, req *fnv1.RunFunctionRequest) *load {
	t.Helper()
	l := &load{failed: make(chan error, callers)}
	for range callers {
		l.callers.Go(func() {
			for !l.stop.Load() {
				if err := call(conn, req); err != nil {
					l.failed <- err
					return
				}
				l.calls.Add(1)
			}
		})
	}

	return l
}

// more waits for more responses.
func (l *load) more(t *testing.T, calls int64) {
	t.Helper()
	target := l.calls.Load() + calls
	eventually(t, fmt.Sprintf("%d more calls", calls), func() bool {
		l.mustNotFail(t)
		return l.calls.Load() >= target
	})
}

func (l *load) mustNotFail(t *testing.T) {
	t.Helper()
	select {
	case err := <-l.failed:
		t.Fatalf("a call failed: %v", err)
	default:
	}
}

// end stops the load, and fails the test if a call failed.
func (l *load) end(t *testing.T) {
	t.Helper()
	l.stop.Store(true)
	l.callers.Wait()
	l.mustNotFail(t)
}

// A syncBuffer is a log that a test reads while the server writes to it.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.buf.String()
}

// await waits for a message and returns its log entry.
func (b *syncBuffer) await(t *testing.T, message string) map[string]any {
	t.Helper()
	var entry map[string]any
	eventually(t, "the log has "+message, func() bool {
		for lines := bufio.NewScanner(strings.NewReader(b.String())); lines.Scan(); {
			entry = map[string]any{}
			if json.Unmarshal(lines.Bytes(), &entry) == nil && entry["msg"] == message {
				return true
			}
		}

		return false
	})

	return entry
}
