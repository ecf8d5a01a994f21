package e2e

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/function-markdownview/test/e2e/controlplane"
)

// A machine is what runs the function and Crossplane, and can make them fail.
type machine interface {
	// FunctionMetrics are the metrics of the function, in the format of
	// Prometheus, of each of its processes.
	FunctionMetrics(ctx context.Context) ([]string, error)

	// KillFunction kills the function, which is started again by whoever runs
	// it.
	KillFunction(ctx context.Context) error

	// KillCrossplane kills Crossplane, which is then started again.
	KillCrossplane(ctx context.Context) error
}

// A cluster that tests run on.
type cluster struct {
	client.WithWatch
	machine

	// loopback is the cluster if it is one of ours.
	loopback *controlplane.ControlPlane

	kubeconfig string
	bin        string
	logs       string

	// The names of two other functions: one that does what its Input says, and
	// function-auto-ready.
	fixture   string
	autoReady string
}

// start a control plane of our own, or take the one that E2E_KUBECONFIG names.
// That must have Crossplane and our packages installed.
func start(t *testing.T) *cluster {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(root, ".bin")
	if kubeconfig := os.Getenv("E2E_KUBECONFIG"); kubeconfig != "" {
		return attach(t, kubeconfig, bin)
	}

	runs := filepath.Join(root, ".run")
	if err := os.MkdirAll(runs, 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(runs, "e2e-"+time.Now().Format("150405-"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cp, err := controlplane.Start(ctx, controlplane.OptionsFor(root, dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cp.Stop)
	stopOnSignal(cp)
	if err := cp.InstallOurs(ctx); err != nil {
		t.Fatal(err)
	}
	c := &cluster{WithWatch: cp.Client, machine: cp, loopback: cp, kubeconfig: cp.Kubeconfig, bin: bin, logs: cp.Logs}
	c.fixture = c.install(t, "function-fixture")
	c.autoReady = c.install(t, "function-auto-ready")
	return c
}

// install a function that is there as a binary only, and return its name.
func (c *cluster) install(t *testing.T, name string) string {
	t.Helper()
	p, err := c.loopback.BuildFunction(t.Context(), name, filepath.Join(c.bin, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.loopback.Install(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	return p.Name()
}

// stopOnSignal stops the control plane when the tests are interrupted. Without
// it they would end before their cleanup.
func stopOnSignal(cp *controlplane.ControlPlane) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := <-c
		fmt.Fprintf(os.Stderr, "%s: stopping the control plane\n", s)
		cp.Stop()
		os.Exit(1)
	}()
}

func attach(t *testing.T, kubeconfig, bin string) *cluster {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	cfg.QPS = -1
	c, err := client.NewWithWatch(cfg, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &cluster{WithWatch: c, machine: newPods(t, cfg, c), kubeconfig: kubeconfig, bin: bin, logs: "those of the pods in crossplane-system"}
}

// run a tool as the administrator of the cluster.
func (c *cluster) run(tool string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	return controlplane.Command(ctx, c.kubeconfig, filepath.Join(c.bin, tool), args...)
}
