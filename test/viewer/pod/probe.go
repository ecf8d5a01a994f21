package pod

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Await probes as often as a kubelet does, until the probe succeeds. It returns
// how long that took, and an error where a kubelet would restart the container.
func (p *Pod) Await(probe *corev1.Probe) (time.Duration, error) {
	start := time.Now()
	var err error
	for range probe.FailureThreshold {
		if err = p.Probe(probe); err == nil {
			return time.Since(start), nil
		}
		select {
		case <-p.done:
			return 0, fmt.Errorf("exit code %d: %s", p.code, p.Log())
		case <-time.After(time.Duration(probe.PeriodSeconds) * time.Second):
		}
	}

	return 0, err
}

// Probe probes once.
func (p *Pod) Probe(probe *corev1.Probe) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(max(probe.TimeoutSeconds, 1))*time.Second)
	defer cancel()
	switch {
	case probe.TCPSocket != nil:
		return p.probeTCP(ctx, probe.TCPSocket)
	case probe.HTTPGet != nil:
		return p.probeHTTP(ctx, probe.HTTPGet)
	default:
		return errors.New("cannot probe otherwise than by tcpSocket and httpGet")
	}
}

func (p *Pod) probeTCP(ctx context.Context, action *corev1.TCPSocketAction) error {
	base, err := p.URL(action.Port.StrVal)
	if err != nil {
		return err
	}
	u, err := url.Parse(base)
	if err != nil {
		return err
	}
	conn, err := p.dial(ctx, "tcp", u.Host)
	if err != nil {
		return err
	}

	return conn.Close()
}

// A kubelet takes any code from 200 to 399 for a success.
func (p *Pod) probeHTTP(ctx context.Context, action *corev1.HTTPGetAction) error {
	base, err := p.URL(action.Port.StrVal)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+action.Path, nil)
	if err != nil {
		return err
	}
	resp, err := (&http.Transport{DialContext: p.dial, DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode < 200 || resp.StatusCode >= 400 {
		return fmt.Errorf("cannot get %s: %s", action.Path, resp.Status)
	}

	return nil
}
