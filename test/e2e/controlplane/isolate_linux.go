package controlplane

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
)

const (
	// isolatedEnv is set inside of the namespaces.
	isolatedEnv = "E2E_ISOLATED"

	// cgroup is the cgroup of all pods. Each run uses the same name, so it removes the
	// cgroups that a killed run has left.
	cgroup = "function-markdownview-e2e"
)

// Isolate runs this program again in new network, mount and PID namespaces. In the program
// inside, it returns listeners on that many ports, on the loopback of the network
// namespace outside. In the program outside, it does not return: that program exits with
// the exit code of the one inside.
//
// When the program inside exits, or the one outside is killed, the kernel kills every
// process in the namespaces and removes their mounts, network interfaces and firewall
// rules.
func Isolate(ports int) ([]net.Listener, error) {
	if Isolated() {
		return inherited(ports)
	}
	code, err := isolate(ports)
	if err != nil {
		return nil, fmt.Errorf("cannot run in namespaces: %w", err)
	}
	os.Exit(code)

	return nil, nil
}

// Isolated returns whether this program runs in the namespaces of Isolate.
func Isolated() bool { return os.Getenv(isolatedEnv) != "" }

// inherited returns the listeners that the program outside has passed.
func inherited(n int) ([]net.Listener, error) {
	var ls []net.Listener
	for i := range n {
		f := os.NewFile(uintptr(3+i), "listener")
		l, err := net.FileListener(f)
		if err != nil {
			return nil, fmt.Errorf("cannot use listener: %w", err)
		}
		_ = f.Close() // The listener has its own descriptor.
		ls = append(ls, l)
	}

	return ls, nil
}

func isolate(ports int) (int, error) {
	lock, err := lockMachine()
	if err != nil {
		return 0, err
	}
	defer lock.Close() //nolint:errcheck // The lock is released when the process exits.
	removeCgroups()
	defer removeCgroups()

	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), isolatedEnv+"=true")
	for range ports {
		port, err := FreePort()
		if err != nil {
			return 0, err
		}
		l, err := net.Listen("tcp", address(port))
		if err != nil {
			return 0, err
		}
		f, err := l.(*net.TCPListener).File()
		if err != nil {
			return 0, err
		}
		_ = l.Close() // The file has its own descriptor.
		cmd.ExtraFiles = append(cmd.ExtraFiles, f)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID,
		Pdeathsig:  syscall.SIGKILL,
		Setpgid:    true,
	}

	// The kernel sends Pdeathsig when the thread that has started the process exits.
	runtime.LockOSThread()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s) // If this fails, it has exited.
		}
	}()
	err = cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	if code := cmd.ProcessState.ExitCode(); code >= 0 {
		return code, nil
	}

	return 1, nil // It was killed.
}

// lockMachine waits until no other real node runs on this machine: one machine is too
// slow for two.
func lockMachine() (*os.File, error) {
	lockFile := filepath.Join(os.TempDir(), cgroup+".lock")
	f, err := os.OpenFile(lockFile, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		return f, nil
	}
	fmt.Fprintf(os.Stderr, "Another real node is running on this machine. Waiting until it stops and unlocks %s.\n", lockFile)
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			return f, err
		}
	}
}

// cgroups returns the folders of the cgroup: one, or with cgroup v1 one for each
// controller.
func cgroups() []string {
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		return []string{filepath.Join("/sys/fs/cgroup", cgroup)}
	}
	all, _ := filepath.Glob("/sys/fs/cgroup/*/cgroup.procs") // The pattern is valid.
	for i := range all {
		all[i] = filepath.Join(filepath.Dir(all[i]), cgroup)
	}

	return all
}

// removeCgroups removes the cgroup and those of pods below it, which remain after the
// namespaces have ended.
func removeCgroups() {
	for _, root := range cgroups() {
		var dirs []string
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				dirs = append(dirs, path)
			}

			return nil
		})
		for _, dir := range slices.Backward(dirs) {
			_ = os.Remove(dir) // It has no processes, which would prevent this.
		}
	}
}
