package compose

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestPortOf checks which port serves the book if a template has changed the ports.
func TestPortOf(t *testing.T) {
	for want, ports := range map[int32][]corev1.ServicePort{
		80:   nil,
		8080: {{Name: "metrics", Port: 9090}, {Name: "http", Port: 8080}},
		9090: {{Name: "metrics", Port: 9090}, {Name: "admin", Port: 9091}},
	} {
		if got := PortOf(ports); got != want {
			t.Errorf("PortOf(%v): want %d, got %d", ports, want, got)
		}
	}
}
