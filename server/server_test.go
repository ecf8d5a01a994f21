package server

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"github.com/crossplane-contrib/function-markdownview/server/servertest"
)

// patience is how long a test waits for what should come at once, also on a
// machine that is busy with something else.
const patience = time.Minute

// A function is a stand-in for the function: this package serves any.
type function func(context.Context, *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error)

type functionServer struct {
	fnv1.UnimplementedFunctionRunnerServiceServer
	function
}

func (f functionServer) RunFunction(ctx context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	return f.function(ctx, req)
}

// echo answers with the desired state of the request.
func echo(_ context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	return &fnv1.RunFunctionResponse{Meta: &fnv1.ResponseMeta{Tag: req.GetMeta().GetTag()}, Desired: req.GetDesired()}, nil
}

// A running server.
type running struct {
	address string
	metrics string
	tls     *tls.Config
	log     *syncBuffer
	stop    context.CancelFunc
	done    <-chan error
}

// serve runs a function with mTLS at free ports until the test ends.
func serve(t *testing.T, f function, tm times) *running {
	t.Helper()
	dir := t.TempDir()
	ca := servertest.NewCA(t)
	ca.WriteServer(t, dir)

	ctx, cancel := context.WithCancel(context.Background())
	r := &running{tls: ca.Client(t, ca, time.Now().Add(time.Hour)), log: &syncBuffer{}, stop: cancel}
	done := make(chan error, 1)
	r.done = done
	go func() {
		done <- run(ctx, functionServer{function: f}, NewLogger(r.log, true), Options{
			Network:            "tcp",
			Address:            "localhost:0",
			TLSCertsDir:        dir,
			MaxRecvMessageSize: 1,
			MetricsAddress:     "localhost:0",
		}, tm)
	}()
	t.Cleanup(func() {
		cancel()
		if t.Failed() {
			t.Logf("log of the server:\n%s", r.log)
		}
	})
	r.metrics = r.log.await(t, "Serving metrics and probes")["address"].(string)
	r.address = r.log.await(t, "Serving the function")["address"].(string)
	return r
}

func (r *running) dial(t *testing.T) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(r.address, grpc.WithTransportCredentials(credentials.NewTLS(r.tls)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func (r *running) call(t *testing.T, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return fnv1.NewFunctionRunnerServiceClient(r.dial(t)).RunFunction(ctx, req)
}

// scrape returns the metrics.
func (r *running) scrape(t *testing.T) string {
	t.Helper()
	rsp, err := http.Get("http://" + r.metrics + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer rsp.Body.Close() //nolint:errcheck // It was read.
	body, err := io.ReadAll(rsp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestStopWaitsForRunningCalls(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	r := serve(t, func(ctx context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
		close(entered)
		<-release
		return echo(ctx, req)
	}, times{grace: patience})
	called := make(chan error, 1)
	conn := r.dial(t)
	go func() {
		_, err := fnv1.NewFunctionRunnerServiceClient(conn).RunFunction(context.Background(), &fnv1.RunFunctionRequest{})
		called <- err
	}()
	<-entered
	r.stop()
	awaitRefusal(t, r.address)
	close(release)
	if err := <-called; err != nil {
		t.Errorf("RunFunction(...) that was running when told to stop: %v", err)
	}
	if err := <-r.done; err != nil {
		t.Errorf("run(...): %v", err)
	}
	r.log.await(t, "Stopped")
}

func TestStopDoesNotWaitForEver(t *testing.T) {
	entered := make(chan struct{})
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	r := serve(t, func(ctx context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
		close(entered)
		<-hang
		return echo(ctx, req)
	}, times{grace: time.Millisecond})
	conn := r.dial(t)
	go fnv1.NewFunctionRunnerServiceClient(conn).RunFunction(context.Background(), &fnv1.RunFunctionRequest{}) //nolint:errcheck // It never returns.
	<-entered
	r.stop()
	select {
	case err := <-r.done:
		if err != nil {
			t.Errorf("run(...): %v", err)
		}
	case <-time.After(patience):
		t.Fatal("run(...): waits for a call that hangs")
	}
	r.log.await(t, "Stopped with calls still running")
}

// A connection that has come of age is replaced while calls go on.
func TestConnectionAge(t *testing.T) {
	r := serve(t, echo, times{connectionAge: 20 * time.Millisecond})
	client := fnv1.NewFunctionRunnerServiceClient(r.dial(t))
	connections := map[string]bool{}
	for deadline := time.Now().Add(patience); len(connections) < 5; {
		if time.Now().After(deadline) {
			t.Fatalf("made %d connections, want 5", len(connections))
		}
		p := &peer.Peer{}
		if _, err := client.RunFunction(context.Background(), &fnv1.RunFunctionRequest{}, grpc.Peer(p)); err != nil {
			t.Fatalf("RunFunction(...) while connections are replaced: %v", err)
		}
		connections[p.LocalAddr.String()] = true
	}
}

func TestRunFails(t *testing.T) {
	taken, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close() //nolint:errcheck // The test is over.

	cases := map[string]struct {
		reason  string
		options Options
		want    string
	}{
		"NoCredentials": {
			reason:  "Plain text must be asked for.",
			options: Options{},
			want:    "cannot serve mTLS: no --tls-certs-dir given, nor --insecure",
		},
		"NoCertificates": {
			reason:  "Without certificates no call could ever succeed.",
			options: Options{TLSCertsDir: "testdata/none"},
			want:    "cannot load TLS certificates: open testdata/none/tls.crt: no such file or directory",
		},
		"AddressTaken": {
			reason:  "Two functions cannot share a port.",
			options: Options{Insecure: true, Network: "tcp", Address: taken.Addr().String()},
			want:    "cannot listen for calls: listen tcp " + taken.Addr().String() + ": bind: address already in use",
		},
		"MetricsAddressTaken": {
			reason:  "Metrics and probes that nobody can reach must not go unnoticed.",
			options: Options{Insecure: true, Network: "tcp", Address: "localhost:0", MetricsAddress: taken.Addr().String()},
			want:    "cannot listen for metrics: listen tcp " + taken.Addr().String() + ": bind: address already in use",
		},
		"NoRequestSize": {
			reason:  "A limit of nothing would refuse each request.",
			options: Options{Insecure: true, Network: "tcp", Address: "localhost:0", MaxRecvMessageSize: -1},
			want:    "cannot accept requests: --max-recv-message-size is -1, must be from 1 to 2047 MiB",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			if tc.options.MaxRecvMessageSize == 0 {
				tc.options.MaxRecvMessageSize = 1
			}
			err := Run(ctx, functionServer{function: echo}, NewLogger(io.Discard, false), tc.options)
			if err == nil || err.Error() != tc.want {
				t.Errorf("%s\nRun(...): want error %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

func TestNoMetricsAddress(t *testing.T) {
	log := &syncBuffer{}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		done <- Run(ctx, functionServer{function: echo}, NewLogger(log, false), Options{Insecure: true, Network: "tcp", Address: "localhost:0", MaxRecvMessageSize: 1})
	}()
	log.await(t, "Serving the function")
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Run(...): %v", err)
	}
	if strings.Contains(log.String(), "metrics") {
		t.Errorf("Run(...) without a metrics address: want no metrics server, log:\n%s", log)
	}
}

// awaitRefusal waits until nothing listens at the address.
func awaitRefusal(t *testing.T, address string) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		_ = conn.Close()
	}
	t.Fatalf("%s still accepts connections", address)
}

// A syncBuffer takes a log that is read while it is written.
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

// await waits for the message and returns its line of the log.
func (b *syncBuffer) await(t *testing.T, message string) map[string]any {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		for lines := bufio.NewScanner(strings.NewReader(b.String())); lines.Scan(); {
			line := map[string]any{}
			if json.Unmarshal(lines.Bytes(), &line) == nil && line["msg"] == message {
				return line
			}
		}
	}
	t.Fatalf("no %q in the log:\n%s", message, b)
	return nil
}
