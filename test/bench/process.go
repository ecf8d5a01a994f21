package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
)

// A process is a running candidate.
type process struct {
	name    string
	cmd     *exec.Cmd
	conn    *grpc.ClientConn
	request []byte // The request of measured calls.
}

// start starts a function on a free port of loopback and waits until it listens.
func start(ctx context.Context, name, binary string, args []string, logs string) (*process, error) {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot find a free port: %w", err)
	}
	address := lis.Addr().String()
	lis.Close() //nolint:errcheck // It only reserved the port.

	p := &process{name: name}
	log, err := os.Create(filepath.Join(logs, name+".log"))
	if err != nil {
		return nil, fmt.Errorf("cannot open log: %w", err)
	}
	defer log.Close() //nolint:errcheck // The process has its own descriptor.

	p.cmd = exec.Command(binary, append([]string{"--insecure", "--address=" + address, "--max-recv-message-size=16"}, args...)...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	// If the benchmark is killed, the kernel kills the process too.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", binary, err)
	}

	p.conn, err = grpc.NewClient("passthrough:///"+address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(bytesCodec{}), grpc.MaxCallRecvMsgSize(16<<20), grpc.WaitForReady(true)))
	if err != nil {
		p.stop()
		return nil, fmt.Errorf("cannot create client: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			c.Close() //nolint:errcheck // It only checked that the process listens.
			return p, nil
		}
		if ctx.Err() != nil {
			p.stop()
			output, _ := os.ReadFile(log.Name())

			return nil, fmt.Errorf("cannot reach %s: %w\n%s", name, err, output)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (p *process) stop() {
	if p.conn != nil {
		p.conn.Close() //nolint:errcheck // The process stops anyway.
	}
	p.cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // It may have exited.
	p.cmd.Wait()                          //nolint:errcheck // It was stopped on purpose.
}

// cpu returns the CPU time of the process in user mode and in the kernel, to the
// nanosecond.
func (p *process) cpu() (time.Duration, error) {
	// The CPU clock of another process, as clock_getcpuclockid computes its number:
	// CPUCLOCK_SCHED is 2.
	clock := int32(^p.cmd.Process.Pid<<3 | 2)
	t := unix.Timespec{}
	if err := unix.ClockGettime(clock, &t); err != nil {
		return 0, fmt.Errorf("cannot read CPU clock: %w", err)
	}

	return time.Duration(t.Nano()), nil
}

// forgetPeak resets the peak of resident memory in the kernel.
func (p *process) forgetPeak() error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte("5"), 0)
}

// peakRSS returns the peak of resident memory since forgetPeak, in KiB.
func (p *process) peakRSS() (float64, error) {
	proc, err := procfs.NewProc(p.cmd.Process.Pid)
	if err != nil {
		return 0, fmt.Errorf("cannot read memory: %w", err)
	}
	status, err := proc.NewStatus()

	return float64(status.VmHWM >> 10), err
}

// call sends the request. It stores the response in rsp, unless rsp is nil.
func (p *process) call(ctx context.Context, rsp *[]byte) error {
	if err := p.conn.Invoke(ctx, "/apiextensions.fn.proto.v1.FunctionRunnerService/RunFunction", p.request, rsp); err != nil {
		return fmt.Errorf("cannot call %s: %w", p.name, err)
	}

	return nil
}

// A bytesCodec passes encoded messages through. The caller then needs little CPU, which it
// shares with the measured function.
type bytesCodec struct{}

var _ encoding.CodecV2 = bytesCodec{}

// Name returns the name of the protobuf codec of gRPC, which functions use.
func (bytesCodec) Name() string { return "proto" }

func (bytesCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

func (bytesCodec) Unmarshal(data mem.BufferSlice, v any) error {
	if rsp := v.(*[]byte); rsp != nil {
		*rsp = data.Materialize()
	}

	return nil
}
