// Package server serves a composition function the way those who operate it
// need: certificates that rotate under it, an end that loses no call, a panic
// that stays with the call that caused it, limits that explain themselves,
// probes and metrics. It stands in for the Serve of function-sdk-go, which has
// none of these, and knows nothing of what the function does.
package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/net/netutil"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
)

// Options say where and how to serve.
type Options struct {
	// Network and Address to listen on, as net.Listen takes them.
	Network string
	Address string

	// TLSCertsDir holds tls.crt, tls.key, and the ca.crt of clients.
	TLSCertsDir string

	// Insecure serves plain text to anyone. Meant for development: Crossplane
	// always speaks mTLS.
	Insecure bool

	// MaxRecvMessageSize is the size in MiB of the largest request.
	MaxRecvMessageSize int

	// MetricsAddress is where HTTP answers /metrics, /livez and /readyz. Empty
	// means nowhere.
	MetricsAddress string
}

// maxRequestSize in MiB is what protobuf decodes at most.
const maxRequestSize = 2047

// window is how much of a request is in memory, in bytes, before there is room
// for all of it: gRPC's smallest.
const window = 64 << 10

// maxConnections of the metrics port, which anybody may be able to reach. kubelet
// and Prometheus need a handful.
const maxConnections = 256

// requestSlots returns how many requests may be in memory at a time, given the
// memory limit in bytes. Crossplane sends up to 100 at once. More than two for
// each CPU make none of them faster. A request needs its size twice, once as
// frames of HTTP/2, and the response shares memory with it or has up to 4 MiB; the
// third part is garbage that is not yet collected.
func requestSlots(limit int64, maxRequest int) int {
	fit := int(limit / (3 * int64(maxRequest) << 20))
	return max(1, min(fit, 2*runtime.GOMAXPROCS(0)))
}

// Times that tests shorten.
type times struct {
	// drain is how long we go on as before once told to stop, so that clients
	// find our successor before we turn them away: Crossplane asks DNS for
	// others only when a connection ends, and at most each 30 seconds. Longer
	// than the 5 seconds for which CoreDNS serves a stale answer.
	drain time.Duration

	// grace is how long running calls may then take. With drain it stays below
	// the 30 seconds that Kubernetes gives a pod by default.
	grace time.Duration

	// idle is how long a connection to the metrics port stays open without a request.
	idle time.Duration

	// connectionAge is how long a connection lives before the client is asked,
	// without a call lost, to make a new one. It then finds replicas that came
	// since, and is judged by the certificates of that day.
	connectionAge time.Duration
}

// Run serves the function until the context ends, and then until running calls
// have ended too. The end of the context is no error.
func Run(ctx context.Context, respond Responder, log Logger, o Options) error {
	t := times{drain: 6 * time.Second, grace: 20 * time.Second, connectionAge: 10 * time.Minute, idle: 10 * time.Second}
	if o.Insecure {
		t.drain = 0 // In development no successor is waited for.
	}
	return run(ctx, respond, log, o, t)
}

func run(ctx context.Context, respond Responder, log Logger, o Options, t times) error {
	if o.MaxRecvMessageSize < 1 || o.MaxRecvMessageSize > maxRequestSize {
		return fmt.Errorf("cannot accept requests: --max-recv-message-size is %d, must be from 1 to %d MiB", o.MaxRecvMessageSize, maxRequestSize)
	}
	limit, err := memlimit.Set(memlimit.WithRatio(0.8))
	if err != nil {
		log.Warn("Cannot read the memory limit of the container", "error", err.Error())
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
	defer lis.Close() //nolint:errcheck // Serving closes it as well.

	h := health.NewServer()
	srv := newGRPC(respond, m, h, o.MaxRecvMessageSize, requestSlots(limit, o.MaxRecvMessageSize), grpc.Creds(creds),
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionAge: t.connectionAge}))
	failed := make(chan error, 2)

	if o.MetricsAddress != "" {
		web, err := net.Listen("tcp", o.MetricsAddress)
		switch {
		case err != nil && !o.Insecure:
			return fmt.Errorf("cannot listen for metrics: %w", err)
		case err != nil: // In development another function may have the port.
			log.Warn("Cannot serve metrics and probes", "error", err.Error())
		default:
			s := newHTTP(m, h, t.idle)
			defer s.Close() //nolint:errcheck // We are at the end.
			go func() { failed <- s.Serve(netutil.LimitListener(web, maxConnections)) }()
			log.Info("Serving metrics and probes", "address", web.Addr().String())
		}
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

// stop refuses new calls and waits for the running ones, but not for ever.
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
		return nil, errors.New("cannot serve mTLS: no --tls-certs-dir given, nor --insecure")
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
		// Without these gRPC reads all requests while they wait for a slot.
		grpc.StaticStreamWindowSize(window),
		grpc.StaticConnWindowSize(256*window),
		grpc.ForceServerCodecV2(codec{encoding.GetCodecV2(proto.Name)}),
		grpc.UnaryInterceptor(m.grpc.UnaryServerInterceptor()))...)

	s := &service{respond: respond, metrics: m, slots: make(chan struct{}, slots)}
	s.register(srv, serviceV1)
	s.register(srv, serviceV1Beta1)
	healthv1.RegisterHealthServer(srv, h)
	m.grpc.InitializeMetrics(srv)
	return srv
}

// newHTTP answers the probes of kubelet, which cannot show a client certificate
// to gRPC's health service, and the scrapes of Prometheus.
func newHTTP(m *metrics, h healthv1.HealthServer, idle time.Duration) *http.Server {
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/livez", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "ok") //nolint:errcheck // The prober is gone.
	})
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, r *http.Request) {
		rsp, err := h.Check(r.Context(), &healthv1.HealthCheckRequest{})
		if err != nil || rsp.GetStatus() != healthv1.HealthCheckResponse_SERVING {
			http.Error(w, "not serving", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok") //nolint:errcheck // The prober is gone.
	})
	return &http.Server{Handler: mux, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: idle}
}
