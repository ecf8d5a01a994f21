package controlplane

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// kube has the processes etcd, kube-apiserver and kube-controller-manager.
type kube struct {
	etcd       *process
	apiserver  *process
	controller *process

	// etcdURL is the URL of etcd.
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
	if err := writeServiceAccountKey(keys); err != nil {
		return err
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

// writeServiceAccountKey writes the key that signs service account tokens.
func writeServiceAccountKey(path string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("cannot create service account key: %w", err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("cannot create service account key: %w", err)
	}
	b := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	if err := os.WriteFile(path, b, 0o600); err != nil {
		return fmt.Errorf("cannot write service account key: %w", err)
	}

	return nil
}

// probe returns a probe of a URL, which succeeds with status 200.
func probe(url string) func(context.Context) error {
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		rsp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer rsp.Body.Close() //nolint:errcheck // Only the status code is of interest.
		if rsp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s returned %s", url, rsp.Status)
		}

		return nil
	}
}
