package controlplane

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// Ports below those that the kernel uses for outgoing connections (32768 and up on
// Linux), so a free port stays free until its component listens on it.
const (
	firstPort = 20000
	lastPort  = 32000
)

// FreePort returns a random free port of loopback.
func FreePort() (int, error) {
	for range 100 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		l, err := net.Listen("tcp", address(port))
		if err != nil {
			continue
		}

		return port, l.Close()
	}

	return 0, fmt.Errorf("cannot find a free port between %d and %d", firstPort, lastPort)
}

// freePorts sets each of the ports to a free one.
func freePorts(ports ...*int) error {
	for _, p := range ports {
		port, err := FreePort()
		if err != nil {
			return err
		}
		*p = port
	}

	return nil
}

func address(port int) string {
	return fmt.Sprintf("127.0.0.1:%d", port)
}
