package server

import (
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"

	"github.com/crossplane-contrib/function-markdownview/fn"
)

// hang serves a function that hangs until release is closed, and calls it. called gets the
// error of the call.
func hang(t *testing.T, tm times) (r *testServer, release chan struct{}, called chan error) {
	t.Helper()
	entered, called := make(chan struct{}), make(chan error, 1)
	release = make(chan struct{})
	r = serve(t, func(request []byte) (fn.Response, error) {
		close(entered)
		<-release

		return echo(request)
	}, tm)
	conn := dial(t, r.address, r.creds(t))
	go func() { called <- call(conn, newRequest("hangs", 10)) }()
	<-entered

	return r, release, called
}

func TestStopWaitsForRunningCalls(t *testing.T) {
	r, release, called := hang(t, times{grace: patience})
	r.stop()
	eventually(t, "the server rejects connections", func() bool {
		conn, err := net.Dial("tcp", r.address)
		if err == nil {
			_ = conn.Close()
		}

		return err != nil
	})
	close(release)
	if err := <-called; err != nil {
		t.Errorf("RunFunction(...) that ran when the server stopped: %v", err)
	}
	if err := <-r.done; err != nil {
		t.Errorf("run(...): %v", err)
	}
	r.log.await(t, "Stopped")
}

func TestStopEndsACallThatHangs(t *testing.T) {
	r, release, _ := hang(t, times{grace: time.Millisecond})
	t.Cleanup(func() { close(release) })
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

// TestDrain checks that a draining server is not ready, but still serves clients.
func TestDrain(t *testing.T) {
	r := serve(t, echo, times{drain: 3 * time.Second, grace: patience})
	health := healthv1.NewHealthClient(dial(t, r.address, r.creds(t)))
	check := func(moment, wantHealth string, wantReady int) {
		t.Helper()
		rsp, err := health.Check(t.Context(), &healthv1.HealthCheckRequest{})
		if err != nil || rsp.GetStatus().String() != wantHealth {
			t.Errorf("health of a server that %s: want %s, got %v, %v", moment, wantHealth, rsp, err)
		}
		if code, _ := r.get(t, "/readyz"); code != wantReady {
			t.Errorf("/readyz of a server that %s: want %d, got %d", moment, wantReady, code)
		}
		if code, _ := r.get(t, "/livez"); code != http.StatusOK {
			t.Errorf("/livez of a server that %s: want 200, got %d", moment, code)
		}
	}
	check("runs", "SERVING", http.StatusOK)
	r.stop()
	r.log.await(t, "Stopping")
	eventually(t, "/readyz fails", func() bool {
		code, _ := r.get(t, "/readyz")
		return code != http.StatusOK
	})
	check("drains", "NOT_SERVING", http.StatusServiceUnavailable)
	if err := tryCall(t, r.address, r.creds(t)); err != nil {
		t.Errorf("call of a new client while the server drains: %v", err)
	}
	if err := <-r.done; err != nil {
		t.Errorf("run(...): %v", err)
	}
}

// TestRollingPairFailsNoCall replaces two servers, one after the other, during calls.
func TestRollingPairFailsNoCall(t *testing.T) {
	dir := t.TempDir()
	ca := newCA(t)
	ca.writeServer(t, dir)
	tm := times{drain: 500 * time.Millisecond, grace: patience}
	one, two := serveFrom(t, dir, echo, tm), serveFrom(t, dir, echo, tm)

	dns := manual.NewBuilderWithScheme("function")
	dns.InitialState(addresses(one, two))
	creds := credentials.NewTLS(ca.client(t, ca, time.Now().Add(time.Hour)))
	l := startLoad(t, dial(t, "function:///", creds, grpc.WithResolvers(dns)), 8, newRequest("rolling", 10_000))
	l.more(t, 100)

	// DNS lists a third server while the first one drains.
	one.stop()
	one.log.await(t, "Stopping")
	three := serveFrom(t, dir, echo, tm)
	dns.UpdateState(addresses(one, two, three))
	if err := <-one.done; err != nil {
		t.Errorf("run(...) of the first server: %v", err)
	}
	l.more(t, 100)

	// DNS still lists the second server after it has stopped.
	two.stop()
	if err := <-two.done; err != nil {
		t.Errorf("run(...) of the second server: %v", err)
	}
	l.more(t, 100)
	dns.UpdateState(addresses(three))
	l.more(t, 100)
	l.end(t)
}

func addresses(servers ...*testServer) resolver.State {
	s := resolver.State{}
	for _, r := range servers {
		s.Endpoints = append(s.Endpoints, resolver.Endpoint{Addresses: []resolver.Address{{Addr: r.address, ServerName: "localhost"}}})
	}

	return s
}

// TestConnectionAge checks that calls succeed while connections that have reached their
// maximum age are replaced.
func TestConnectionAge(t *testing.T) {
	r := serve(t, echo, times{connectionAge: 20 * time.Millisecond})
	conn := dial(t, r.address, r.creds(t))
	connections := map[string]bool{}
	eventually(t, "5 connections", func() bool {
		p := &peer.Peer{}
		if err := call(conn, newRequest("age", 10), grpc.Peer(p)); err != nil {
			t.Fatalf("RunFunction(...) while connections are replaced: %v", err)
		}
		connections[p.LocalAddr.String()] = true

		return len(connections) >= 5
	})
}

func TestRunFails(t *testing.T) {
	taken, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close() //nolint:errcheck // The test is over.
	dir, inUse := t.TempDir(), "listen tcp "+taken.Addr().String()+": bind: address already in use"
	newCA(t).writeServer(t, dir)
	incomplete := t.TempDir()
	write(t, filepath.Join(incomplete, "tls.crt"), nil)

	cases := map[string]struct {
		reason  string
		options Options
		want    string
	}{
		"NoCredentials":  {reason: "Plain text requires --insecure.", want: "cannot serve mTLS: set --tls-certs-dir, or --insecure for development"},
		"NoCertificates": {reason: "Without certificates no call can succeed.", options: Options{TLSCertsDir: incomplete}, want: "cannot load TLS certificates: open " + incomplete + "/tls.key: no such file or directory"},
		"AddressTaken":   {reason: "Two functions cannot share a port.", options: Options{Insecure: true, Address: taken.Addr().String()}, want: "cannot listen for calls: " + inUse},
		"MetricsTaken":   {reason: "With mTLS, a metrics address that is in use is an error.", options: Options{TLSCertsDir: dir, MetricsAddress: taken.Addr().String()}, want: "cannot listen for metrics: " + inUse},
		"NoRequestSize":  {reason: "A limit below 1 MiB rejects every request.", options: Options{Insecure: true, MaxRecvMessageSize: -1}, want: "cannot accept requests: --max-recv-message-size must be from 1 to 2047 MiB, not -1"},
		"RequestSize":    {reason: "protobuf has no larger messages.", options: Options{Insecure: true, MaxRecvMessageSize: 2048}, want: "cannot accept requests: --max-recv-message-size must be from 1 to 2047 MiB, not 2048"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := tc.options
			o.Network, o.Address, o.MaxRecvMessageSize = "tcp", cmp.Or(o.Address, "localhost:0"), cmp.Or(o.MaxRecvMessageSize, 1)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if err := Run(ctx, echo, NewLogger(io.Discard, false), o); err == nil || err.Error() != tc.want {
				t.Errorf("%s\nRun(...): want error %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

// TestInsecure checks that an address for metrics is optional, or a warning if it is in use.
func TestInsecure(t *testing.T) {
	taken, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close() //nolint:errcheck // The test is over.
	for address, warns := range map[string]bool{"": false, taken.Addr().String(): true} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		log, done := &syncBuffer{}, make(chan error, 1)
		go func() {
			done <- Run(ctx, echo, NewLogger(log, false), Options{Insecure: true, Network: "tcp", Address: "localhost:0", MetricsAddress: address, MaxRecvMessageSize: 1})
		}()
		listening, _ := log.await(t, "Serving the function")["address"].(string)
		if err := tryCall(t, listening, insecure.NewCredentials()); err != nil {
			t.Errorf("metrics at %q: RunFunction(...): %v", address, err)
		}
		cancel()
		if err := <-done; err != nil {
			t.Errorf("metrics at %q: Run(...): %v", address, err)
		}
		if got := strings.Contains(log.String(), "Cannot serve metrics and probes"); got != warns {
			t.Errorf("metrics at %q: want a warning: %t, got:\n%s", address, warns, log)
		}
	}
}
