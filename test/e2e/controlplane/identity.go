package controlplane

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// An identity is a user that authenticates with a static token.
type identity struct {
	user   string
	groups []string
	token  string
}

func newIdentity(user string, groups ...string) identity {
	return identity{user: user, groups: groups, token: rand.Text()}
}

// writeTokens writes the file for --token-auth-file of kube-apiserver.
func writeTokens(path string, ids ...identity) error {
	b := &strings.Builder{}
	for _, id := range ids {
		fmt.Fprintf(b, "%s,%s,%s,%q\n", id.token, id.user, id.user, strings.Join(id.groups, ","))
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("cannot write tokens: %w", err)
	}

	return nil
}

// restConfig returns the configuration of a client with a token. The client does not
// throttle its requests, because the API server has limits of its own.
func restConfig(server, caFile, token string) *rest.Config {
	return &rest.Config{
		Host:        server,
		BearerToken: token,
		// The certificate of the API server has no loopback address if it listens on
		// all addresses.
		TLSClientConfig: rest.TLSClientConfig{CAFile: caFile, ServerName: "kubernetes"},
		QPS:             -1,
	}
}

// writeKubeconfig writes a kubeconfig for a configuration. The file contains the CA, so it
// can be moved.
func writeKubeconfig(path string, cfg *rest.Config) error {
	ca, err := os.ReadFile(cfg.CAFile)
	if err != nil {
		return fmt.Errorf("cannot write kubeconfig: %w", err)
	}
	const name = "e2e"
	k := api.NewConfig()
	k.Clusters[name] = &api.Cluster{Server: cfg.Host, CertificateAuthorityData: ca, TLSServerName: cfg.ServerName}
	k.AuthInfos[name] = &api.AuthInfo{Token: cfg.BearerToken}
	k.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	k.CurrentContext = name
	if err := clientcmd.WriteToFile(*k, path); err != nil {
		return fmt.Errorf("cannot write kubeconfig: %w", err)
	}

	return nil
}
