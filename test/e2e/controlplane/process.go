package controlplane

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A launcher starts child processes, all from one OS thread that runs as long
// as the launcher. Linux kills a child with Pdeathsig when the thread that
// forked it ends, not the process, and Go ends threads when it likes.
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

// A process is a component of the control plane: a program whose output is
// kept in a log file, and that can be started again after it ended.
type process struct {
	name string
	path string
	args []string
	env  []string
	log  string

	launcher *launcher

	mu    sync.Mutex
	cmd   *exec.Cmd
	ended chan struct{}
}

// start the process. Its output is appended to the log, so that one log shows
// the whole story of a component that was restarted.
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

	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // How it ended is in its log.
		close(ended)
	}()
	p.cmd, p.ended = cmd, ended

	return nil
}

// running is a channel that is closed when the process has ended, and the
// process's id.
func (p *process) running() (ended <-chan struct{}, pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		never := make(chan struct{})
		close(never)

		return never, 0
	}

	return p.ended, p.cmd.Process.Pid
}

// kill the process and what it started, as kill -9 does.
func (p *process) kill() {
	ended, pid := p.running()
	if pid == 0 {
		return
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL) // Gone already is as good.
	<-ended
}

// stop the process: politely, and after grace, or when the context is done, by
// force.
func (p *process) stop(ctx context.Context, grace time.Duration) {
	ended, pid := p.running()
	if pid == 0 {
		return
	}
	_ = syscall.Kill(-pid, syscall.SIGTERM) // Gone already is as good.
	select {
	case <-ended:
	case <-ctx.Done():
	case <-time.After(grace):
	}
	p.kill()
}

// ready waits until probe succeeds. It gives up when the process ends first.
func (p *process) ready(ctx context.Context, timeout time.Duration, probe func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	ended, _ := p.running()
	for {
		err := probe(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ended:
			return fmt.Errorf("%s ended: %s", p.name, p.tail())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready after %s: %w: %s", p.name, timeout, err, p.tail())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// run the process to its end.
func (p *process) run(ctx context.Context) error {
	if err := p.start(); err != nil {
		return err
	}
	ended, _ := p.running()
	select {
	case <-ended:
	case <-ctx.Done():
		p.kill()
		return fmt.Errorf("cannot run %s: %w", p.name, ctx.Err())
	}
	if !p.cmd.ProcessState.Success() {
		return fmt.Errorf("cannot run %s: %s: %s", p.name, p.cmd.ProcessState, p.tail())
	}

	return nil
}

// Run a program until the context is done. Its output goes to a log.
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

// tail is the end of the log, and where the rest is.
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
