package pod

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// dialIn connects from within a network namespace. The thread that enters it is
// not unlocked, and so ends with the goroutine and serves no other.
func dialIn(ctx context.Context, namespace, network, address string) (net.Conn, error) {
	type result struct {
		conn net.Conn
		err  error
	}
	results := make(chan result, 1)
	go func() {
		runtime.LockOSThread()
		if err := enter(namespace); err != nil {
			results <- result{err: err}
			return
		}
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		results <- result{conn: conn, err: err}
	}()
	r := <-results

	return r.conn, r.err
}

func enter(namespace string) error {
	f, err := os.Open(namespace)
	if err != nil {
		return fmt.Errorf("cannot open network namespace: %w", err)
	}
	defer func() { _ = f.Close() }()
	if err := unix.Setns(int(f.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("cannot enter network namespace: %w", err)
	}

	return nil
}
