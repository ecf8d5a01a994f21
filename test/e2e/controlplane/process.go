package controlplane

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A launcher starts child processes, all from one OS thread that runs as long as the
// launcher. Linux kills a child that has Pdeathsig when the thread that has forked it
// exits, and the Go runtime can stop a thread at any time.
type launcher struct {
	starts chan func()
}

func newLauncher() *launcher {
	l := &launcher{starts: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for start := range l.starts {
			start()
		}
	}()

	return l
}

func (l *launcher) start(cmd *exec.Cmd) error {
	err := make(chan error)
	l.starts <- func() { err <- cmd.Start() }

	return <-err
}

// A process is a component of the control plane. Its output is appended to a log file,
// and it can be started again after it has exited.
type process struct {
	name, path, log string
	args, env       []string

	launcher *launcher

	mu     sync.Mutex
	cmd    *exec.Cmd
	exited chan struct{}
}

// start starts the process. Its output is appended to the log, so one log has the
// output of all runs of a component.
func (p *process) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()

	if err := os.MkdirAll(filepath.Dir(p.log), 0o750); err != nil {
		return fmt.Errorf("cannot start %s: %w", p.name, err)
	}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("cannot start %s: %w", p.name, err)
	}
	defer log.Close() //nolint:errcheck // The child has its own descriptor.

	cmd := exec.Command(p.path, p.args...)
	cmd.Env = append(os.Environ(), p.env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = ownGroup()
	if err := p.launcher.start(cmd); err != nil {
		return fmt.Errorf("cannot start %s: %w", p.name, err)
	}

	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait() // The log has the cause.
		close(exited)
	}()
	p.cmd, p.exited = cmd, exited

	return nil
}

// running returns a channel that is closed when the process has exited, and its process
// ID. If the process was never started, the ID is 0.
func (p *process) running() (exited <-chan struct{}, pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		exited := make(chan struct{})
		close(exited)

		return exited, 0
	}

	return p.exited, p.cmd.Process.Pid
}

// kill kills the process and its children with SIGKILL.
func (p *process) kill() {
	exited, pid := p.running()
	if pid == 0 {
		return
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL) // It may have exited.
	<-exited
}

// stop stops the process with SIGTERM, and kills it after the grace period or when the
// context is done.
func (p *process) stop(ctx context.Context, grace time.Duration) {
	exited, pid := p.running()
	if pid == 0 {
		return
	}
	_ = syscall.Kill(-pid, syscall.SIGTERM) // It may have exited.
	select {
	case <-exited:
	case <-ctx.Done():
	case <-time.After(grace):
	}
	p.kill()
}

// ready waits until probe succeeds. It returns an error if the process exits first.
func (p *process) ready(ctx context.Context, timeout time.Duration, probe func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	exited, _ := p.running()
	for {
		err := probe(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-exited:
			return fmt.Errorf("%s exited: %s", p.name, p.tail())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready after %s: %w: %s", p.name, timeout, err, p.tail())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// dial returns a probe that succeeds when a process listens on an address.
func dial(network, address string) func(context.Context) error {
	return func(ctx context.Context) error {
		c, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err != nil {
			return err
		}

		return c.Close()
	}
}

// run runs the process until it exits.
func (p *process) run(ctx context.Context) error {
	if err := p.start(); err != nil {
		return err
	}
	exited, _ := p.running()
	select {
	case <-exited:
	case <-ctx.Done():
		p.kill()
		return fmt.Errorf("cannot run %s: %w", p.name, ctx.Err())
	}
	if !p.cmd.ProcessState.Success() {
		return fmt.Errorf("cannot run %s: %s: %s", p.name, p.cmd.ProcessState, p.tail())
	}

	return nil
}

// Run runs a program until the context is done. Its output is appended to a log.
func Run(ctx context.Context, path, log string, args ...string) error {
	p := &process{name: filepath.Base(path), path: path, args: args, log: log, launcher: newLauncher()}
	if err := p.start(); err != nil {
		return err
	}
	context.AfterFunc(ctx, func() {
		p.kill()
		close(p.launcher.starts)
	})

	return nil
}

// tail returns the last lines of the log, and its path.
func (p *process) tail() string {
	log, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	if len(lines) > 10 {
		lines = lines[len(lines)-10:]
	}

	return fmt.Sprintf("the log %s ends with\n%s", p.log, strings.Join(lines, "\n"))
}
