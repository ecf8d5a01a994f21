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

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/crossplane-contrib/function-markdownview/test/e2e/controlplane"
)

// A machine runs the function and Crossplane, and can kill them.
type machine interface {
	// FunctionMetrics returns the metrics of each process of the function, in the
	// Prometheus text format.
	FunctionMetrics(ctx context.Context) ([]string, error)

	// KillFunction kills the function, which is then restarted.
	KillFunction(ctx context.Context) error

	// KillCrossplane kills Crossplane, which is then restarted.
	KillCrossplane(ctx context.Context) error
}

// A cluster is the cluster that the tests use.
type cluster struct {
	client.WithWatch
	machine

	controlplane.Options
	controlplane.Installer

	// loopback is the control plane that the tests have started, or nil.
	loopback *controlplane.ControlPlane
	// realPods is false if pods are simulated.
	realPods bool

	kubeconfig, logs string

	// patience is how long a test waits for an expected state. It is long, so tests do
	// not fail on a busy machine.
	patience time.Duration

	// The names of two other functions: the fixture, whose response is in its Input, and
	// function-auto-ready.
	fixture, autoReady string
}

// start starts a control plane, or connects to the cluster of E2E_KUBECONFIG. Such a
// cluster must have Crossplane, the packages of this repository, and an ImageConfig
// named mirror: the tests push more functions to the registry that it names.
func start(t *testing.T) *cluster {
	t.Helper()
	log.SetLogger(logr.Discard()) // Otherwise controller-runtime prints a warning.
	root, err := filepath.Abs("../..")
	must(t, err)
	dir := filepath.Join(root, ".run", "e2e-"+time.Now().Format("150405.000"))
	must(t, os.MkdirAll(dir, 0o750))
	t.Cleanup(func() {
		// The logs of a failed test are kept.
		if !t.Failed() {
			_ = os.RemoveAll(dir)
		}
	})
	must(t, gatewayv1.Install(scheme.Scheme))
	c := &cluster{Options: controlplane.OptionsFor(root, dir)}
	if kubeconfig := os.Getenv("E2E_KUBECONFIG"); kubeconfig != "" {
		c.attach(t, kubeconfig)
	} else {
		c.up(t)
	}
	c.fixture = c.install(t, "function-fixture")
	c.autoReady = c.install(t, "function-auto-ready")

	return c
}

// up starts a control plane, and stops it after the test.
func (c *cluster) up(t *testing.T) {
	t.Helper()
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if c.RealNode() {
		c.trap(t)
	}
	cp, err := controlplane.Start(ctx, c.Options)
	must(t, err)
	t.Cleanup(cp.Stop)
	stopOnSignal(cp)
	if err := cp.Explain(ctx, cp.InstallOurs(ctx, c.Options)); err != nil {
		t.Fatalf("%s; logs: %s", err, cp.Logs)
	}
	c.WithWatch, c.machine, c.Installer, c.loopback = cp.Client, cp, cp.Installer, cp
	c.kubeconfig, c.logs, c.patience = cp.Kubeconfig, cp.Logs, time.Minute
	if c.RealNode() {
		c.machine, c.realPods, c.patience = newPods(t, cp.Config, cp.Client), true, 6*time.Minute
	}
}

// stopOnSignal stops the control plane when the tests are interrupted. By default the
// process would exit without cleanup.
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

// attach connects to an existing cluster. Its pods are real, so everything takes
// longer.
func (c *cluster) attach(t *testing.T, kubeconfig string) {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	must(t, err)
	cfg.QPS = -1
	c.WithWatch, err = client.NewWithWatch(cfg, client.Options{})
	must(t, err)
	mirror := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "pkg.crossplane.io/v1beta1", "kind": "ImageConfig"}}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "mirror"}, mirror); err != nil {
		t.Fatalf("cannot find the registry of the cluster: %s", err)
	}
	registry, _, _ := unstructured.NestedString(mirror.Object, "spec", "rewriteImage", "prefix")
	c.Installer = controlplane.Installer{
		Client:     c.WithWatch,
		Kubeconfig: kubeconfig,
		CLI:        filepath.Join(c.Bin, "crossplane"),
		Registry:   registry,
		Dir:        c.Options.Dir,
	}
	c.machine, c.realPods, c.patience = newPods(t, cfg, c.WithWatch), true, 6*time.Minute
	c.kubeconfig, c.logs = kubeconfig, c.Options.Dir
}

// install builds and installs the package of a function from its binary, and returns
// its name.
func (c *cluster) install(t *testing.T, name string) string {
	t.Helper()
	p, err := c.BuildFunction(t.Context(), name, filepath.Join(c.Bin, name))
	must(t, err)
	if err := c.Install(t.Context(), p); err != nil {
		t.Fatalf("%s; logs: %s", err, c.logs)
	}

	return p.Name()
}

// run runs a tool as the administrator of the cluster.
func (c *cluster) run(tool string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*c.patience)
	defer cancel()

	return controlplane.Command(ctx, c.kubeconfig, filepath.Join(c.Bin, tool), args...)
}
