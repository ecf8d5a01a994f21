// Package controlplane starts a real Kubernetes control plane with Crossplane: etcd,
// kube-apiserver and kube-controller-manager, each as a process, and a registry
// (registry.go).
//
// With a real node, kubelet and containerd run the pods, including those of Crossplane
// and the functions (node_linux.go, pods.go). All of it runs in Linux namespaces of its
// own (isolate_linux.go).
//
// Without a real node, Crossplane is a process as well, and two parts are simulated: a
// node whose pods become ready without running anything (kubelet.go), and Crossplane's
// package runtime, which runs each function's image as a process with mTLS
// (runtime.go).
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

// Options are the options of a control plane.
type Options struct {
	// Dir is the run folder, with all files that the control plane writes.
	Dir string

	// Bin is the folder with the binaries of the components.
	Bin string

	// Crossplane is the binary of Crossplane, and CrossplaneModule the folder of the Go
	// module from which it is built.
	Crossplane, CrossplaneModule string

	// Packages is the folder with the package files.
	Packages string

	// Debian is the folder with the Debian packages that a real node uses. If it is
	// empty, pods are simulated.
	Debian string

	// MdBook is the root directory of the image of mdBook on a real node.
	MdBook string

	// Runtime is the file with the DeploymentRuntimeConfig of the function on a real
	// node.
	Runtime string

	// Port is the port of the API server, or 0 for a random one.
	Port int

	// FunctionArgs are arguments for the processes of function-markdownview, by the
	// name of the Function. Each process serves metrics on a port of its own.
	FunctionArgs map[string][]string
}

// A ControlPlane is a control plane that runs until it is stopped.
type ControlPlane struct {
	// Installer installs packages from the registry on loopback.
	Installer

	// Config is the configuration of a client of the administrator.
	Config *rest.Config

	// Logs is the folder with the logs of all components.
	Logs string

	options  Options
	launcher *launcher
	started  []*process

	kube             kube
	crossplane, rbac *process
	runtime          *runtimes

	crossplaneMetrics, crossplaneHealth int

	cancel context.CancelFunc
	stop   sync.Once
}

// Start starts a control plane. If a component cannot be started, those that were
// started are stopped.
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
		return fmt.Errorf("cannot create folder of logs: %w", err)
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
		return fmt.Errorf("cannot create client: %w", err)
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

// ip returns the address that the API server and the registry listen on.
func (cp *ControlPlane) ip() string {
	if cp.options.RealNode() {
		return nodeIP
	}

	return "127.0.0.1"
}

// Stop stops every process, in the reverse order of their start. A second call, for
// example when a run is interrupted while it stops, waits for the first.
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

// path returns the path of a file in the run folder.
func (cp *ControlPlane) path(name string) string {
	return filepath.Join(cp.options.Dir, name)
}

func (cp *ControlPlane) tool(name string) string {
	return filepath.Join(cp.options.Bin, name)
}

// process returns a process that is stopped with the control plane.
func (cp *ControlPlane) process(name, path string, args ...string) *process {
	p := &process{name: name, path: path, args: args, log: filepath.Join(cp.Logs, name+".log"), launcher: cp.launcher}
	cp.started = append(cp.started, p)

	return p
}

// Eventually calls f until it returns nil. After timeout it returns the last error.
func Eventually(ctx context.Context, timeout time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	var last error
	for {
		err := f(ctx)
		if err == nil {
			return nil
		}
		// The error of a call that the timeout has interrupted hides the cause.
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
