package server

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"

	"github.com/crossplane-contrib/function-markdownview/fn"
)

func TestMutualTLS(t *testing.T) {
	r := serve(t, echo, times{})
	foreign := newCA(t)
	changed := func(change func(*tls.Config)) credentials.TransportCredentials {
		c := r.client(t)
		change(c)

		return credentials.NewTLS(c)
	}
	cases := map[string]struct {
		reason   string
		creds    credentials.TransportCredentials
		rejected bool
	}{
		"Crossplane": {
			reason: "The server accepts a client whose certificate the CA signed.",
			creds:  r.creds(t),
		},
		"TLS13": {
			reason: "The server speaks TLS 1.3.",
			creds:  changed(func(c *tls.Config) { c.MinVersion = tls.VersionTLS13 }),
		},
		"TLS12": {
			reason: "The server speaks TLS 1.2.",
			creds:  changed(func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }),
		},
		"TLS11": {
			reason:   "The server speaks no older version of TLS.",
			creds:    changed(func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 }),
			rejected: true,
		},
		"PlainText": {
			reason:   "The server rejects plain text.",
			creds:    insecure.NewCredentials(),
			rejected: true,
		},
		"NoCertificate": {
			reason:   "The server rejects a client without a certificate.",
			creds:    changed(func(c *tls.Config) { c.Certificates = nil }),
			rejected: true,
		},
		"ForeignCertificate": {
			reason:   "The server rejects a certificate that another CA signed.",
			creds:    credentials.NewTLS(foreign.client(t, r.ca, time.Now().Add(time.Hour))),
			rejected: true,
		},
		"ExpiredCertificate": {
			reason:   "The server rejects a certificate that has expired.",
			creds:    credentials.NewTLS(r.ca.client(t, r.ca, time.Now().Add(-time.Hour))),
			rejected: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := tryCall(t, r.address, tc.creds)
			if tc.rejected != (err != nil) {
				t.Errorf("%s\nRunFunction(...): want rejected %t, got error %v", tc.reason, tc.rejected, err)
			}
		})
	}
}

// TestNoSessionIsResumed checks that the server resumes no session: otherwise it would
// accept a client with a certificate of an earlier CA.
func TestNoSessionIsResumed(t *testing.T) {
	r := serve(t, echo, times{})
	client := r.client(t)
	client.NextProtos = []string{"h2"}
	client.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	for range 2 {
		conn, err := tls.Dial("tcp", r.address, client)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if conn.ConnectionState().DidResume {
			t.Error("a connection resumed the session of the one before")
		}
		_ = conn.Close()
	}
}

// TestRotation replaces the certificates and the CA during calls, as the kubelet does.
func TestRotation(t *testing.T) {
	dir := t.TempDir()
	before, after := newCA(t), newCA(t)
	before.writeSecret(t, dir, "before")
	r := serveFrom(t, dir, echo, times{})
	clientBefore := credentials.NewTLS(before.client(t, before, time.Now().Add(time.Hour)))
	clientAfter := credentials.NewTLS(after.client(t, after, time.Now().Add(time.Hour)))

	l := startLoad(t, dial(t, r.address, clientBefore), 4, newRequest("rotation", 1000))
	l.more(t, 20)
	if err := tryCall(t, r.address, clientAfter); err == nil {
		t.Fatal("the server accepted a client of the new CA before the rotation")
	}

	after.writeSecret(t, dir, "after")
	if err := tryCall(t, r.address, clientAfter); err != nil {
		t.Errorf("call of a client of the new CA after the rotation: %v", err)
	}
	if err := tryCall(t, r.address, clientBefore); err == nil {
		t.Error("the server accepted a new client of the old CA after the rotation")
	}

	write(t, filepath.Join(dir, "after", "tls.key"), nil)
	if err := tryCall(t, r.address, clientAfter); err != nil {
		t.Errorf("call of a client while files are incomplete: %v", err)
	}
	r.log.await(t, "Cannot load rotated TLS certificates, keeping the last good ones")
	l.more(t, 20)
	l.end(t)
}

func TestStopWaitsForRunningCalls(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	r := serve(t, func(request []byte) (fn.Response, error) {
		close(entered)
		<-release

		return echo(request)
	}, times{grace: patience})
	called := make(chan error, 1)
	conn := dial(t, r.address, r.creds(t))
	go func() {
		_, err := call(conn, newRequest("running", 10))
		called <- err
	}()
	<-entered
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
	entered, hang := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(hang) })
	r := serve(t, func(request []byte) (fn.Response, error) {
		close(entered)
		<-hang

		return echo(request)
	}, times{grace: time.Millisecond})
	conn := dial(t, r.address, r.creds(t))
	go call(conn, newRequest("hangs", 10)) //nolint:errcheck // The server ends it.
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
		if _, err := call(conn, newRequest("age", 10), grpc.Peer(p)); err != nil {
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
	dir := t.TempDir()
	newCA(t).writeServer(t, dir)

	cases := map[string]struct {
		reason  string
		options Options
		want    string
	}{
		"NoCredentials": {
			reason:  "Plain text requires --insecure.",
			options: Options{},
			want:    "cannot serve mTLS: set --tls-certs-dir, or --insecure for development",
		},
		"NoCertificates": {
			reason:  "Without certificates no call can succeed.",
			options: Options{TLSCertsDir: "testdata/none"},
			want:    "cannot load TLS certificates: open testdata/none/tls.crt: no such file or directory",
		},
		"AddressTaken": {
			reason:  "Two functions cannot share a port.",
			options: Options{Insecure: true, Network: "tcp", Address: taken.Addr().String()},
			want:    "cannot listen for calls: listen tcp " + taken.Addr().String() + ": bind: address already in use",
		},
		"MetricsAddressTaken": {
			reason:  "With mTLS, a metrics address that is in use is an error.",
			options: Options{TLSCertsDir: dir, Network: "tcp", Address: "localhost:0", MetricsAddress: taken.Addr().String()},
			want:    "cannot listen for metrics: listen tcp " + taken.Addr().String() + ": bind: address already in use",
		},
		"NoRequestSize": {
			reason:  "A limit below 1 MiB rejects every request.",
			options: Options{Insecure: true, Network: "tcp", Address: "localhost:0", MaxRecvMessageSize: -1},
			want:    "cannot accept requests: --max-recv-message-size must be from 1 to 2047 MiB, not -1",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if tc.options.MaxRecvMessageSize == 0 {
				tc.options.MaxRecvMessageSize = 1
			}
			err := Run(ctx, echo, NewLogger(io.Discard, false), tc.options)
			if err == nil || err.Error() != tc.want {
				t.Errorf("%s\nRun(...): want error %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

func TestInsecure(t *testing.T) {
	taken, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close() //nolint:errcheck // The test is over.

	cases := map[string]struct {
		reason         string
		metricsAddress string
		warns          bool
	}{
		"NoMetricsAddress":    {reason: "An empty address turns metrics off."},
		"MetricsAddressTaken": {reason: "With --insecure, a metrics address that is in use is a warning.", metricsAddress: taken.Addr().String(), warns: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			log, done := &syncBuffer{}, make(chan error, 1)
			go func() {
				done <- Run(ctx, echo, NewLogger(log, false), Options{Insecure: true, Network: "tcp", Address: "localhost:0", MetricsAddress: tc.metricsAddress, MaxRecvMessageSize: 1})
			}()
			address, _ := log.await(t, "Serving the function")["address"].(string)
			if err := tryCall(t, address, insecure.NewCredentials()); err != nil {
				t.Errorf("%s\nRunFunction(...): %v", tc.reason, err)
			}
			cancel()
			if err := <-done; err != nil {
				t.Errorf("%s\nRun(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.warns, strings.Contains(log.String(), "Cannot serve metrics and probes")); diff != "" {
				t.Errorf("%s\nwarning in the log: -want, +got:\n%s\n%s", tc.reason, diff, log)
			}
		})
	}
}
