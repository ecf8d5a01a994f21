package server

import (
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"

	"github.com/crossplane-contrib/function-markdownview/fn"
)

// TestStop checks that a server that stops waits for a call until the grace period is over.
func TestStop(t *testing.T) {
	const late = "Stopped with calls still running"
	for message, grace := range map[string]time.Duration{"Stopped": patience, late: time.Millisecond} {
		entered, release, called := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		r := serve(t, func(request []byte) (fn.Response, error) {
			close(entered)
			<-release

			return echo(request)
		}, times{grace: grace})
		conn := dial(t, r.address, r.ca.creds(t))
		go func() { called <- call(conn, newRequest("hangs", 10)) }()
		<-entered
		r.stop()
		eventually(t, "the server rejects connections", func() bool {
			conn, err := net.Dial("tcp", r.address)
			if err == nil {
				_ = conn.Close()
			}

			return err != nil
		})
		if message == late {
			defer close(release)
		} else {
			close(release)
		}
		r.stopped(t, message)
		if err := <-called; (err != nil) != (message == late) {
			t.Errorf("RunFunction(...) that ran when the server stopped with a grace period of %v: %v", grace, err)
		}
	}
}

// TestDrain checks that a draining server is not ready, but still serves clients.
func TestDrain(t *testing.T) {
	r := serve(t, echo, times{drain: 3 * time.Second, grace: patience})
	health := healthv1.NewHealthClient(dial(t, r.address, r.ca.creds(t)))
	check := func(moment, wantHealth string, wantReady int) {
		t.Helper()
		rsp, err := health.Check(t.Context(), &healthv1.HealthCheckRequest{})
		if err != nil || rsp.GetStatus().String() != wantHealth {
			t.Errorf("health of a server that %s: want %s, got %v, %v", moment, wantHealth, rsp, err)
		}
		if code, _, _ := r.get(t, http.DefaultClient, "/readyz"); code != wantReady {
			t.Errorf("/readyz of a server that %s: want %d, got %d", moment, wantReady, code)
		}
		if code, _, _ := r.get(t, http.DefaultClient, "/livez"); code != http.StatusOK {
			t.Errorf("/livez of a server that %s: want 200, got %d", moment, code)
		}
	}
	check("runs", "SERVING", http.StatusOK)
	r.stop()
	r.await(t, "Stopping")
	eventually(t, "/readyz fails", func() bool {
		code, _, _ := r.get(t, http.DefaultClient, "/readyz")
		return code != http.StatusOK
	})
	check("drains", "NOT_SERVING", http.StatusServiceUnavailable)
	if err := tryCall(t, r.address, r.ca.creds(t)); err != nil {
		t.Errorf("call of a new client while the server drains: %v", err)
	}
	r.stopped(t, "Stopped")
}

// TestRollingPairFailsNoCall replaces two servers, one after the other, during calls.
func TestRollingPairFailsNoCall(t *testing.T) {
	dir, ca := t.TempDir(), newCA(t)
	ca.writeServer(t, dir)
	o, tm := Options{TLSCertsDir: dir}, times{drain: 500 * time.Millisecond, grace: patience}
	one, two := serveWith(t, o, echo, tm), serveWith(t, o, echo, tm)

	dns := manual.NewBuilderWithScheme("function")
	dns.InitialState(addresses(one, two))
	l := startLoad(t, dial(t, "function:///", ca.creds(t), grpc.WithResolvers(dns)), 8, newRequest("rolling", 10_000))
	l.more(t, 100)

	// DNS lists a third server while the first one drains.
	one.stop()
	one.await(t, "Stopping")
	three := serveWith(t, o, echo, tm)
	dns.UpdateState(addresses(one, two, three))
	one.stopped(t, "Stopped")
	l.more(t, 100)

	// DNS still lists the second server after it has stopped.
	two.stop()
	two.stopped(t, "Stopped")
	l.more(t, 100)
	dns.UpdateState(addresses(three))
	l.more(t, 100)
	l.end()
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
	conn := dial(t, r.address, r.ca.creds(t))
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

// taken returns an address that is in use.
func taken(t *testing.T) string {
	t.Helper()
	lis := must(net.Listen("tcp", "localhost:0"))
	t.Cleanup(func() { _ = lis.Close() })

	return lis.Addr().String()
}

func TestRunFails(t *testing.T) {
	dir, incomplete, address := t.TempDir(), t.TempDir(), taken(t)
	inUse := "listen tcp " + address + ": bind: address already in use"
	newCA(t).writeServer(t, dir)
	write(t, incomplete, "tls.crt", nil)

	cases := map[string]struct {
		reason  string
		options Options
		want    string
	}{
		"NoCredentials":  {reason: "Plain text requires --insecure.", want: "cannot serve mTLS: set --tls-certs-dir, or --insecure for development"},
		"NoCertificates": {reason: "Without certificates no call can succeed.", options: Options{TLSCertsDir: incomplete}, want: "cannot load TLS certificates: open " + incomplete + "/tls.key: no such file or directory"},
		"AddressTaken":   {reason: "Two functions cannot share a port.", options: Options{Insecure: true, Address: address}, want: "cannot listen for calls: " + inUse},
		"MetricsTaken":   {reason: "With mTLS, a metrics address that is in use is an error.", options: Options{TLSCertsDir: dir, MetricsAddress: address}, want: "cannot listen for metrics: " + inUse},
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
	for address, warns := range map[string]bool{"": false, taken(t): true} {
		r := serveWith(t, Options{Insecure: true, MetricsAddress: address}, echo, times{})
		if err := tryCall(t, r.address, insecure.NewCredentials()); err != nil {
			t.Errorf("metrics at %q: RunFunction(...): %v", address, err)
		}
		log := string(must(os.ReadFile(r.log.Name())))
		if got := strings.Contains(log, "Cannot serve metrics and probes"); got != warns {
			t.Errorf("metrics at %q: want a warning: %t, got:\n%s", address, warns, log)
		}
	}
}
