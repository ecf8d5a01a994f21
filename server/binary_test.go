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
	dir := must(os.MkdirTemp("", "function-markdownview-"))
	defer os.RemoveAll(dir) //nolint:errcheck // A folder for temporary files.
	binary = filepath.Join(dir, "function-markdownview")
	// The same build as "make build", so its packages are compiled once.
	build := exec.Command("go", "build", "-tags", "grpcnotrace", "-ldflags", "-s -w", "-o", binary, "..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("cannot build the function: %v\n%s", err, out))
	}
	m.Run()
}

// start runs the function without TLS, in a process of its own, until the test ends.
func start(t *testing.T, env []string, args ...string) *testServer {
	t.Helper()
	args = append([]string{"--insecure", "--address=localhost:0", "--metrics-address=localhost:0"}, args...)
	cmd, done := exec.Command(binary, args...), make(chan error, 1)
	r := &testServer{log: newLog(t), done: done}
	cmd.Env, cmd.Stderr = append(os.Environ(), env...), r.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		done <- cmd.Wait()
		close(done)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-done //nolint:errcheck // The process was killed.
	})
	r.process, r.address = cmd.Process, r.await(t, "Serving the function")

	return r
}

func TestSignals(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		r := start(t, nil, "--network=unix", "--address="+filepath.Join(t.TempDir(), "s"))
		if err := tryCall(t, "unix:"+r.address, insecure.NewCredentials()); err != nil {
			t.Errorf("RunFunction(...) on a unix socket: %v", err)
		}
		if err := r.process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		r.stopped(t, "Stopped")
	}
}

// TestMaxRecvMessageSize checks the limit of 16 MiB, and that a flag sets it, and the environment, for
// tools that cannot pass flags.
func TestMaxRecvMessageSize(t *testing.T) {
	t.Parallel()
	for limit, r := range map[string]*testServer{
		"16777216": start(t, nil),
		"2097152":  start(t, []string{"FUNCTION_MARKDOWNVIEW_MAX_RECV_MESSAGE_SIZE=2"}),
		"3145728":  start(t, nil, "--max-recv-message-size=3"),
	} {
		err := call(dial(t, r.address, insecure.NewCredentials()), sized(16<<20+1))
		want := "grpc: received message larger than max (16777217 vs. " + limit + ")"
		if got := status.Convert(err).Message(); got != want {
			t.Errorf("RunFunction(...): want error %q, got %v", want, err)
		}
	}
}

func TestStartFails(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "--ttl=-1m", "--insecure", "--address=localhost:0", "--metrics-address=")
	out, err := cmd.CombinedOutput()
	if want := "cannot serve: --ttl must not be negative: -1m0s"; err == nil || !strings.Contains(string(out), want) {
		t.Errorf("function-markdownview --ttl=-1m: want an exit code above 0 and %q, got %v and:\n%s", want, err, out)
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
		"ManyCallers":     {reason: "As many callers as Crossplane has by default, with text of 900 KiB.", callers: callers, calls: 150, req: newRequest("memory", 900<<10)},
		"LargestRequests": {reason: "Requests of the largest size, filled by other functions of the pipeline.", callers: 16, calls: 40, req: sized(16 << 20)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := start(t, large)
			l := startLoad(t, dial(t, r.address, insecure.NewCredentials()), tc.callers, tc.req)
			peak := 0.0
			eventually(t, fmt.Sprintf("%d calls", tc.calls), func() bool {
				peak = max(peak, r.metric(t, "process_resident_memory_bytes"))
				return t.Failed() || l.calls.Load() >= tc.calls
			})
			t.Logf("peak of resident memory: %.0f MiB", peak/(1<<20))
			if peak > memoryBound {
				t.Errorf("%s\nresident memory: want at most %d MiB, got %.0f MiB", tc.reason, memoryBound>>20, peak/(1<<20))
			}
		})
	}
}
