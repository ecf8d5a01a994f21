// Package controlplane starts a real Kubernetes control plane with Crossplane:
// etcd, kube-apiserver and kube-controller-manager, each a process of this
// machine, and a registry (registry.go).
//
// With a real node, pods run on kubelet and containerd, Crossplane and the
// functions among them (node_linux.go, pods.go), all of it in namespaces of their
// own (isolate_linux.go).
//
// Without one, Crossplane is a process of this machine as well, and two parts are
// simulated: a node whose pods become ready without running anything (kubelet.go),
// and Crossplane's package runtime, which runs each function's image as a process
// with mTLS (runtime.go).
package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Options of a control plane.
type Options struct {
	// Dir is the run folder: everything that the control plane writes.
	Dir string

	// Bin is the folder with the binaries of the components.
	Bin string

	// Tools is the folder with the modules that the binaries were built from.
	Tools string

	// Packages is the folder with the package files.
	Packages string

	// Debian is the folder with the packages that a real node takes from Debian. If
	// it is empty, pods are simulated.
	Debian string

	// MdBook is the root directory with the mdBook that a real node runs.
	MdBook string

	// Runtime is the file with what runs our function on a real node.
	Runtime string

	// Port of the API server, or 0 for any.
	Port int

	// FunctionArgs are arguments for the processes of our function, by the names that
	// Crossplane gives it. Each process serves metrics on a port of its own.
	FunctionArgs map[string][]string
}

// A ControlPlane that runs until it is stopped.
type ControlPlane struct {
	// Installer installs packages from the registry on loopback.
	Installer

	// Config is the administrator's.
	Config *rest.Config

	// Logs is the folder with the logs of all components.
	Logs string

	options  Options
	launcher *launcher
	started  []*process

	kube       kube
	crossplane *process
	rbac       *process
	runtime    *runtimes

	crossplaneMetrics int
	crossplaneHealth  int

	cancel context.CancelFunc
	stop   sync.Once
}

// Start a control plane. What was started is stopped again when it cannot be
// started as a whole.
func Start(ctx context.Context, o Options) (*ControlPlane, error) {
	cp := &ControlPlane{
		Installer: Installer{
			Kubeconfig: filepath.Join(o.Dir, "kubeconfig"),
			CLI:        filepath.Join(o.Bin, "crossplane"),
			Dir:        o.Dir,
		},
		Logs:     filepath.Join(o.Dir, "logs"),
		options:  o,
		launcher: newLauncher(),
	}
	background, cancel := context.WithCancel(context.Background())
	cp.cancel = cancel

	if err := cp.start(ctx, background); err != nil {
		cp.Stop()
		return nil, err
	}

	return cp, nil
}

func (cp *ControlPlane) start(ctx, background context.Context) error {
	if err := os.MkdirAll(cp.Logs, 0o750); err != nil {
		return fmt.Errorf("cannot make folder of logs: %w", err)
	}
	if cp.options.RealNode() {
		if err := prepareMachine(cp.options); err != nil {
			return err
		}
	}
	if err := cp.startKube(ctx); err != nil {
		return err
	}
	cp.Config = cp.kube.admin
	c, err := client.NewWithWatch(cp.Config, client.Options{})
	if err != nil {
		return fmt.Errorf("cannot make client: %w", err)
	}
	cp.Client = c

	if cp.Registry, err = startRegistry(background, cp.ip()); err != nil {
		return err
	}
	if cp.options.RealNode() {
		return cp.startPods(ctx)
	}
	if err := cp.startKubelet(ctx, background); err != nil {
		return err
	}
	if err := cp.startCrossplane(ctx); err != nil {
		return err
	}

	return cp.startRuntime(background)
}

// ip that the API server and the registry listen on.
func (cp *ControlPlane) ip() string {
	if cp.options.RealNode() {
		return nodeIP
	}

	return "127.0.0.1"
}

// Stop every process, those that the others need last. A second call, as when a
// run is interrupted while it ends, waits for the first.
func (cp *ControlPlane) Stop() {
	cp.stop.Do(cp.stopAll)
}

func (cp *ControlPlane) stopAll() {
	cp.cancel()
	if cp.runtime != nil {
		cp.runtime.stop()
	}
	for i := len(cp.started) - 1; i >= 0; i-- {
		cp.started[i].stop(context.Background(), 3*time.Second)
	}
	close(cp.launcher.starts)
}

// path of a file in the run folder.
func (cp *ControlPlane) path(name string) string {
	return filepath.Join(cp.options.Dir, name)
}

func (cp *ControlPlane) tool(name string) string {
	return filepath.Join(cp.options.Bin, name)
}

// process that is stopped with the control plane.
func (cp *ControlPlane) process(name, path string, args ...string) *process {
	p := &process{name: name, path: path, args: args, log: filepath.Join(cp.Logs, name+".log"), launcher: cp.launcher}
	cp.started = append(cp.started, p)

	return p
}

// Eventually calls f until it returns nil. After timeout it returns what f
// returned last.
func Eventually(ctx context.Context, timeout time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	var last error
	for {
		err := f(ctx)
		if err == nil {
			return nil
		}
		// A call that was cut short by the timeout adds nothing.
		if last == nil || !errors.Is(err, context.DeadlineExceeded) {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not within %s: %w", timeout, last)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
