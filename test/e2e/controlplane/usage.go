package controlplane

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/procfs"
)

// Usage is the usage of a process since its start.
type Usage struct {
	CPU time.Duration

	// Memory is the maximum resident memory, in bytes.
	Memory int64
}

// Usage returns the usage of each component by its name. It requires Linux and simulated
// pods.
func (cp *ControlPlane) Usage() (map[string]Usage, error) {
	processes := map[string]*process{
		"Crossplane":              cp.crossplane,
		"kube-apiserver":          cp.kube.apiserver,
		"etcd":                    cp.kube.etcd,
		"kube-controller-manager": cp.kube.controller,
	}
	for _, f := range cp.runtime.processes(FunctionName) {
		processes["function"] = f.process
	}
	all := map[string]Usage{}
	for name, p := range processes {
		u, err := p.usage()
		if err != nil {
			return nil, fmt.Errorf("cannot read the usage of %s: %w", name, err)
		}
		all[name] = u
	}

	return all, nil
}

// usage reads the usage of the process from proc(5).
func (p *process) usage() (Usage, error) {
	_, pid := p.running()
	proc, err := procfs.NewProc(pid)
	if err != nil {
		return Usage{}, err
	}
	stat, err := proc.Stat()
	if err != nil {
		return Usage{}, err
	}
	status, err := proc.NewStatus()

	return Usage{CPU: time.Duration(stat.CPUTime() * float64(time.Second)), Memory: int64(status.VmHWM)}, err
}

// DatabaseSize returns the size of the file of etcd's database, in bytes.
func (cp *ControlPlane) DatabaseSize(ctx context.Context) (int64, error) {
	s, err := cp.etcdStatus(ctx)
	return s.DBSize, err
}

// CompactDatabase removes earlier revisions and then free pages from etcd's database.
func (cp *ControlPlane) CompactDatabase(ctx context.Context) error {
	s, err := cp.etcdStatus(ctx)
	if err != nil {
		return err
	}
	compaction := map[string]any{"revision": s.Header.Revision, "physical": true}
	if err := cp.callEtcd(ctx, "kv/compaction", compaction, &struct{}{}); err != nil {
		return err
	}

	return cp.callEtcd(ctx, "maintenance/defragment", struct{}{}, &struct{}{})
}

type etcdStatus struct {
	Header struct {
		Revision int64 `json:"revision,string"`
	} `json:"header"`
	DBSize int64 `json:"dbSize,string"`
}

func (cp *ControlPlane) etcdStatus(ctx context.Context) (etcdStatus, error) {
	s := etcdStatus{}
	return s, cp.callEtcd(ctx, "maintenance/status", struct{}{}, &s)
}

// callEtcd calls the gRPC gateway of etcd.
func (cp *ControlPlane) callEtcd(ctx context.Context, method string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("cannot call etcd: %w", err)
	}
	text, err := call(ctx, http.MethodPost, cp.kube.etcdURL+"/v3/"+method, string(body))
	if err != nil {
		return fmt.Errorf("cannot call etcd: %w", err)
	}
	if err := json.Unmarshal([]byte(text), out); err != nil {
		return fmt.Errorf("cannot read the response of etcd: %s: %w", method, err)
	}

	return nil
}
