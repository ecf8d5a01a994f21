package controlplane

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Get returns the page at a URL, or an error unless the status is 200.
func Get(ctx context.Context, url string) (string, error) {
	return call(ctx, http.MethodGet, url, "")
}

func call(ctx context.Context, method, url, body string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	rsp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer rsp.Body.Close() //nolint:errcheck // Only read.
	b, err := io.ReadAll(rsp.Body)
	if err == nil && rsp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s returned %s", url, rsp.Status)
	}

	return string(b), err
}

// FunctionMetrics returns the metrics of each process of the function.
func (cp *ControlPlane) FunctionMetrics(ctx context.Context) ([]string, error) {
	var all []string
	for _, f := range cp.runtime.processes(FunctionName) {
		text, err := Get(ctx, "http://"+address(f.metrics)+"/metrics")
		if err != nil {
			return nil, fmt.Errorf("cannot read metrics of the function: %w", err)
		}
		all = append(all, text)
	}

	return all, nil
}

// KillFunction kills the processes of the function. The package runtime starts them
// again.
func (cp *ControlPlane) KillFunction(context.Context) error {
	fs := cp.runtime.processes(FunctionName)
	if len(fs) == 0 {
		return fmt.Errorf("cannot kill the function: it is not running")
	}
	for _, f := range fs {
		f.kill()
	}

	return nil
}

// KillCrossplane kills Crossplane and starts it again.
func (cp *ControlPlane) KillCrossplane(ctx context.Context) error {
	cp.crossplane.kill()
	return cp.runCrossplane(ctx)
}

// KillAPIServer kills the API server and starts it again.
func (cp *ControlPlane) KillAPIServer(ctx context.Context) error {
	cp.kube.apiserver.kill()
	if err := cp.kube.apiserver.start(); err != nil {
		return err
	}

	return cp.waitForAPIServer(ctx)
}
