package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Gateway checks what the readers of published books get from Traefik, over TLS with
// certificates of cert-manager: a book with a host or a path of its own, a book that needs a
// login, a book whose route Traefik rejects, and two books with one address.
func Gateway(k *kit) {
	k.needsNode()
	k.apply(k.manifests("production/rbac.yaml")...)
	login := k.middleware()
	reader := k.neighbours(login)

	const parents = "parentRefs: [{name: public, namespace: gateways, sectionName: https}]"
	rejected := "route: {" + parents + ", host: '{name}.example.org'}"
	for name, composition := range map[string]option{
		"handbook": composedBy(k.example("production")),
		"internal": composedBy(k.example("login")),
		"guide": k.given("path", `
server: {}
route: {host: docs.books.example.com, path: "/{namespace}/{name}/", `+parents+"}"),
		"manual": k.given("ingress", `
ingress:
  className: traefik
  host: "{name}.{namespace}.example.com"
  tls: {secretName: "{name}-tls"}
  annotations:
    cert-manager.io/cluster-issuer: books
    traefik.ingress.kubernetes.io/router.middlewares: gateways-login@kubernetescrd`),
		"chapter": k.given("ingress-path", `
server: {}
ingress:
  className: traefik
  host: docs.{namespace}.example.com
  path: /{name}/
  tls: {secretName: docs-tls}
  annotations: {cert-manager.io/cluster-issuer: books}`),
		"rejected": k.given("rejected", rejected),
	} {
		k.apply(book(name, composition))
	}
	shared := with("host: shared." + k.namespace + ".books.example.com")
	for _, name := range []string{"First", "Second"} {
		page := file("page.md", "# "+name+"\n")
		k.apply(book(strings.ToLower(name), composedBy(k.namespace+"-production"), shared, page))
	}
	k.settle("handbook", "internal", "guide", "manual", "chapter", "first", "second")
	for _, name := range []string{"handbook", "internal", "guide", "first", "second"} {
		// The controller of its Gateway may not have found the Service at first.
		warnings := client.MatchingFields{"involvedObject.name": name, "type": "Warning", "reason": "RouteNotAccepted"}
		k.equal("warnings about "+name, 0, len(k.events(warnings)))
	}

	page := func(name string) string { return strings.TrimSuffix(k.view(name).Status.URL, "/") + "/page.html" }
	for _, name := range []string{"handbook", "guide", "chapter"} {
		reader.gets(k, page(name), "", http.StatusOK, "<h1 id=\"page\">")
	}
	address := strings.TrimSuffix(page("guide"), "/page.html")
	reader.gets(k, address, "", http.StatusMovedPermanently, "/"+k.namespace+"/guide/")

	// While its Middleware does not exist, nobody can read a book.
	reader.gets(k, page("internal"), "", http.StatusNotFound, "")
	k.apply(login)
	for _, name := range []string{"internal", "manual"} {
		reader.gets(k, page(name), "", http.StatusFound, "https://login.example.com/?rd="+page(name))
		reader.gets(k, page(name), "session=valid", http.StatusOK, "<h1 id=\"page\">")
	}

	// No listener has its host.
	k.until("rejected", "Available=True Available", "Ready=False",
		"Degraded=True RouteNotAccepted", "Degraded: NoMatchingListenerHostname")
	k.given("rejected", strings.Replace(rejected, "{name}.example.org", "{name}.{namespace}.books.example.com", 1))
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
	k.delete(winner)
	reader.gets(k, page(strings.ToLower(other)), "", http.StatusOK, "<h1 id=\""+strings.ToLower(other)+"\">")
}

// middleware starts a server for logins, and returns the Middleware of example/login with
// its address.
func (k *kit) middleware() *unstructured.Unstructured {
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
	k.installCRDs(".", "sigs.k8s.io/gateway-api", "config/crd/standard/gateway.networking.k8s.io_[^v]*.yaml")
	k.installCRDs("../tools/cert-manager", "github.com/cert-manager/cert-manager", "deploy/crds/*.yaml")
	k.installCRDs("../tools/traefik", "github.com/traefik/traefik/v3", "docs/content/reference/dynamic-configuration/kubernetes-crd-definition-v1.yml")
	k.apply(k.parse(strings.ReplaceAll(k.read("testdata/gateway.yaml"), "NAMESPACE", k.namespace))...)
	k.apply(inNamespace(login, "gateways"))
	k.start("cert-manager")
	k.start("traefik", "--entrypoints.https.address=:443", "--entrypoints.https.http.tls=true",
		"--global.checknewversion=false", "--log.level=DEBUG", "--providers.kubernetescrd=true",
		"--providers.kubernetesgateway=true", "--providers.kubernetesingress.ingressendpoint.ip=192.0.2.1")

	certificate, authority := &corev1.Secret{}, x509.NewCertPool()
	k.eventually("certificate of the Gateway", func(k *kit) {
		k.must(k.Get(k.Context(), client.ObjectKey{Namespace: "gateways", Name: "public"}, certificate))
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
	k.eventually(url, func(k *kit) {
		req, err := http.NewRequestWithContext(k.Context(), http.MethodGet, url, nil)
		k.must(err)
		req.Header.Set("Cookie", cookie)
		rsp, err := r.Do(req)
		k.must(err)
		defer rsp.Body.Close() //nolint:errcheck // Only read.
		body, err := io.ReadAll(rsp.Body)
		k.must(err)
		page = string(body)
		k.equal("status", status, rsp.StatusCode)
		k.contains(rsp.Header.Get("Location")+page, text)
	})

	return page
}
