// Package pod runs a pod of one container as a kubelet with containerd does: with
// runc, in namespaces and a cgroup of its own. In place of the image there is a
// folder, and in place of the cluster what the caller passes.
//
// What it cannot run as a kubelet does, it refuses, so that a pod that runs here
// has been run as it stands.
package pod

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// address is one of the pod, and not the one that "localhost" stands for: a server
// must listen on all of them to be reached by a kubelet or a Service.
const address = "127.0.0.2"

// A Cluster is what a kubelet finds around a pod.
type Cluster struct {
	// Image is the folder with the files of the image.
	Image string

	// State is a folder for the state of runc. Containers that are left behind
	// are found in it.
	State string

	// ConfigMaps of the namespace, by name.
	ConfigMaps map[string]*corev1.ConfigMap

	// Services of the namespace.
	Services []corev1.Service

	// Sysctls of the network of the pod.
	Sysctls map[string]string

	// NoIPv6 makes the kernel one that was booted with ipv6.disable=1.
	NoIPv6 bool
}

// A Pod that was started.
type Pod struct {
	spec    corev1.PodSpec
	cluster Cluster
	id      string
	// dir holds the bundle of runc and the volumes.
	dir  string
	pid  int
	log  buffer
	done chan struct{}
	code int
}

// Start starts a pod. Its files are made below the given folder.
func Start(c Cluster, dir string, spec corev1.PodSpec) (*Pod, error) {
	if err := supported(spec); err != nil {
		return nil, err
	}
	p := &Pod{spec: spec, cluster: c, dir: dir, id: "viewer-" + filepath.Base(dir) + "-" + strconv.Itoa(os.Getpid()), done: make(chan struct{})}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for _, v := range spec.Volumes {
		if err := p.makeVolume(v); err != nil {
			return nil, fmt.Errorf("cannot make volume %q: %w", v.Name, err)
		}
	}
	hosts := fmt.Sprintf("127.0.0.1\tlocalhost\n%s\t%s\n", address, p.id)
	if err := os.WriteFile(p.hosts(), []byte(hosts), 0o644); err != nil {
		return nil, fmt.Errorf("cannot write hosts: %w", err)
	}
	config, err := p.config()
	if err != nil {
		return nil, err
	}
	j, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), j, 0o600); err != nil {
		return nil, err
	}

	return p, p.run()
}

// run starts the container and waits until it has a process.
func (p *Pod) run() error {
	pidFile := filepath.Join(p.dir, "pid")
	cmd := p.runc("run", "--bundle", p.dir, "--pid-file", pidFile, p.id)
	cmd.Stdout, cmd.Stderr = &p.log, &p.log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("cannot start runc: %w", err)
	}
	go func() {
		defer close(p.done)
		_ = cmd.Wait()
		p.code = cmd.ProcessState.ExitCode()
	}()

	for exited := false; ; {
		// runc writes the file at once, before the process runs.
		if b, err := os.ReadFile(pidFile); err == nil {
			p.pid, err = strconv.Atoi(string(b))
			return err
		}
		if exited {
			return fmt.Errorf("cannot start the container: %s", p.Log())
		}
		select {
		case <-p.done:
			exited = true
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (p *Pod) hosts() string { return filepath.Join(p.dir, "hosts") }

func (p *Pod) runc(args ...string) *exec.Cmd {
	return exec.Command("runc", append([]string{"--root", p.cluster.State}, args...)...)
}

// Kill ends the pod at once.
func (p *Pod) Kill() {
	_ = p.runc("delete", "--force", p.id).Run()
	<-p.done
}

// Stop ends the pod as a kubelet does: SIGTERM, and SIGKILL once the grace period
// is over.
func (p *Pod) Stop() error {
	if out, err := p.runc("kill", p.id, "TERM").CombinedOutput(); err != nil {
		return fmt.Errorf("cannot send SIGTERM: %w: %s", err, out)
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(time.Duration(*p.spec.TerminationGracePeriodSeconds) * time.Second):
	}
	if out, err := p.runc("kill", p.id, "KILL").CombinedOutput(); err != nil {
		return fmt.Errorf("cannot send SIGKILL: %w: %s", err, out)
	}
	<-p.done

	return nil
}

// Exited is closed when the container has exited.
func (p *Pod) Exited() <-chan struct{} { return p.done }

// ExitCode of the container, which must have exited.
func (p *Pod) ExitCode() int { return p.code }

// Log is what the container has written so far.
func (p *Pod) Log() string { return p.log.String() }

// Proc returns the content of a file that the kernel keeps of the process.
func (p *Pod) Proc(file string) (string, error) {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.pid), file))
	return string(b), err
}

// PeakMemory returns the most bytes that the process ever had in memory.
func (p *Pod) PeakMemory() (int64, error) {
	status, err := p.Proc("status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(status) {
		if kib, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(kib), " kB"), 10, 64)
			return n << 10, err
		}
	}

	return 0, errors.New("cannot find VmHWM")
}

// URL of the named port of the pod. It is good for Client only.
func (p *Pod) URL(port string) (string, error) {
	for _, c := range p.spec.Containers[0].Ports {
		if c.Name == port {
			return "http://" + net.JoinHostPort(address, strconv.Itoa(int(c.ContainerPort))), nil
		}
	}

	return "", fmt.Errorf("cannot find port %q", port)
}

// Client returns a client in the network of the pod.
func (p *Pod) Client() *http.Client {
	return &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DialContext: p.dial}}
}

func (p *Pod) dial(ctx context.Context, network, address string) (net.Conn, error) {
	return dialIn(ctx, filepath.Join("/proc", strconv.Itoa(p.pid), "ns/net"), network, address)
}

// buffer may be read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.b.String()
}
