package controlplane

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	crossplaneNamespace = "crossplane-system"

	// The Secrets that `crossplane core init` fills.
	rootCASecret    = "crossplane-root-ca"
	tlsServerSecret = "crossplane-tls-server"
	tlsClientSecret = "crossplane-tls-client"
)

// startCrossplane starts Crossplane and its RBAC manager, each with its service account
// and RBAC from the chart.
func (cp *ControlPlane) startCrossplane(ctx context.Context) error {
	source, err := cp.crossplaneSource(ctx)
	if err != nil {
		return err
	}
	// These objects of the chart do not run Crossplane.
	kinds := []string{"ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Secret"}
	if err := cp.applyChart(ctx, source, nil, kinds...); err != nil {
		return err
	}
	core, err := cp.serviceAccountKubeconfig(ctx, "crossplane")
	if err != nil {
		return err
	}
	rbac, err := cp.serviceAccountKubeconfig(ctx, "rbac-manager")
	if err != nil {
		return err
	}

	cp.rbac = cp.process("crossplane-rbac-manager", cp.options.Crossplane, "rbac", "start")
	cp.rbac.env = []string{"KUBECONFIG=" + rbac}
	if err := cp.initCrossplane(ctx, core, filepath.Join(source, "crds")); err != nil {
		return err
	}
	if err := cp.rbac.start(); err != nil {
		return err
	}

	tls := cp.path("crossplane-tls-client")
	secret, err := cp.secret(ctx, tlsClientSecret)
	if err != nil {
		return err
	}
	if err := writeFiles(tls, secret.Data); err != nil {
		return err
	}
	cache := cp.path("crossplane-cache")
	if err := os.MkdirAll(cache, 0o750); err != nil {
		return fmt.Errorf("cannot create folder %q: %w", cache, err)
	}
	if err := freePorts(&cp.crossplaneMetrics, &cp.crossplaneHealth); err != nil {
		return err
	}
	cp.crossplane = cp.process("crossplane", cp.options.Crossplane, "core", "start",
		"--debug",
		// Crossplane installs packages, and the simulated package runtime runs the
		// functions, because there is no kubelet.
		"--package-runtime=External",
		"--cache-dir="+cache,
		fmt.Sprintf("--metrics-port=%d", cp.crossplaneMetrics),
		fmt.Sprintf("--health-probe-port=%d", cp.crossplaneHealth),
	)
	cp.crossplane.env = []string{
		"KUBECONFIG=" + core,
		"POD_NAMESPACE=" + crossplaneNamespace,
		"TLS_SERVER_SECRET_NAME=" + tlsServerSecret,
		"TLS_CLIENT_SECRET_NAME=" + tlsClientSecret,
		"TLS_CLIENT_CERTS_DIR=" + tls,
		// The API server cannot connect to a webhook through a Service here.
		"ENABLE_WEBHOOKS=false",
		// After Crossplane is killed, its lease would be valid for up to a minute.
		"LEADER_ELECTION=false",
	}

	return cp.runCrossplane(ctx)
}

func (cp *ControlPlane) runCrossplane(ctx context.Context) error {
	if err := cp.crossplane.start(); err != nil {
		return err
	}

	return cp.crossplane.ready(ctx, time.Minute, func(ctx context.Context) error {
		_, err := Get(ctx, "http://"+address(cp.crossplaneHealth)+"/readyz")
		return err
	})
}

// initCrossplane does what the init container of the chart does. It is repeated on
// failure, as a kubelet restarts an init container: crossplane core init reads resources
// whose CRDs it has just created, which the API server may not serve yet.
func (cp *ControlPlane) initCrossplane(ctx context.Context, kubeconfig, crds string) error {
	p := cp.process("crossplane-init", cp.options.Crossplane, "core", "init", "--activation=*")
	p.env = []string{
		"KUBECONFIG=" + kubeconfig,
		"CRDS_PATH=" + crds,
		"ENABLE_WEBHOOKS=false",
		"POD_NAMESPACE=" + crossplaneNamespace,
		"TLS_CA_SECRET_NAME=" + rootCASecret,
		"TLS_SERVER_SECRET_NAME=" + tlsServerSecret,
		"TLS_CLIENT_SECRET_NAME=" + tlsClientSecret,
	}

	return Eventually(ctx, time.Minute, p.run)
}

// serviceAccountKubeconfig writes a kubeconfig with a token of the service
// account.
func (cp *ControlPlane) serviceAccountKubeconfig(ctx context.Context, name string) (string, error) {
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: crossplaneNamespace}}
	year := int64(365 * 24 * 60 * 60)
	tr := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &year}}
	if err := cp.Client.SubResource("token").Create(ctx, sa, tr); err != nil {
		return "", fmt.Errorf("cannot request token of service account %q: %w", name, err)
	}
	path := cp.path(name + ".kubeconfig")

	return path, writeKubeconfig(path, restConfig(cp.kube.admin.Host, cp.kube.admin.CAFile, tr.Status.Token))
}

// writeFiles writes files into a folder.
func writeFiles(dir string, files map[string][]byte) error {
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("cannot create folder: %w", err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return fmt.Errorf("cannot write file %q: %w", name, err)
		}
	}

	return nil
}
