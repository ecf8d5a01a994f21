package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// work is the folder with the files of the node, on a tmpfs in the mount namespace.
const work = "/run/node"

// prepareMachine prepares the mounts, the network and the cgroup of a node, inside of
// the namespaces. Files that are written to /run and /var go to a tmpfs, except those
// in the run folder. The files of Debian's packages appear in /usr.
func prepareMachine(o Options) error {
	if !Isolated() {
		return fmt.Errorf("cannot start node: it must run in the namespaces of Isolate")
	}
	dir, err := os.Open(o.Dir)
	if err != nil {
		return fmt.Errorf("cannot start node: %w", err)
	}
	defer dir.Close() //nolint:errcheck // Only a handle.

	upper, lower := filepath.Join(work, "var"), filepath.Join(work, "var.work")
	if err := all(
		func() error { return syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "") },
		func() error { return syscall.Mount("proc", "/proc", "proc", 0, "") },
		func() error {
			return syscall.Mount("overlay", "/usr", "overlay", 0, "lowerdir="+filepath.Join(o.Debian, "host", "usr")+":/usr")
		},
		func() error { return syscall.Mount("tmpfs", "/run", "tmpfs", 0, "mode=755") },
		func() error { return errors.Join(os.MkdirAll(upper, 0o755), os.MkdirAll(lower, 0o755)) },
		func() error {
			return syscall.Mount("overlay", "/var", "overlay", 0, "lowerdir=/var,upperdir="+upper+",workdir="+lower)
		},
		func() error {
			if !strings.HasPrefix(o.Dir, "/var/") && !strings.HasPrefix(o.Dir, "/run/") {
				return nil
			}
			if err := os.MkdirAll(o.Dir, 0o750); err != nil {
				return err
			}

			return syscall.Mount(fmt.Sprintf("/proc/self/fd/%d", dir.Fd()), o.Dir, "", syscall.MS_BIND, "")
		},
		network,
	); err != nil {
		return fmt.Errorf("cannot prepare machine for a node: %w", err)
	}
	for _, dir := range cgroups() {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("cannot create cgroup: %w", err)
		}
	}

	return nil
}

// network creates the bridge of pods, which has the address of the node, and the route
// to Services.
func network() error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	addr, err := netlink.ParseAddr(nodeIP + "/16")
	if err != nil {
		return err
	}
	_, services, err := net.ParseCIDR(serviceCIDR)
	if err != nil {
		return err
	}
	bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: bridgeName}}

	return all(
		func() error { return netlink.LinkSetUp(lo) },
		func() error { return netlink.LinkAdd(bridge) },
		func() error { return netlink.AddrAdd(bridge, addr) },
		func() error { return netlink.LinkSetUp(bridge) },
		// kube-proxy replaces the destination of packets to a Service, but the kernel looks
		// up a route before that.
		func() error { return netlink.RouteAdd(&netlink.Route{LinkIndex: bridge.Attrs().Index, Dst: services}) },
		func() error { return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o600) },
	)
}

// all calls functions until one fails.
func all(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}

	return nil
}

const (
	containerdSocket = "/run/containerd/containerd.sock"

	// nodePath is the PATH of the components of a node: the folders of the machine, with
	// Debian's packages over them. Programs elsewhere on the PATH of the machine, such as
	// those of Docker in /usr/local/bin, may not work with ours.
	nodePath = "/usr/sbin:/usr/bin"

	// The two plugins that are disabled use programs in /opt/containerd of the machine,
	// as NRI does in /opt/nri.
	containerdConfig = `version = 3
root = "` + work + `/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.image-verifier.v1.bindir", "io.containerd.internal.v1.opt"]

[grpc]
address = "` + containerdSocket + `"

[plugins."io.containerd.nri.v1.nri"]
disable = true

[plugins."io.containerd.cri.v1.images".pinned_images]
sandbox = "` + pauseImage + `"

[plugins."io.containerd.cri.v1.images".registry]
config_path = "` + work + `/registries"

[plugins."io.containerd.cri.v1.runtime"]
# Without CAP_SYS_RESOURCE, it cannot be lowered.
restrict_oom_score_adj = true

# Without paths, containerd uses the first shim on its PATH, such as that of Docker.
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
runtime_path = %q
options = {BinaryName = "/usr/sbin/runc"}

[plugins."io.containerd.cri.v1.runtime".cni]
bin_dirs = ["/usr/lib/cni"]
conf_dir = "` + work + `/cni"
`

	// The images of every registry are pulled from the local one.
	registryConfig = `[host."http://%s"]
capabilities = ["pull", "resolve"]
`

	cniConfig = `{
  "cniVersion": "1.0.0",
  "name": "pods",
  "plugins": [{
    "type": "bridge",
    "bridge": "` + bridgeName + `",
    "isGateway": true,
    "hairpinMode": true,
    "ipam": {
      "type": "host-local",
      "ranges": [[{"subnet": "` + podCIDR + `", "gateway": "` + nodeIP + `"}]],
      "routes": [{"dst": "0.0.0.0/0"}]
    }
  }]
}
`

	kubeletConfig = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  anonymous:
    enabled: true
  webhook:
    enabled: false
authorization:
  mode: AlwaysAllow
cgroupDriver: cgroupfs
cgroupRoot: /` + cgroup + `
clusterDNS: [` + nodeIP + `]
clusterDomain: cluster.local
containerRuntimeEndpoint: unix://` + containerdSocket + `
enforceNodeAllocatable: []
eventRecordQPS: 0
# Pods must not be evicted because the disk of a developer's machine is full.
evictionHard:
  imagefs.available: 0%
  memory.available: 0%
  nodefs.available: 0%
failCgroupV1: false
failSwapOn: false
imageGCHighThresholdPercent: 100
kubeAPIBurst: 400
kubeAPIQPS: 200
localStorageCapacityIsolation: false
maxPods: 500
oomScoreAdj: 0
registryPullQPS: 0
resolvConf: ""
serializeImagePulls: false
volumePluginDir: ` + work + `/volume-plugins
`

	corefile = `cluster.local {
  bind ` + nodeIP + `
  errors
  kubernetes cluster.local {
    kubeconfig %s
  }
}
`
)

// startNode starts the components of a node, and waits until the node is ready.
func (cp *ControlPlane) startNode(ctx context.Context) error {
	if err := cp.writeNodeFiles(); err != nil {
		return err
	}
	if err := cp.startContainerd(ctx); err != nil {
		return err
	}
	for _, p := range []*process{
		cp.nodeProcess("kubelet",
			"--config="+filepath.Join(work, "kubelet.yaml"),
			"--kubeconfig="+cp.path("kubelet.kubeconfig"),
			"--hostname-override="+nodeName,
			"--node-ip="+nodeIP,
		),
		cp.nodeProcess("kube-scheduler",
			"--kubeconfig="+cp.path("kube-scheduler.kubeconfig"),
			"--leader-elect=false",
			"--secure-port=0",
			"--kube-api-qps=200",
			"--kube-api-burst=400",
		),
		cp.nodeProcess("kube-proxy",
			"--kubeconfig="+cp.path("kube-proxy.kubeconfig"),
			"--hostname-override="+nodeName,
			"--proxy-mode=nftables",
			"--cluster-cidr="+podCIDR,
			// The node replaces the destination of a request to a Service. Without
			// masquerading, a pod would respond directly to a client on the same bridge, which
			// expects the response from the Service.
			"--masquerade-all",
			// These settings must not change the limits of the machine.
			"--conntrack-max-per-core=0",
			"--conntrack-tcp-timeout-established=0",
			"--conntrack-tcp-timeout-close-wait=0",
			"--oom-score-adj=0",
		),
		cp.nodeProcess("coredns", "-conf="+filepath.Join(work, "Corefile")),
	} {
		if err := p.start(); err != nil {
			return err
		}
	}

	return cp.Explain(ctx, Eventually(ctx, time.Minute, func(ctx context.Context) error {
		n := &corev1.Node{}
		if err := cp.Client.Get(ctx, client.ObjectKey{Name: nodeName}, n); err != nil {
			return fmt.Errorf("cannot get node %q: %w", nodeName, err)
		}
		for _, c := range n.Status.Conditions {
			if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
				return nil
			}
		}

		return fmt.Errorf("node %q is not ready: %v", nodeName, n.Status.Conditions)
	}))
}

// nodeProcess returns the process of a component of the node.
func (cp *ControlPlane) nodeProcess(name string, args ...string) *process {
	p := cp.process(name, cp.tool(name), args...)
	p.env = []string{"PATH=" + nodePath}

	return p
}

// startContainerd starts containerd, and waits until it listens.
func (cp *ControlPlane) startContainerd(ctx context.Context) error {
	containerd := cp.nodeProcess("containerd", "--config="+filepath.Join(work, "containerd.toml"))
	if err := containerd.start(); err != nil {
		return err
	}

	return containerd.ready(ctx, time.Minute, dial("unix", containerdSocket))
}

func (cp *ControlPlane) writeNodeFiles() error {
	if err := writeFiles(work, map[string][]byte{
		"containerd.toml":                fmt.Appendf(nil, containerdConfig, cp.tool("containerd-shim-runc-v2")),
		"registries/_default/hosts.toml": fmt.Appendf(nil, registryConfig, cp.Registry),
		"cni/pods.conflist":              []byte(cniConfig),
		"kubelet.yaml":                   []byte(kubeletConfig),
		"Corefile":                       fmt.Appendf(nil, corefile, cp.path("coredns.kubeconfig")),
	}); err != nil {
		return err
	}
	for name, id := range cp.kube.node {
		cfg := rest.CopyConfig(cp.kube.admin)
		cfg.BearerToken = id.token
		if err := writeKubeconfig(cp.path(name+".kubeconfig"), cfg); err != nil {
			return err
		}
	}

	return nil
}
