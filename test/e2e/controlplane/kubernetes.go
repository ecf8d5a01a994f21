package controlplane

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/keyutil"
)

// kube has the processes etcd, kube-apiserver and kube-controller-manager.
type kube struct {
	etcd, apiserver, controller *process

	etcdURL string

	admin *rest.Config

	// node are the identities of the components of a real node.
	node map[string]identity
}

// controllers are the controllers that run if pods are simulated. The controllers for
// clouds, volumes, certificates and jobs are not included, and neither is the node
// controller: the simulated kubelet does not renew its lease.
var controllers = []string{
	"clusterrole-aggregation-controller",
	"deployment-controller",
	"disruption-controller",
	"endpoints-controller",
	"endpointslice-controller",
	"garbage-collector-controller",
	"horizontal-pod-autoscaler-controller",
	"namespace-controller",
	"replicaset-controller",
	"resourcequota-controller",
	"root-ca-certificate-publisher-controller",
	"serviceaccount-controller",
}

// startKube starts Kubernetes. It starts the controllers when the API server is ready,
// and does not wait for them.
func (cp *ControlPlane) startKube(ctx context.Context) error { //nolint:funlen // Most of it is flags.
	var etcdPort, peerPort, port int
	if err := freePorts(&etcdPort, &peerPort, &port); err != nil {
		return err
	}
	if cp.options.Port != 0 {
		port = cp.options.Port
	}

	var (
		certs  = cp.path("apiserver")
		keys   = cp.path("service-account.key")
		tokens = cp.path("tokens.csv")
		server = "https://" + address(port)
		ca     = filepath.Join(certs, "apiserver.crt")

		admin      = newIdentity("admin", "system:masters")
		controller = newIdentity("system:kube-controller-manager")
	)
	cp.kube.node = map[string]identity{
		"kubelet":        newIdentity("system:node:"+nodeName, "system:nodes"),
		"kube-proxy":     newIdentity("system:kube-proxy"),
		"kube-scheduler": newIdentity("system:kube-scheduler"),
		"coredns":        newIdentity("coredns", "system:masters"),
	}
	if err := writeTokens(tokens, append(slices.Collect(maps.Values(cp.kube.node)), admin, controller)...); err != nil {
		return err
	}
	key, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err := errors.Join(err, keyutil.WriteKey(keys, key)); err != nil {
		return fmt.Errorf("cannot write service account key: %w", err)
	}

	cp.kube.etcdURL = "http://" + address(etcdPort)
	cp.kube.etcd = cp.process("etcd", cp.tool("etcd"),
		"--data-dir="+cp.path("etcd"),
		"--listen-client-urls="+cp.kube.etcdURL,
		"--advertise-client-urls="+cp.kube.etcdURL,
		"--listen-peer-urls=http://"+address(peerPort),
		"--initial-advertise-peer-urls=http://"+address(peerPort),
		"--initial-cluster=default=http://"+address(peerPort),
		// The data need not survive a crash of the machine.
		"--unsafe-no-fsync",
	)
	cp.kube.apiserver = cp.process("kube-apiserver", cp.tool("kube-apiserver"),
		"--etcd-servers="+cp.kube.etcdURL,
		fmt.Sprintf("--secure-port=%d", port),
		"--cert-dir="+certs,
		"--token-auth-file="+tokens,
		"--authorization-mode=Node,RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+keys,
		"--service-account-signing-key-file="+keys,
		"--service-cluster-ip-range="+serviceCIDR,
	)
	if cp.options.RealNode() {
		// Pods connect to the address of the node, and this machine to loopback.
		cp.kube.apiserver.args = append(cp.kube.apiserver.args, "--advertise-address="+nodeIP,
			"--kubelet-preferred-address-types=InternalIP")
	} else {
		cp.kube.apiserver.args = append(cp.kube.apiserver.args, "--bind-address=127.0.0.1",
			// The Service "kubernetes" cannot have a loopback address.
			"--endpoint-reconciler-type=none")
	}
	cp.kube.controller = cp.process("kube-controller-manager", cp.tool("kube-controller-manager"),
		"--kubeconfig="+cp.path("kube-controller-manager.kubeconfig"),
		"--service-account-private-key-file="+keys,
		"--root-ca-file="+ca,
		// Each controller uses its own service account, as on a real cluster.
		"--use-service-account-credentials",
		"--leader-elect=false",
		"--secure-port=0",
		"--kube-api-qps=200",
		"--kube-api-burst=400",
		"--horizontal-pod-autoscaler-sync-period=2s",
	)
	if !cp.options.RealNode() {
		cp.kube.controller.args = append(cp.kube.controller.args, "--controllers="+strings.Join(controllers, ","))
	}

	if err := cp.kube.etcd.start(); err != nil {
		return err
	}
	if err := cp.kube.apiserver.start(); err != nil {
		return err
	}
	cp.kube.admin = restConfig(server, ca, admin.token)
	if err := cp.waitForAPIServer(ctx); err != nil {
		return err
	}

	for path, cfg := range map[string]*rest.Config{
		cp.Kubeconfig: cp.kube.admin,
		cp.path("kube-controller-manager.kubeconfig"): restConfig(server, ca, controller.token),
	} {
		if err := writeKubeconfig(path, cfg); err != nil {
			return err
		}
	}

	return cp.kube.controller.start()
}

// waitForAPIServer waits until the API server is ready.
func (cp *ControlPlane) waitForAPIServer(ctx context.Context) error {
	return cp.kube.apiserver.ready(ctx, time.Minute, func(ctx context.Context) error {
		// The API server writes the file of the CA when it starts.
		c, err := kubernetes.NewForConfig(cp.kube.admin)
		if err != nil {
			return err
		}

		return c.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	})
}
