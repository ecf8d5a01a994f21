package server

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// binary is the path of the function, built as users get it.
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
	// The same build as "make build", so its packages are compiled once.
	build := exec.Command("go", "build", "-tags", "grpcnotrace", "-ldflags", "-s -w", "-o", binary, "..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "cannot build the function: %v\n%s", err, out)
		return 1
	}

	return m.Run()
}

// A process is a function that runs in a process of its own.
type process struct {
	testServer

	cmd    *exec.Cmd
	exited chan struct{}
}

// start runs the function without TLS until the test ends.
func start(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	p := &process{testServer: testServer{log: &syncBuffer{}}, exited: make(chan struct{})}
	p.cmd = exec.Command(binary, append([]string{"--insecure", "--address=localhost:0", "--metrics-address=localhost:0"}, args...)...)
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stderr = p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.exited)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.exited
	})
	p.listening(t)

	return p
}

func TestSignals(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		p := start(t, nil, "--network=unix", "--address="+filepath.Join(t.TempDir(), "s"))
		if err := call(dial(t, "unix:"+p.address, insecure.NewCredentials()), newRequest("unix", 10)); err != nil {
			t.Errorf("RunFunction(...) on a unix socket: %v", err)
		}
		if err := p.cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		<-p.exited
		if code := p.cmd.ProcessState.ExitCode(); code != 0 {
			t.Errorf("exit code after %s: want 0, got %d", signal, code)
		}
	}
}

func TestMaxRecvMessageSize(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		env    []string
		args   []string
		size   int
		want   string
	}{
		"Default":     {reason: "A request can have up to 16 MiB.", size: 16 << 20},
		"Exceeded":    {reason: "The function rejects a request that is one byte larger.", size: 16<<20 + 1, want: "(16777217 vs. 16777216)"},
		"Environment": {reason: "The environment sets the limit, for tools that cannot pass flags.", env: []string{"FUNCTION_MARKDOWNVIEW_MAX_RECV_MESSAGE_SIZE=2"}, size: 3 << 20, want: "(3145728 vs. 2097152)"},
		"Flag":        {reason: "The flag raises the limit.", args: []string{"--max-recv-message-size=32"}, size: 20 << 20},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, tc.env, tc.args...)
			err := call(dial(t, p.address, insecure.NewCredentials()), sized(t, tc.size))
			if got := status.Convert(err).Message(); (err != nil) != (tc.want != "") || !strings.Contains(got, tc.want) {
				t.Errorf("%s\nRunFunction(...): want error %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

func TestStartFails(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"cannot serve mTLS: set --tls-certs-dir, or --insecure for development": {"--address=localhost:0"},
		"cannot serve: --ttl must not be negative: -1m0s":                       {"--ttl=-1m", "--insecure", "--address=localhost:0", "--metrics-address="},
		"unknown flag --max-recv-messages-size":                                 {"--max-recv-messages-size=3"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, binary, args...)
		out, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() < 1 || !strings.Contains(string(out), want) {
			t.Errorf("function-markdownview %v: want an exit code above 0 and %q, got %v and:\n%s", args, want, err, out)
		}
	}
}

// The function stays below memoryBound with as many callers as Crossplane has by
// default. GOMEMLIMIT is the value that the function sets in a container of that size.
// GOMAXPROCS is that of a large node, which computes more responses at a time.
const (
	callers     = 100
	memoryBound = 256 << 20
)

var large = []string{"GOMEMLIMIT=204MiB", "GOMAXPROCS=16"}

// TestMemory is the short form of TestSoak.
func TestMemory(t *testing.T) {
	cases := map[string]struct {
		reason  string
		callers int
		calls   int64
		req     *fnv1.RunFunctionRequest
	}{
		"ManyCallers":     {reason: "As many callers as Crossplane has by default, with text of 900 KiB.", callers: callers, calls: 150, req: settled(newRequest("memory", 900<<10))},
		"LargestRequests": {reason: "Requests of the largest size, filled by other functions of the pipeline.", callers: 16, calls: 40, req: sized(t, 16<<20)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := start(t, large)
			l := startLoad(t, dial(t, p.address, insecure.NewCredentials()), tc.callers, tc.req)
			peak := 0.0
			eventually(t, fmt.Sprintf("%d calls", tc.calls), func() bool {
				l.mustNotFail(t)
				peak = max(peak, p.metric(t, "process_resident_memory_bytes"))

				return l.calls.Load() >= tc.calls
			})
			l.end(t)
			t.Logf("peak of resident memory: %.0f MiB", peak/(1<<20))
			if peak > memoryBound {
				t.Errorf("%s\nresident memory: want at most %d MiB, got %.0f MiB", tc.reason, memoryBound>>20, peak/(1<<20))
			}
		})
	}
}

// settled adds the composed ConfigMap to the observed resources of a request.
func settled(req *fnv1.RunFunctionRequest) *fnv1.RunFunctionRequest {
	spec := req.GetObserved().GetComposite().GetResource().AsMap()["spec"].(map[string]any)
	req.Observed.Resources = map[string]*fnv1.Resource{"configmap": {
		Resource: object(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": spec["markdowns"]}),
	}}

	return req
}
