package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	fnv1beta1 "github.com/crossplane/function-sdk-go/proto/v1beta1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/crossplane-contrib/function-markdownview/server/servertest"
)

// patience is how long a test waits for what should come at once, also on a
// machine that is busy with something else.
const patience = 2 * time.Minute

// serviceConfig is what Crossplane uses to call functions.
// https://github.com/crossplane/crossplane/blob/v2.4.0/internal/xfn/function_runner.go
const serviceConfig = `{
	"loadBalancingConfig": [{"round_robin": {}}],
	"methodConfig": [{"name": [{}], "waitForReady": true}]
}`

// binary is the function, built as users get it.
var binary string

func TestMain(m *testing.M) {
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "function-markdownview-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir) //nolint:errcheck // A folder for temporary files.
	binary = filepath.Join(dir, "function-markdownview")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "cannot build the function:", err)
		return 1
	}
	return m.Run()
}

// A process is a function that runs.
type process struct {
	cmd     *exec.Cmd
	address string
	web     string
	exited  chan struct{}

	mu  sync.Mutex
	log []string
}

// start runs the function at free ports until the test ends.
func start(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	p := &process{exited: make(chan struct{})}
	p.cmd = exec.Command(binary, append([]string{"--address=localhost:0", "--metrics-address=localhost:0"}, args...)...)
	p.cmd.Env = append(os.Environ(), env...)
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			p.mu.Lock()
			p.log = append(p.log, lines.Text())
			p.mu.Unlock()
		}
		_ = p.cmd.Wait()
		close(p.exited)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.exited
		if t.Failed() {
			t.Logf("log of the function:\n%s", strings.Join(p.log, "\n"))
		}
	})
	p.web = p.await(t, "Serving metrics and probes")
	p.address = p.await(t, "Serving the function")
	return p
}

// await waits for the message in the log and returns the address it names.
func (p *process) await(t *testing.T, message string) string {
	t.Helper()
	address := ""
	eventually(t, "log has "+message, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, line := range p.log {
			var entry struct{ Msg, Address string }
			if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == message {
				address = entry.Address
				return true
			}
		}
		return false
	})
	return address
}

// terminate sends SIGTERM.
func (p *process) terminate(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

// exit waits for the end of the process and returns its exit code.
func (p *process) exit(t *testing.T) int {
	t.Helper()
	select {
	case <-p.exited:
	case <-time.After(patience):
		t.Fatal("the function does not end")
	}
	return p.cmd.ProcessState.ExitCode()
}

// get returns the status and the text that the metrics address answers.
func (p *process) get(t *testing.T, path string) (int, string) {
	t.Helper()
	rsp, err := http.Get("http://" + p.web + path)
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
func (p *process) metric(t *testing.T, sample string) float64 {
	t.Helper()
	_, text := p.get(t, "/metrics")
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

// dial connects as Crossplane does.
func dial(t *testing.T, target string, creds credentials.TransportCredentials, o ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(target, append(o,
		grpc.WithTransportCredentials(creds),
		grpc.WithDefaultServiceConfig(serviceConfig),
		grpc.WithUnaryInterceptor(patiently))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// patiently calls with a deadline, since a call waits for a server that is ready.
func patiently(ctx context.Context, method string, req, rsp any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, o ...grpc.CallOption) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return invoke(ctx, method, req, rsp, conn, o...)
}

// call sends a request and wants it answered, not refused.
func call(conn *grpc.ClientConn, req *fnv1.RunFunctionRequest) error {
	rsp, err := fnv1.NewFunctionRunnerServiceClient(conn).RunFunction(context.Background(), req)
	if err != nil {
		return err
	}
	if got, want := rsp.GetMeta().GetTag(), req.GetMeta().GetTag(); got != want {
		return fmt.Errorf("response to %q is for %q", want, got)
	}
	return nil
}

// tryCall connects anew, calls once and does not wait for a better server.
func tryCall(t *testing.T, address string, creds credentials.TransportCredentials) error {
	t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(creds), grpc.WithUnaryInterceptor(patiently))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // It was used.
	return call(conn, request("small", 10))
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

// request asks for a MarkdownView with a book of about that many bytes.
func request(name string, size int) *fnv1.RunFunctionRequest {
	fields := func(f map[string]*structpb.Value) *structpb.Value {
		return structpb.NewStructValue(&structpb.Struct{Fields: f})
	}
	markdowns := map[string]*structpb.Value{"SUMMARY.md": structpb.NewStringValue("# Summary\n\n- [Chapter](chapter0.md)\n")}
	for i := 0; i*2000 < size; i++ {
		markdowns[fmt.Sprintf("chapter%d.md", i)] = structpb.NewStringValue(strings.Repeat("words ", min(size, 2000)/6))
	}
	return &fnv1.RunFunctionRequest{
		Meta: &fnv1.RequestMeta{Tag: name},
		Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: &structpb.Struct{Fields: map[string]*structpb.Value{
			"apiVersion": structpb.NewStringValue("markdownview.fn.crossplane.io/v1alpha1"),
			"kind":       structpb.NewStringValue("MarkdownView"),
			"metadata": fields(map[string]*structpb.Value{
				"name":      structpb.NewStringValue(name),
				"namespace": structpb.NewStringValue("default"),
			}),
			"spec": fields(map[string]*structpb.Value{"markdowns": fields(markdowns)}),
		}}}},
	}
}

// A load calls from several sides until it is stopped.
type load struct {
	stop    atomic.Bool
	calls   atomic.Int64
	callers sync.WaitGroup
	failed  chan error
}

func startLoad(t *testing.T, conn *grpc.ClientConn, callers int, req *fnv1.RunFunctionRequest) *load {
	t.Helper()
	encoded, err := proto.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	l := &load{failed: make(chan error, callers)}
	for range callers {
		l.callers.Go(func() {
			for !l.stop.Load() {
				if err := callEncoded(conn, encoded, req.GetMeta().GetTag()); err != nil {
					l.failed <- err
					return
				}
				l.calls.Add(1)
			}
		})
	}
	return l
}

// callEncoded sends a request that was encoded once, and does not decode the
// response: the work of the client is not what a load is for.
func callEncoded(conn *grpc.ClientConn, req []byte, tag string) error {
	var rsp []byte
	if err := conn.Invoke(context.Background(), fnv1.FunctionRunnerService_RunFunction_FullMethodName, &req, &rsp, grpc.ForceCodec(encoded{})); err != nil {
		return err
	}
	// The tag is in the first field of a response.
	if !bytes.Contains(rsp[:min(len(rsp), 100)], []byte(tag)) {
		return fmt.Errorf("response of %d bytes is not for %q", len(rsp), tag)
	}
	return nil
}

// encoded is a codec for what is encoded already.
type encoded struct{}

func (encoded) Name() string                       { return "proto" }
func (encoded) Marshal(v any) ([]byte, error)      { return *v.(*[]byte), nil }
func (encoded) Unmarshal(data []byte, v any) error { *v.(*[]byte) = bytes.Clone(data); return nil }

// more waits until that many more calls were answered.
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
		t.Fatalf("a call was lost: %v", err)
	default:
	}
}

// end stops the load and wants every call answered.
func (l *load) end(t *testing.T) {
	t.Helper()
	l.stop.Store(true)
	l.callers.Wait()
	l.mustNotFail(t)
}

func TestMutualTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ca, foreign := servertest.NewCA(t), servertest.NewCA(t)
	ca.WriteServer(t, dir)
	p := start(t, nil, "--tls-certs-dir="+dir)

	good := func() *tls.Config { return ca.Client(t, ca, time.Now().Add(time.Hour)) }
	with := func(c *tls.Config, change func(*tls.Config)) credentials.TransportCredentials {
		change(c)
		return credentials.NewTLS(c)
	}
	cases := map[string]struct {
		reason  string
		creds   credentials.TransportCredentials
		refused bool
	}{
		"Crossplane": {
			reason: "A client whose certificate the CA signed is served.",
			creds:  credentials.NewTLS(good()),
		},
		"TLS13": {
			reason: "TLS 1.3 is spoken where the peer can.",
			creds:  with(good(), func(c *tls.Config) { c.MinVersion = tls.VersionTLS13 }),
		},
		"TLS12": {
			reason: "TLS 1.2 is the least.",
			creds:  with(good(), func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }),
		},
		"PlainText": {
			reason:  "Plain text is refused.",
			creds:   insecure.NewCredentials(),
			refused: true,
		},
		"NoCertificate": {
			reason:  "A client that shows no certificate is refused.",
			creds:   with(good(), func(c *tls.Config) { c.Certificates = nil }),
			refused: true,
		},
		"ForeignCertificate": {
			reason:  "A client that another CA vouches for is refused.",
			creds:   credentials.NewTLS(foreign.Client(t, ca, time.Now().Add(time.Hour))),
			refused: true,
		},
		"ExpiredCertificate": {
			reason:  "A client whose certificate has expired is refused.",
			creds:   credentials.NewTLS(ca.Client(t, ca, time.Now().Add(-time.Hour))),
			refused: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tryCall(t, p.address, tc.creds)
			if tc.refused != (err != nil) {
				t.Errorf("%s\nRunFunction(...): want refused %t, got error %v", tc.reason, tc.refused, err)
			}
		})
	}

	old := good()
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	if _, err := tls.Dial("tcp", p.address, old); err == nil || !strings.Contains(err.Error(), "protocol version not supported") {
		t.Errorf("a peer that speaks TLS 1.1 at most: want its version refused, got %v", err)
	}

	// A peer of today, that would resume its session if it could.
	peer := good()
	peer.NextProtos = []string{"h2"}
	peer.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	for range 2 {
		conn, err := tls.Dial("tcp", p.address, peer)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff("TLS 1.3", tls.VersionName(conn.ConnectionState().Version)); diff != "" {
			t.Errorf("version that a peer of today agrees on: -want, +got:\n%s", diff)
		}
		if conn.ConnectionState().DidResume {
			t.Error("a session was resumed, past the CA of today")
		}
		_ = conn.Close()
	}
}

// Certificates and CA are replaced while calls run, the way kubelet does it.
func TestRotation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	before, after := servertest.NewCA(t), servertest.NewCA(t)
	before.WriteSecret(t, dir, "before")
	p := start(t, []string{"TLS_SERVER_CERTS_DIR=" + dir})
	clientBefore := credentials.NewTLS(before.Client(t, before, time.Now().Add(time.Hour)))
	clientAfter := credentials.NewTLS(after.Client(t, after, time.Now().Add(time.Hour)))

	l := startLoad(t, dial(t, p.address, clientBefore), 4, request("rotation", 1000))
	l.more(t, 20)
	if err := tryCall(t, p.address, clientAfter); err == nil {
		t.Fatal("a client of the CA to come was served before the rotation")
	}

	after.WriteSecret(t, dir, "after")
	if err := tryCall(t, p.address, clientAfter); err != nil {
		t.Errorf("a client of the new CA after the rotation: %v", err)
	}
	if err := tryCall(t, p.address, clientBefore); err == nil {
		t.Error("a new connection with a certificate of the old CA was served after the rotation")
	}

	servertest.Write(t, filepath.Join(dir, "after", "tls.key"), nil)
	if err := tryCall(t, p.address, clientAfter); err != nil {
		t.Errorf("a client while a rotation is half written: %v", err)
	}
	p.await(t, "Cannot load rotated TLS certificates, keeping the last good ones")
	l.more(t, 20)
	l.end(t)
}

func TestTerminate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ca := servertest.NewCA(t)
	ca.WriteServer(t, dir)
	p := start(t, nil, "--tls-certs-dir="+dir)
	creds := credentials.NewTLS(ca.Client(t, ca, time.Now().Add(time.Hour)))
	conn := dial(t, p.address, creds)
	health := func() string {
		rsp, err := healthv1.NewHealthClient(conn).Check(t.Context(), &healthv1.HealthCheckRequest{})
		if err != nil {
			t.Fatal(err)
		}
		return rsp.GetStatus().String()
	}

	if diff := cmp.Diff("SERVING", health()); diff != "" {
		t.Errorf("health of a function that runs: -want, +got:\n%s", diff)
	}
	for _, path := range []string{"/readyz", "/livez"} {
		if code, body := p.get(t, path); code != http.StatusOK {
			t.Errorf("%s of a function that runs: want 200, got %d %s", path, code, body)
		}
	}

	p.terminate(t)
	p.await(t, "Stopping")
	eventually(t, "health is NOT_SERVING", func() bool { return health() == "NOT_SERVING" })
	if code, body := p.get(t, "/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("/readyz of a function that stops: want 503, got %d %s", code, body)
	}
	if code, body := p.get(t, "/livez"); code != http.StatusOK {
		t.Errorf("/livez of a function that stops: want 200, got %d %s", code, body)
	}
	if err := tryCall(t, p.address, creds); err != nil {
		t.Errorf("a client that has not yet heard of the end: %v", err)
	}
	if diff := cmp.Diff(0, p.exit(t)); diff != "" {
		t.Errorf("exit code after SIGTERM: -want, +got:\n%s", diff)
	}
	p.await(t, "Stopped")
}

// Two servers are replaced one after the other while Crossplane calls them.
func TestRollingPairLosesNoCall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ca := servertest.NewCA(t)
	ca.WriteServer(t, dir)
	one, two := start(t, nil, "--tls-certs-dir="+dir), start(t, nil, "--tls-certs-dir="+dir)

	dns := manual.NewBuilderWithScheme("function")
	dns.InitialState(addresses(one, two))
	creds := credentials.NewTLS(ca.Client(t, ca, time.Now().Add(time.Hour)))
	l := startLoad(t, dial(t, "function:///", creds, grpc.WithResolvers(dns)), 8, request("rolling", 10_000))
	l.more(t, 100)

	// A successor is there, and found, while the first still drains.
	one.terminate(t)
	one.await(t, "Stopping")
	l.more(t, 100)
	three := start(t, nil, "--tls-certs-dir="+dir)
	dns.UpdateState(addresses(one, two, three))
	l.more(t, 100)
	if code := one.exit(t); code != 0 {
		t.Errorf("exit code of the first server: %d", code)
	}
	l.more(t, 100)

	// DNS still names the second when it is gone: its address refuses.
	two.terminate(t)
	if code := two.exit(t); code != 0 {
		t.Errorf("exit code of the second server: %d", code)
	}
	l.more(t, 100)
	dns.UpdateState(addresses(three))
	l.more(t, 100)
	l.end(t)
}

func addresses(servers ...*process) resolver.State {
	s := resolver.State{}
	for _, p := range servers {
		s.Endpoints = append(s.Endpoints, resolver.Endpoint{Addresses: []resolver.Address{{Addr: p.address, ServerName: "localhost"}}})
	}
	return s
}

func TestRequestSize(t *testing.T) {
	t.Parallel()
	sized := func(size int) *fnv1.RunFunctionRequest {
		req := request("size", 10)
		req.Context = &structpb.Struct{Fields: map[string]*structpb.Value{"a": structpb.NewStringValue("")}}
		for proto.Size(req) != size {
			text := req.GetContext().GetFields()["a"].GetStringValue()
			req.Context.Fields["a"] = structpb.NewStringValue(text + strings.Repeat("x", max(1, size-proto.Size(req)-20)))
		}
		return req
	}
	refused := func(size, limit int) string {
		return fmt.Sprintf("rpc error: code = ResourceExhausted desc = cannot read request: it has %d bytes, the function accepts %d MiB: "+
			"raise its flag --max-recv-message-size or set FUNCTION_MARKDOWNVIEW_MAX_RECV_MESSAGE_SIZE", size, limit)
	}
	cases := map[string]struct {
		reason string
		env    []string
		args   []string
		req    *fnv1.RunFunctionRequest
		want   string
	}{
		"Largest": {
			reason: "A request of exactly the default limit is read.",
			req:    sized(16 << 20),
		},
		"OneByteMore": {
			reason: "A request over the default limit is refused by name of the flag.",
			req:    sized(16<<20 + 1),
			want:   refused(16<<20+1, 16),
		},
		"Flag": {
			reason: "The flag sets the limit.",
			args:   []string{"--max-recv-message-size=1"},
			req:    sized(3 << 20),
			want:   refused(3<<20, 1),
		},
		"Env": {
			reason: "So does the environment, for tools that cannot pass flags.",
			env:    []string{"FUNCTION_MARKDOWNVIEW_MAX_RECV_MESSAGE_SIZE=2"},
			req:    sized(3 << 20),
			want:   refused(3<<20, 2),
		},
		"Raised": {
			reason: "The limit can be raised.",
			args:   []string{"--max-recv-message-size=32"},
			req:    sized(20 << 20),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, tc.env, append(tc.args, "--insecure")...)
			got := ""
			if err := call(dial(t, p.address, insecure.NewCredentials()), tc.req); err != nil {
				got = status.Convert(err).Err().Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nRunFunction(...): -want error, +got error:\n%s", tc.reason, diff)
			}
		})
	}
}

// What other functions desired may be more than Crossplane takes back.
func TestResponseTooLarge(t *testing.T) {
	t.Parallel()
	p := start(t, nil, "--insecure")
	req := request("large", 10)
	req.Desired = &fnv1.State{Resources: map[string]*fnv1.Resource{"other": {
		Resource: &structpb.Struct{Fields: map[string]*structpb.Value{"a": structpb.NewStringValue(strings.Repeat("x", 5<<20))}},
	}}}
	rsp, err := fnv1.NewFunctionRunnerServiceClient(dial(t, p.address, insecure.NewCredentials())).RunFunction(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(rsp.GetResults()); n == 0 || rsp.GetResults()[n-1].GetReason() != "ResponseTooLarge" {
		t.Errorf("results of a response over 4 MiB: want one with reason ResponseTooLarge, got %v", rsp.GetResults())
	}
	if got := p.metric(t, `function_markdownview_results_total{reason="ResponseTooLarge",severity="fatal"}`); got != 1 {
		t.Errorf("results counted: want 1, got %v", got)
	}
}

// Crossplane up to v1.16 calls v1beta1.
func TestBeta(t *testing.T) {
	t.Parallel()
	p := start(t, nil, "--insecure")
	conn := dial(t, p.address, insecure.NewCredentials())
	b, err := proto.Marshal(request("beta", 1000))
	if err != nil {
		t.Fatal(err)
	}
	req := &fnv1beta1.RunFunctionRequest{}
	if err := proto.Unmarshal(b, req); err != nil {
		t.Fatal(err)
	}
	beta, err := fnv1beta1.NewFunctionRunnerServiceClient(conn).RunFunction(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	v1, err := fnv1.NewFunctionRunnerServiceClient(conn).RunFunction(t.Context(), request("beta", 1000))
	if err != nil {
		t.Fatal(err)
	}
	m := proto.MarshalOptions{Deterministic: true}
	got, err := m.Marshal(beta)
	if err != nil {
		t.Fatal(err)
	}
	want, err := m.Marshal(v1)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("v1beta1 response: -want as v1, +got:\n%s", diff)
	}
}

// TestMemory is the short form of TestSoak.
func TestMemory(t *testing.T) {
	t.Parallel()
	p := start(t, []string{memoryLimit, manyCPUs}, "--insecure")
	l := startLoad(t, dial(t, p.address, insecure.NewCredentials()), callers, settled(request("memory", 900<<10)))
	peak := 0.0
	eventually(t, "120 calls", func() bool {
		l.mustNotFail(t)
		peak = max(peak, p.metric(t, "process_resident_memory_bytes"))
		return l.calls.Load() >= 120
	})
	l.end(t)
	t.Logf("peak of resident memory: %.0f MiB", peak/(1<<20))
	if peak > memoryBound {
		t.Errorf("resident memory under books of 900 KiB: want at most %d MiB, got %.0f MiB", memoryBound>>20, peak/(1<<20))
	}
}

// The function stays below memoryBound bytes under as many callers as Crossplane
// has by default, with books of 900 KiB each, given the limit that it sets itself
// in a container of that size.
const (
	callers     = 100
	memoryBound = 256 << 20
	memoryLimit = "GOMEMLIMIT=204MiB"
	// A large node has most calls in work at a time.
	manyCPUs = "GOMAXPROCS=16"
)

// settled adds the ConfigMap that a request made, as Crossplane observes it.
func settled(req *fnv1.RunFunctionRequest) *fnv1.RunFunctionRequest {
	spec := req.GetObserved().GetComposite().GetResource().GetFields()["spec"].GetStructValue()
	req.Observed.Resources = map[string]*fnv1.Resource{"configmap": {Resource: &structpb.Struct{Fields: map[string]*structpb.Value{
		"apiVersion": structpb.NewStringValue("v1"),
		"kind":       structpb.NewStringValue("ConfigMap"),
		"data":       spec.GetFields()["markdowns"],
	}}}}
	return req
}

func TestStartFails(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	cases := map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"MetricsAddressTaken": {
			reason: "Metrics and probes that nobody can reach must not go unnoticed.",
			args:   []string{"--insecure", "--address=localhost:0", "--metrics-address=" + taken.Addr().String()},
			want:   "cannot listen for metrics",
		},
		"NoCredentials": {
			reason: "Plain text must be asked for.",
			args:   []string{"--address=localhost:0"},
			want:   "cannot serve mTLS: no --tls-certs-dir given, nor --insecure",
		},
		"NegativeTTL": {
			reason: "No answer stands for less than no time.",
			args:   []string{"--ttl=-1m", "--insecure", "--address=localhost:0", "--metrics-address="},
			want:   "cannot serve: --ttl must not be negative: -1m0s",
		},
		"UnknownFlag": {
			reason: "A typo is not passed over.",
			args:   []string{"--max-recv-messages-size=3"},
			want:   "unknown flag --max-recv-messages-size",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			cmd := exec.CommandContext(ctx, binary, tc.args...)
			out, err := cmd.CombinedOutput()
			if err == nil || cmd.ProcessState.ExitCode() < 1 || !strings.Contains(string(out), tc.want) {
				t.Errorf("%s\nfunction-markdownview %v: want an exit code above 0 and %q, got %v and:\n%s", tc.reason, tc.args, tc.want, err, out)
			}
		})
	}
}

// A unix socket is a network too, and a second signal need not wait.
func TestNetwork(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "s")
	p := start(t, nil, "--insecure", "--network=unix", "--address="+socket)
	if err := call(dial(t, "unix:"+socket, insecure.NewCredentials()), request("unix", 10)); err != nil {
		t.Error(err)
	}
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(0, p.exit(t)); diff != "" {
		t.Errorf("exit code after SIGINT: -want, +got:\n%s", diff)
	}
}
