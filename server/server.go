// Package server serves the function in production: it reloads certificates, fails no
// call when it stops, limits memory, and has probes and metrics. Serve of
// function-sdk-go has only metrics. The package passes requests and responses through
// as bytes, without decoding them.
package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
)

// Options configure the server.
type Options struct {
	// Network and Address are the arguments of net.Listen.
	Network string
	Address string

	// TLSCertsDir has tls.crt, tls.key, and the ca.crt of clients.
	TLSCertsDir string

	// Insecure serves plain text to every client, for development: Crossplane always
	// uses mTLS. It also makes a metrics address that is in use a warning, because
	// another function may use the port.
	Insecure bool

	// MaxRecvMessageSize is the size in MiB of the largest request.
	MaxRecvMessageSize int

	// MetricsAddress is the address of the HTTP server for /metrics, /livez and
	// /readyz. Empty means none.
	MetricsAddress string
}

const (
	// maxRequestSize is the size in MiB of the largest message of protobuf.
	maxRequestSize = 2047

	// window is how many bytes gRPC reads of a request that waits for a slot: the
	// minimum of gRPC.
	window = 64 << 10
)

// times are durations that tests shorten.
type times struct {
	// drain is how long the server keeps serving after SIGTERM, so that clients find
	// its successor: Crossplane resolves the name again only when a connection closes,
	// and at most every 30 seconds. It is longer than the 5 seconds for which CoreDNS
	// caches a name.
	drain time.Duration

	// grace is how long running calls can take after that. Together with drain it is
	// shorter than the 30 seconds that Kubernetes gives a pod by default.
	grace time.Duration

	// idle is how long a connection to the metrics port stays open between requests.
	idle time.Duration

	// connectionAge is how long a connection stays open before the client must open a
	// new one, which fails no call. The client then finds new replicas, and both sides
	// verify the current certificates.
	connectionAge time.Duration
}

// Run serves the function until the context is done and running calls have ended, and
// then returns nil.
func Run(ctx context.Context, respond Responder, log Logger, o Options) error {
	t := times{drain: 6 * time.Second, grace: 20 * time.Second, connectionAge: 10 * time.Minute, idle: 10 * time.Second}
	if o.Insecure {
		t.drain = 0 // In development there is no successor.
	}

	return run(ctx, respond, log, o, t)
}

// gcPercent is how much the heap can grow before the garbage collector runs, in percent
// of the live heap. Few objects outlive a call, and the slots limit the live heap: with
// the default of Go, 100, a small call would spend a fifth of its time on collections
// of the same few megabytes. The memory limit still applies.
const gcPercent = 250

func run(ctx context.Context, respond Responder, log Logger, o Options, t times) error {
	if o.MaxRecvMessageSize < 1 || o.MaxRecvMessageSize > maxRequestSize {
		return fmt.Errorf("cannot accept requests: --max-recv-message-size must be from 1 to %[2]d MiB, not %[1]d", o.MaxRecvMessageSize, maxRequestSize)
	}
	limit, err := memlimit.Set(memlimit.WithRatio(0.8))
	if err != nil {
		log.Warn("Cannot read the memory limit of the container", "error", err.Error())
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	m := newMetrics()

	creds, err := transportCredentials(o, log, m)
	if err != nil {
		return err
	}
	lis, err := net.Listen(o.Network, o.Address)
	if err != nil {
		return fmt.Errorf("cannot listen for calls: %w", err)
	}
	defer lis.Close() //nolint:errcheck // srv.Serve closes it as well.

	h := health.NewServer()
	srv := newGRPC(respond, m, h, o.MaxRecvMessageSize, requestSlots(limit, o.MaxRecvMessageSize), grpc.Creds(creds),
		// A client that has disappeared must not keep its slots until TCP times out.
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionAge: t.connectionAge, Time: 30 * time.Second}))
	failed := make(chan error, 2)

	web, err := listenMetrics(o, log)
	if err != nil {
		return err
	}
	if web != nil {
		s := newHTTP(m, h, t.idle)
		defer s.Close() //nolint:errcheck // The process ends.
		go func() { failed <- s.Serve(web) }()
		log.Info("Serving metrics and probes", "address", web.Addr().String())
	}
	go func() { failed <- srv.Serve(lis) }()
	log.Info("Serving the function", "address", lis.Addr().String())

	select {
	case err := <-failed:
		return fmt.Errorf("cannot serve: %w", err)
	case <-ctx.Done():
	}

	log.Info("Stopping")
	h.Shutdown()
	time.Sleep(t.drain)
	stop(srv, log, t.grace)

	return nil
}

// stop rejects new calls and waits for running ones, at most for the grace period.
func stop(srv *grpc.Server, log Logger, grace time.Duration) {
	done := make(chan struct{})
	go func() {
		srv.GracefulStop()
		close(done)
	}()
	select {
	case <-done:
		log.Info("Stopped")
	case <-time.After(grace):
		srv.Stop()
		log.Error("Stopped with calls still running", "grace", grace.String())
	}
}

func transportCredentials(o Options, log Logger, m *metrics) (credentials.TransportCredentials, error) {
	if o.Insecure {
		return insecure.NewCredentials(), nil
	}
	if o.TLSCertsDir == "" {
		return nil, errors.New("cannot serve mTLS: set --tls-certs-dir, or --insecure for development")
	}
	c, err := loadCertificates(o.TLSCertsDir, log)
	if err != nil {
		return nil, err
	}
	m.watch(c)

	return credentials.NewTLS(c.tlsConfig()), nil
}

func newGRPC(respond Responder, m *metrics, h healthv1.HealthServer, maxRequest, slots int, o ...grpc.ServerOption) *grpc.Server {
	srv := grpc.NewServer(append(o,
		grpc.MaxRecvMsgSize(maxRequest<<20),
		// With dynamic windows, gRPC would read requests that wait for a slot into
		// memory. The window of a connection is that of 256 waiting requests.
		grpc.StaticStreamWindowSize(window),
		grpc.StaticConnWindowSize(256*window),
		// With the default, 32 KiB, a request and a response of 100 KiB would take four system
		// calls each, and not two or three, and one.
		grpc.WriteBufferSize(128<<10),
		grpc.ReadBufferSize(64<<10),
		// The goroutine of a call would grow its stack several times. Workers reuse theirs,
		// also for calls that wait for a slot. Further calls get goroutines.
		grpc.NumStreamWorkers(uint32(4*slots)), //nolint:gosec // There are at most a few slots per CPU.
		grpc.ForceServerCodecV2(codec{encoding.GetCodecV2(proto.Name)}),
		grpc.UnaryInterceptor(m.grpc.UnaryServerInterceptor()))...)

	s := &service{respond: respond, metrics: m, slots: make(chan struct{}, slots)}
	s.register(srv, serviceV1)
	s.register(srv, serviceV1Beta1)
	healthv1.RegisterHealthServer(srv, h)
	m.grpc.InitializeMetrics(srv)

	return srv
}
