// Command controlplane runs a control plane with the packages of this repository, to
// try them out.
//
//	controlplane up REPOSITORY    starts one in the background and prints how to use it
//	controlplane down REPOSITORY  stops it
//	controlplane run REPOSITORY   runs one until SIGTERM
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/crossplane-contrib/function-markdownview/test/e2e/controlplane"
)

// A command manages the control plane of a repository.
type command struct {
	root string
	dir  string
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "controlplane: error: %s\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: controlplane up|down|run REPOSITORY")
	}
	root, err := filepath.Abs(args[1])
	if err != nil {
		return fmt.Errorf("cannot find repository: %w", err)
	}
	c := &command{root: root, dir: filepath.Join(root, ".run", "up")}

	switch args[0] {
	case "up":
		return c.up()
	case "down":
		return c.down()
	case "run":
		return c.run()
	default:
		return fmt.Errorf("unknown command %q: use up, down or run", args[0])
	}
}

// up runs this program again in the background and waits until the control plane is
// ready or the program has exited.
func (c *command) up() error {
	if _, runs := c.pid(); runs {
		return fmt.Errorf("a control plane is already running: stop it with down")
	}
	if err := errors.Join(os.RemoveAll(c.dir), os.MkdirAll(c.dir, 0o750)); err != nil {
		return fmt.Errorf("cannot empty run folder: %w", err)
	}
	log, err := os.Create(c.path("controlplane.log"))
	if err != nil {
		return fmt.Errorf("cannot create log: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find this program: %w", err)
	}
	cmd := exec.Command(self, "run", c.root)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("cannot start control plane: %w", err)
	}

	fmt.Printf("Starting the cluster. The logs are in %s.\n", c.path("logs"))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	for {
		select {
		case err := <-exited:
			text, _ := os.ReadFile(log.Name())
			return fmt.Errorf("cannot start control plane: %w: %s", err, text)
		case <-ctx.Done():
			_ = cmd.Process.Signal(syscall.SIGTERM)
			<-exited //nolint:errcheck // It was stopped.

			return fmt.Errorf("cannot start control plane: interrupted")
		case <-time.After(100 * time.Millisecond):
			if text, err := os.ReadFile(c.path("ready")); err == nil {
				fmt.Print(string(text))
				return nil
			}
		}
	}
}

// down stops the control plane that up has started, and waits until it has exited.
func (c *command) down() error {
	pid, runs := c.pid()
	if !runs {
		return fmt.Errorf("no control plane is running in %s", c.dir)
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return fmt.Errorf("cannot stop control plane: %w", err)
	}
	for range 300 {
		if _, runs := c.pid(); !runs {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}

	return fmt.Errorf("cannot stop control plane: process %d is still running", pid)
}

// run runs a control plane until a signal arrives.
func (c *command) run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if !controlplane.Isolated() {
		lock, err := c.lock()
		if err != nil {
			return fmt.Errorf("cannot lock run folder: %w", err)
		}
		defer lock.Close() //nolint:errcheck // The lock is released when the process exits.
	}

	o := controlplane.OptionsFor(c.root, c.dir)
	var api, book net.Listener
	if o.RealNode() {
		listeners, err := controlplane.Isolate(2)
		if err != nil {
			return err
		}
		api, book = listeners[0], listeners[1]
		o.Port = api.Addr().(*net.TCPAddr).Port
	}
	cp, err := controlplane.Start(ctx, o)
	if err != nil {
		return err
	}
	defer cp.Stop()
	if err := cp.Explain(ctx, cp.InstallOurs(ctx, o)); err != nil {
		return err
	}
	text := c.welcome(cp)
	if o.RealNode() {
		go controlplane.Forward(ctx, api, func(context.Context) (string, error) { return api.Addr().String(), nil })
		go controlplane.Forward(ctx, book, func(ctx context.Context) (string, error) {
			return cp.ServiceAddress(ctx, "default", "viewer-markdownview-sample")
		})
		if err := cp.Explain(ctx, c.sample(ctx, cp)); err != nil {
			return err
		}
		text += fmt.Sprintf("\nThe book of example/xr.yaml is at http://%s\n", book.Addr())
	} else {
		text += "\nPods are simulated, so no page is served. A real node needs root on Linux, and apt\nto download runc and mdBook from Debian.\n"
	}
	if err := os.WriteFile(c.path("ready"), []byte(text), 0o644); err != nil {
		return fmt.Errorf("cannot report that the control plane is ready: %w", err)
	}
	<-ctx.Done()

	return nil
}

// sample applies the example, and waits until it is ready.
func (c *command) sample(ctx context.Context, cp *controlplane.ControlPlane) error {
	kubectl := func(args ...string) error {
		_, err := controlplane.Command(ctx, cp.Kubeconfig, filepath.Join(c.root, ".bin", "kubectl"), args...)
		return err
	}
	// The API server serves the API before its schema.
	if err := controlplane.Eventually(ctx, time.Minute, func(context.Context) error {
		return kubectl("apply", "--filename="+filepath.Join(c.root, "example", "xr.yaml"))
	}); err != nil {
		return err
	}

	return kubectl("wait", "markdownview", "markdownview-sample", "--for=condition=Ready", "--timeout=2m")
}

func (c *command) welcome(cp *controlplane.ControlPlane) string {
	return fmt.Sprintf(`The control plane is running. Its logs are in %s.

export KUBECONFIG=%s PATH=%s:$PATH

Commands to try:
  kubectl apply -f example/xr.yaml
  kubectl get markdownviews -w
  crossplane resource trace markdownview markdownview-sample
`, cp.Logs, cp.Kubeconfig, filepath.Join(c.root, ".bin"))
}

func (c *command) path(name string) string { return filepath.Join(c.dir, name) }

// lock locks the run folder while this process runs. The lock file contains the process
// ID.
func (c *command) lock() (*os.File, error) {
	f, err := os.OpenFile(c.path("lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, err
	}
	_, err = fmt.Fprint(f, os.Getpid())

	return f, err
}

// pid returns the ID of the process that holds the lock, if there is one.
func (c *command) pid() (pid int, runs bool) {
	f, err := os.Open(c.path("lock"))
	if err != nil {
		return 0, false
	}
	defer f.Close() //nolint:errcheck // Only read.
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err == nil {
		return 0, false
	}
	_, err = fmt.Fscan(f, &pid)

	return pid, err == nil
}
