package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/function-markdownview/test/e2e/controlplane"
)

// Gateway checks what the readers of published books get from Traefik, over TLS with
// certificates of cert-manager: a book with a host or a path of its own, a book that needs a
// login, a book whose route Traefik rejects, and two books with one address.
func Gateway(k *kit) {
	k.needsNode()
	role := k.parse(k.read("../../example/production/rbac.yaml"))[0]
	k.apply(role)
	k.afterwards(role)
	login := k.middleware()
	reader := k.neighbours(login)

	parents := []any{map[string]any{"name": "public", "namespace": "gateways", "sectionName": "https"}}
	host := map[string]any{"parentRefs": parents, "host": "{name}.example.org"}
	for name, composition := range map[string]string{
		"handbook": k.example("production"),
		"internal": k.example("login"),
		"guide": k.composition("path", kind, ours(map[string]any{
			"server": map[string]any{}, "route": map[string]any{"parentRefs": parents, "host": "docs.books.example.com", "path": "/{namespace}/{name}/"},
		})),
		"manual": k.composition("ingress", kind, ours(map[string]any{"ingress": map[string]any{
			"className": "traefik", "host": "{name}.{namespace}.example.com", "tls": map[string]any{"secretName": "{name}-tls"},
			"annotations": map[string]any{
				"cert-manager.io/cluster-issuer":                   "books",
				"traefik.ingress.kubernetes.io/router.middlewares": "gateways-login@kubernetescrd",
			},
		}})),
		"chapter": k.composition("ingress-path", kind, ours(map[string]any{"server": map[string]any{}, "ingress": map[string]any{
			"className": "traefik", "host": "docs.{namespace}.example.com", "path": "/{name}/",
			"tls":         map[string]any{"secretName": "docs-tls"},
			"annotations": map[string]any{"cert-manager.io/cluster-issuer": "books"},
		}})),
		"rejected": k.composition("rejected", kind, ours(map[string]any{"route": host})),
	} {
		k.apply(book(name, composedBy(composition)))
	}
	shared := func(s map[string]any) { s["host"] = "shared." + k.namespace + ".books.example.com" }
	production := composedBy(k.namespace + "-production")
	for _, name := range []string{"First", "Second"} {
		k.apply(book(strings.ToLower(name), production, shared, file("page.md", "# "+name+"\n")))
	}
	k.settle("handbook", "internal", "guide", "manual", "chapter", "first", "second")
	for _, name := range []string{"handbook", "internal", "guide", "first", "second"} {
		k.check(k.noWarning(name))
	}

	page := func(name string) string { return k.url(name) + "page.html" }
	for _, name := range []string{"handbook", "guide", "chapter"} {
		reader.gets(k, page(name), "", http.StatusOK, "<h1 id=\"page\">")
	}
	reader.gets(k, strings.TrimSuffix(k.url("guide"), "/"), "", http.StatusMovedPermanently, "/"+k.namespace+"/guide/")

	// While its Middleware does not exist, nobody can read a book.
	reader.gets(k, page("internal"), "", http.StatusNotFound, "")
	k.apply(login)
	for _, name := range []string{"internal", "manual"} {
		reader.gets(k, page(name), "", http.StatusFound, "https://login.example.com/?rd="+page(name))
		reader.gets(k, page(name), "session=valid", http.StatusOK, "<h1 id=\"page\">")
	}

	k.until("rejected", "no listener has its host", func(v *markdownView) error {
		return errors.Join(
			v.is("Available", metav1.ConditionTrue, "Available"),
			v.is("Ready", metav1.ConditionFalse, ""),
			v.is("Degraded", metav1.ConditionTrue, "RouteNotAccepted"),
			contains(v.condition("Degraded").Message, "NoMatchingListenerHostname"))
	})
	host["host"] = "{name}.{namespace}.books.example.com"
	k.composition("rejected", kind, ours(map[string]any{"route": host}))
	k.settle("rejected")
	reader.gets(k, page("rejected"), "", http.StatusOK, "<h1 id=\"page\">")

	// Traefik accepts both routes, and serves one of them.
	served := reader.gets(k, page("first"), "", http.StatusOK, "")
	winner, other := "first", "Second"
	if strings.Contains(served, "<h1 id=\"second\">") {
		winner, other = "second", "First"
	}
	k.Logf("of two books with one address, Traefik serves %q", winner)
	reader.gets(k, page(winner), "", http.StatusOK, "<h1 id=\""+winner+"\">")
	k.must(k.Delete(k.Context(), inNamespace(book(winner), k.namespace)))
	reader.gets(k, page(strings.ToLower(other)), "", http.StatusOK, "<h1 id=\""+strings.ToLower(other)+"\">")
}

// example applies the Composition of a folder of example, under a name that no other test uses.
func (k *kit) example(folder string) string {
	k.Helper()
	u := k.parse(k.read("../../example/" + folder + "/composition.yaml"))[0]
	u.SetName(k.namespace + "-" + folder)
	k.apply(u)
	k.afterwards(u)

	return u.GetName()
}

// noWarning returns an error if the function has emitted a warning about a book: the
// controller of its Gateway may not have found the Service at first.
func (k *kit) noWarning(name string) error {
	for _, e := range k.events(name) {
		if e.Type == corev1.EventTypeWarning && e.Reason == "RouteNotAccepted" {
			return fmt.Errorf("%s: warning %s: %s", name, e.Reason, e.Message)
		}
	}

	return nil
}

// url returns the public address of a book.
func (k *kit) url(name string) string {
	k.Helper()
	v, err := k.view(name)
	k.must(err)

	return strings.TrimSuffix(v.Status.URL, "/") + "/"
}

// middleware starts a server for logins, and returns the Middleware of example/login with
// its address.
func (k *kit) middleware() *unstructured.Unstructured {
	k.Helper()
	login := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, err := r.Cookie("session"); err == nil && c.Value == "valid" {
			return
		}
		book := r.Header.Get("X-Forwarded-Proto") + "://" + r.Header.Get("X-Forwarded-Host") + r.Header.Get("X-Forwarded-Uri")
		http.Redirect(w, r, "https://login.example.com/?rd="+book, http.StatusFound)
	}))
	k.Cleanup(login.Close)

	return k.parse(strings.Replace(k.read("../../example/login/middleware.yaml"), "http://oauth2-proxy.gateways.svc.cluster.local", login.URL, 1))[0]
}

// neighbours starts cert-manager and Traefik, with a Gateway, and returns a reader.
func (k *kit) neighbours(login *unstructured.Unstructured) publicReader {
	k.Helper()
	k.installCRDs(".", "sigs.k8s.io/gateway-api", "config/crd/standard/gateway.networking.k8s.io_[^v]*.yaml")
	k.installCRDs("../tools/cert-manager", "github.com/cert-manager/cert-manager", "deploy/crds/*.yaml")
	k.installCRDs("../tools/traefik", "github.com/traefik/traefik/v3", "docs/content/reference/dynamic-configuration/kubernetes-crd-definition-v1.yml")
	for _, u := range append(k.parse(strings.ReplaceAll(k.read("testdata/gateway.yaml"), "NAMESPACE", k.namespace)), inNamespace(login, "gateways")) {
		k.apply(u)
		k.afterwards(u)
	}
	for program, args := range map[string][]string{
		"cert-manager": nil,
		"traefik": {
			"--entrypoints.https.address=:443", "--entrypoints.https.http.tls=true", "--global.checknewversion=false", "--log.level=DEBUG",
			"--providers.kubernetescrd=true", "--providers.kubernetesgateway=true", "--providers.kubernetesingress.ingressendpoint.ip=192.0.2.1",
		},
	} {
		k.must(controlplane.Run(k.Context(), "/usr/bin/env", filepath.Join(k.logs, program+".log"),
			append([]string{"KUBECONFIG=" + k.Kubeconfig, "POD_NAMESPACE=gateways", filepath.Join(k.Bin, program)}, args...)...))
	}

	certificate, authority := &corev1.Secret{}, x509.NewCertPool()
	k.eventually("certificate of the Gateway", func() error {
		return k.Get(k.Context(), client.ObjectKey{Namespace: "gateways", Name: "public"}, certificate)
	})
	authority.AppendCertsFromPEM(certificate.Data["ca.crt"])

	return publicReader{&http.Client{
		Timeout:       10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DisableKeepAlives: true, // Each request uses the certificate of the time.
			TLSClientConfig:   &tls.Config{RootCAs: authority},
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, "127.0.0.1:443")
			},
		},
	}}
}

// A publicReader requests pages through Traefik. It trusts only the CA of cert-manager, and
// follows no redirects.
type publicReader struct{ *http.Client }

// gets waits until Traefik responds with a status and a text, which is in the page or in the
// address of a redirect. It returns the page.
func (r publicReader) gets(k *kit, url, cookie string, status int, text string) string {
	k.Helper()
	var page string
	k.eventually(url, func() error {
		req, err := http.NewRequestWithContext(k.Context(), http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		req.Header.Set("Cookie", cookie)
		rsp, err := r.Do(req)
		if err != nil {
			return err
		}
		defer rsp.Body.Close() //nolint:errcheck // Only read.
		body, err := io.ReadAll(rsp.Body)
		page = string(body)

		return errors.Join(err, equal("status", status, rsp.StatusCode), contains(rsp.Header.Get("Location")+page, text))
	})

	return page
}
