package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/function-markdownview/test/e2e/controlplane"
)

// Server checks that nginx serves a book that mdBook has built: from restricted pods,
// within the requested memory, and each file with its media type. It also checks that a
// download completes although its pod is deleted, and a book below a path of its host.
// test/book tests the configuration of nginx.
func Server(k *kit) {
	k.needsNode()
	const name = "static"
	resources := with("resources: {limits: {memory: 1Gi}}") // mdBook needs memory to build the search index.
	k.apply(book(name, k.production(), withRevision("revision-1"), large, withDot, resources))
	k.settle(name)
	k.served(name, "revision-1") // kube-proxy may know the pods a moment later.

	address := k.address(name)
	for path, want := range map[string]string{
		"/":                "200 text/html",
		"/page.html":       "200 text/html",
		"/print.html":      "200 text/html",
		"/img/dot.gif":     "200 image/gif",
		"/toc.js":          "200 application/javascript",
		"/css/general.css": "200 text/css",
		"/absent.html":     "404 text/html",
	} {
		rsp, err := http.Get(address + path) //nolint:noctx // A test has a timeout.
		k.must(err)
		_ = rsp.Body.Close() // Only the header is of interest.
		mediaType, _, _ := strings.Cut(rsp.Header.Get("Content-Type"), ";")
		k.equal(path, want, fmt.Sprintf("%d %s", rsp.StatusCode, mediaType))
	}
	k.memory(name, "server", requests)
	k.completesDownloads(name)
	k.below()
}

// below checks a book below a path of its host, also with a browser: the page for unknown
// addresses has the sidebar and styles of the book, and links and the search work. The
// test writes a screenshot of that page to the file that E2E_PICTURE_404 names.
func (k *kit) below() {
	const name = "handbook"
	k.apply(book(name, with("summary: Auto\nbook: {title: Handbook}"), k.files("testdata/runbook"), k.given("path", `
server: {port: 80}
ingress: {host: books.example.com, path: "/{namespace}/{name}/"}`)))
	k.eventually("address of the Ingress", func(k *kit) { k.addressed(name) })
	k.settle(name)
	at := "/" + k.namespace + "/" + name + "/"
	k.equal("URL", "http://books.example.com"+at, k.view(name).Status.URL)
	k.servedAt(name, at, "Welcome")

	b := k.browser()
	b.open(name, at+"a/b/absent.html")
	b.until(`document.querySelector("main h1").innerText.startsWith("Document not found")`)
	b.until(`document.querySelector(".chapter").innerText.includes("夜間の障害")`)
	b.until(`getComputedStyle(document.querySelector(".chapter")).listStyleType === "none"`)
	if file := os.Getenv("E2E_PICTURE_404"); file != "" {
		k.must(os.WriteFile(file, b.picture(), 0o600))
	}
	const shown = `document.title === "%s - Handbook" && location.pathname.startsWith(%q)`
	b.click(".chapter a", "手順")
	b.until(fmt.Sprintf(shown, "手順", at))
	b.search("queue", "When it is slow")
	b.until(fmt.Sprintf(shown, "When it is slow", at))
}

// addressed writes the address of the Ingress of a MarkdownView into its status, as a controller
// does.
func (k *kit) addressed(name string) {
	k.Helper()
	i := get(k, &networkingv1.Ingress{}, "viewer-"+name)
	i.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: "192.0.2.1"}}
	k.must(k.Status().Update(k.Context(), i))
}

// completesDownloads checks that, after the only pod of a book is deleted, its server
// accepts requests for a while, and completes a download even after it has stopped
// accepting requests.
func (k *kit) completesDownloads(name string) {
	pod := k.podsOf(name)[0]
	address := net.JoinHostPort(pod.Status.PodIP, fmt.Sprint(pod.Spec.Containers[0].Ports[0].ContainerPort))
	whole := k.page("http://" + address + "/print.html")

	// With a small buffer, the server can send only what the client reads.
	conn, err := (&net.Dialer{}).DialContext(k.Context(), "tcp", address)
	k.must(err)
	defer conn.Close() //nolint:errcheck // Only read.
	k.must(conn.SetDeadline(time.Now().Add(k.patience)))
	k.must(conn.(*net.TCPConn).SetReadBuffer(4 << 10))
	_, err = fmt.Fprintf(conn, "GET /print.html HTTP/1.0\r\n\r\n")
	k.must(err)
	begin := make([]byte, 1<<10)
	_, err = io.ReadFull(conn, begin)
	k.must(err)

	k.must(k.Delete(k.Context(), &pod))
	served := 0
	k.eventually("the server accepts no more requests", func(k *kit) {
		if _, err := controlplane.Get(k.Context(), "http://"+address+"/page.html"); err == nil {
			served++
			k.Error("it still serves the book")
		}
	})
	if served < 3 { // A server without a preStop hook may serve one.
		k.Errorf("the deleted pod has served only %d requests", served)
	}
	rest, err := io.ReadAll(conn)
	k.must(err)
	_, page, _ := strings.Cut(string(begin)+string(rest), "\r\n\r\n")
	k.equal("bytes of the download", len(whole), len(page))
	k.settle(name)
}

// Uninterrupted checks a book that is composed as in
// example/production/composition.yaml: no request of its readers fails, and no page
// mixes two revisions. The test changes the text ten times, then sets an image that cannot
// be pulled and evicts all pods, as a drain of their node does, and then changes the
// replicas. The test logs how long the changes take: docs/delivery.md has the numbers.
func Uninterrupted(k *kit) {
	k.needsNode()
	const name = "uninterrupted"
	composition := k.production(with(impatient))
	apply := func(revision string, spec ...option) {
		k.Helper()
		k.apply(book(name, append(spec, composition, withRevision(revision))...))
	}
	apply("revision-0", replicas(2))
	k.settle(name)
	r := k.readBook(name)

	const changes = 10
	var toReady, toPage []time.Duration
	calls, cpu := k.total(handled), k.total(cpuUsed)
	for i := range changes {
		revision, begin := fmt.Sprintf("revision-%d", i+1), time.Now()
		apply(revision, replicas(2))
		ready, page := k.timed(name, revision, r)
		toReady, toPage = append(toReady, ready.Sub(begin)), append(toPage, page.Sub(begin))
	}
	k.Logf("from a change to Ready: %s; to the first page: %s", median(toReady), median(toPage))
	k.Logf("for each change: %.1f calls of the function, %.0f ms of its CPU",
		(k.total(handled)-calls)/changes, (k.total(cpuUsed)-cpu)*1000/changes)

	apply("revision-11", replicas(2), brokenImage)
	k.until(name, "Degraded=True ProgressDeadlineExceeded", "2 ready")
	k.evict(name)
	k.until(name, "Degraded=True ProgressDeadlineExceeded", "2 ready") // Replacements of the old pods.
	if r.has("revision-11") == nil {
		k.Error("there are pages of the change whose image cannot be pulled")
	}
	for _, n := range []int{3, 2} {
		apply("revision-12", replicas(n))
		k.settle(name)
	}
	k.hasPods(name, 2)

	got := r.stop()
	k.Log(got)
	k.equal("failed requests", 0, got.failed())
	k.equal("revisions that were read", 12, len(got.pages))
}

// LiveReload checks what readers get from books that mdBook serves, which is the
// default: status 404 while mdBook builds a new text, and no other failure.
// docs/delivery.md has the numbers.
func LiveReload(k *kit) {
	k.needsNode()
	names := []string{"small", "large"}
	apply := func(revision string) {
		for name, more := range map[string]option{"small": unchanged, "large": large} {
			k.apply(book(name, replicas(2), withRevision(revision), more))
		}
	}
	apply("revision-0")
	k.settle(names...)
	reading := func(while string, change func(map[string]*reader)) {
		readers := map[string]*reader{"small": k.readBook("small"), "large": k.readBook("large")}
		change(readers)
		for _, name := range names {
			got := readers[name].stop()
			k.Logf("%s, %s book: %s", while, name, got)
			delete(got.failures, "status 404")
			k.equal("failures of the "+name+" book", 0, got.failed())
		}
	}

	reading("rollouts that complete before old pods have the new text", func(readers map[string]*reader) {
		for _, revision := range []string{"revision-1", "revision-2"} {
			begin := time.Now()
			apply(revision)
			for _, name := range names {
				ready, page := k.timed(name, revision, readers[name])
				k.Logf("%s book: from a change to Ready: %.1f s; to the first page: %.1f s", name,
					ready.Sub(begin).Seconds(), page.Sub(begin).Seconds())
			}
		}
	})

	// A rollout that takes longer: the kubelet updates the files of old pods when it
	// syncs them, once a minute or when a pod changes.
	for _, name := range names {
		k.hasPods(name, 2)
		k.kubectl("rollout", "pause", "deployment", "viewer-"+name)
	}
	reading("a rollout during which old pods have the new text", func(readers map[string]*reader) {
		apply("revision-3")
		for _, name := range names {
			k.eventually("the new text in old pods of "+name, func(k *kit) {
				k.nudge("pods", name)
				k.check(readers[name].has("revision-3"))
			})
			k.kubectl("rollout", "resume", "deployment", "viewer-"+name)
		}
		k.settle(names...)
	})
}

// large adds 900 KB in 450 chapters to a book.
func large(s map[string]any) {
	summary := s["markdowns"].(map[string]any)["SUMMARY.md"].(string)
	text := strings.Repeat("This sentence is here to fill the page. ", 50)
	for i := range 450 {
		name := fmt.Sprintf("long-%d.md", i)
		file(name, fmt.Sprintf("# Long %d\n\n%s\n", i, text))(s)
		summary += fmt.Sprintf("- [Long %d](%s)\n", i, name)
	}
	file("SUMMARY.md", summary)(s)
}

// impatient is an Input with which a rollout is stuck soon.
const impatient = "templates: {deployment: {spec: {progressDeadlineSeconds: 5}}}"

// production returns the option of the Composition of example/production with a changed Input,
// and without a route, which needs the Gateway API.
func (k *kit) production(change ...option) option {
	k.Helper()
	k.apply(k.manifests("production/rbac.yaml")...)
	k.eventually("permissions of Crossplane", func(k *kit) {
		k.may(crossplaneUser(), map[string]bool{"patch policy/poddisruptionbudgets": true})
	})
	withoutRoute := func(input map[string]any) {
		delete(input, "route")
		delete(input, "allowedHosts")
	}

	return composedBy(k.example("production", append(change, withoutRoute)...))
}

// hasPods waits until a MarkdownView has n pods, and all others are deleted.
func (k *kit) hasPods(name string, n int) {
	k.Helper()
	k.eventually("pods of "+name, func(k *kit) { k.equal("pods", n, len(k.podsOf(name))) })
}

// evict evicts all pods of a MarkdownView and waits until they are deleted, as a drain
// does. It repeats the request while the PodDisruptionBudget rejects it. The node is
// not cordoned, because it is the only one.
func (k *kit) evict(name string) {
	k.Helper()
	pods := k.podsOf(name)
	for _, pod := range pods {
		k.eventually("eviction of "+pod.Name, func(k *kit) {
			k.must(client.IgnoreNotFound(k.SubResource("eviction").Create(k.Context(), &pod, &policyv1.Eviction{})))
		})
	}
	for _, pod := range pods {
		k.eventually("deletion of "+pod.Name, func(k *kit) { k.gone(&corev1.Pod{}, pod.Name) })
	}
}
