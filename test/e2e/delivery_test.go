package e2e

import (
	"errors"
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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
	composition := k.production(nil)
	k.apply(book(name, composedBy(composition), withRevision("revision-1"), large, func(s map[string]any) {
		s["binaries"] = map[string]any{"img/dot.gif": dot}
		// mdBook needs memory to build the search index.
		s["resources"] = map[string]any{"limits": map[string]any{"memory": "1Gi"}}
	}))
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
		rsp, err := http.Get("http://" + address + path) //nolint:noctx // A test has a timeout.
		k.must(err)
		_ = rsp.Body.Close() // Only the header is of interest.
		mediaType, _, _ := strings.Cut(rsp.Header.Get("Content-Type"), ";")
		k.check(equal(path, want, fmt.Sprintf("%d %s", rsp.StatusCode, mediaType)))
	}
	k.memory(name, "server", requests)
	k.completesDownloads(name)
	k.below()
}

// below checks a book below a path of its host, also with a browser: the page for unknown
// addresses has the sidebar and styles of the book, and links and the search work. The
// test writes a screenshot of that page to the file that E2E_PICTURE_404 names.
func (k *kit) below() {
	k.Helper()
	const name = "handbook"
	composition := k.composition("path", kind, ours(map[string]any{
		"server": map[string]any{"port": int64(80)}, "ingress": map[string]any{"host": "books.example.com", "path": "/{namespace}/{name}/"},
	}))
	k.apply(book(name, composedBy(composition), func(s map[string]any) {
		s["markdowns"], s["summary"], s["book"] = k.files("testdata/runbook"), "Auto", map[string]any{"title": "Handbook"}
	}))
	k.eventually("address of the Ingress", func() error {
		i := &networkingv1.Ingress{}
		if err := k.get(i, "viewer-"+name); err != nil {
			return err
		}
		i.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: "192.0.2.1"}}

		return k.Status().Update(k.Context(), i)
	})
	k.settle(name)
	at := "/" + k.namespace + "/" + name + "/"
	v, err := k.view(name)
	k.must(err)
	k.check(equal("URL", "http://books.example.com"+at, v.Status.URL))
	k.servedAt(name, at, "Welcome")

	address := k.address(name)
	b := k.browser()
	_, err = b.call("Page.navigate", map[string]any{"url": "http://" + address + at + "a/b/absent.html"})
	k.must(err)
	b.until(`document.querySelector("main h1").innerText.startsWith("Document not found")`)
	b.until(`document.querySelector(".chapter").innerText.includes("夜間の障害")`)
	b.until(`getComputedStyle(document.querySelector(".chapter")).listStyleType === "none"`)
	if file := os.Getenv("E2E_PICTURE_404"); file != "" {
		k.must(os.WriteFile(file, b.picture(), 0o600))
	}
	b.click(".chapter a", "手順")
	b.until(`document.title === "手順 - Handbook"`)
	b.until(fmt.Sprintf(`location.pathname.startsWith(%q)`, at))
	b.search("queue", "When it is slow")
	b.until(`document.title === "When it is slow - Handbook"`)
	b.until(fmt.Sprintf(`location.pathname.startsWith(%q)`, at))
}

// completesDownloads checks that, after the only pod of a book is deleted, its server
// accepts requests for a while, and completes a download even after it has stopped
// accepting requests.
func (k *kit) completesDownloads(name string) {
	k.Helper()
	pod := k.podsOf(name)[0]
	address := net.JoinHostPort(pod.Status.PodIP, fmt.Sprint(pod.Spec.Containers[0].Ports[0].ContainerPort))
	whole, err := httpGet(k.Context(), "http://"+address+"/print.html")
	k.must(err)

	// With a small buffer, the server can send only what the client reads.
	dialer := net.Dialer{}
	conn, err := dialer.DialContext(k.Context(), "tcp", address)
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
	k.eventually("the server accepts no more requests", func() error {
		if _, err := httpGet(k.Context(), "http://"+address+"/page.html"); err == nil {
			served++
			return fmt.Errorf("it still serves the book")
		}

		return nil
	})
	if served < 10 {
		k.Errorf("the deleted pod has served only %d requests", served)
	}
	rest, err := io.ReadAll(conn)
	k.must(err)
	_, page, _ := strings.Cut(string(begin)+string(rest), "\r\n\r\n")
	k.check(equal("bytes of the download", len(whole), len(page)))
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
	composition := k.production(map[string]any{
		"templates": map[string]any{"deployment": map[string]any{"spec": map[string]any{"progressDeadlineSeconds": int64(5)}}},
	})
	apply := func(revision string, spec ...func(map[string]any)) {
		k.Helper()
		k.apply(book(name, append(spec, composedBy(composition), withRevision(revision))...))
	}
	apply("revision-0", replicas(2))
	k.settle(name)
	r := k.readBook(name)

	const changes = 10
	var toReady, toPage []time.Duration
	calls, cpu := k.calls(), k.functionCPU()
	for i := range changes {
		revision, begin := fmt.Sprintf("revision-%d", i+1), time.Now()
		apply(revision, replicas(2))
		ready, page := k.timed(name, revision, r)
		toReady, toPage = append(toReady, ready.Sub(begin)), append(toPage, page.Sub(begin))
	}
	k.Logf("from a change to Ready: %s; to the first page: %s", median(toReady), median(toPage))
	k.Logf("for each change: %.1f calls of the function, %.0f ms of its CPU", float64(k.calls()-calls)/changes, (k.functionCPU()-cpu)*1000/changes)

	apply("revision-11", replicas(2), image("docker.io/peaceiris/mdbook:"+controlplane.BrokenImage))
	stuck := func(v *markdownView) error {
		return errors.Join(v.is("Degraded", metav1.ConditionTrue, "ProgressDeadlineExceeded"), equal("ready pods", int32(2), v.Status.ReadyReplicas))
	}
	k.until(name, "stuck", stuck)
	k.evict(name)
	k.until(name, "served by replacements of its old pods", stuck)
	if r.has("revision-11") == nil {
		k.Error("there are pages of the change whose image cannot be pulled")
	}
	for _, n := range []int64{3, 2} {
		apply("revision-12", replicas(n))
		k.settle(name)
	}
	k.hasPods(name, 2)

	got := r.stop()
	k.Log(got)
	k.check(equal("failed requests", 0, got.failed()))
	k.check(equal("revisions that were read", 12, len(got.pages)))
}

// LiveReload checks what readers get from books that mdBook serves, which is the
// default: status 404 while mdBook builds a new text, and no other failure.
// docs/delivery.md has the numbers.
func LiveReload(k *kit) {
	k.needsNode()
	names := []string{"small", "large"}
	apply := func(revision string) {
		k.Helper()
		k.apply(book("small", replicas(2), withRevision(revision)))
		k.apply(book("large", replicas(2), withRevision(revision), large))
	}
	apply("revision-0")
	k.settle(names...)
	report := func(what string, readers map[string]*reader) {
		k.Helper()
		for _, name := range names {
			got := readers[name].stop()
			k.Logf("%s, %s book: %s", what, name, got)
			for failure := range got.failures {
				if failure != "status 404" {
					k.Errorf("%s: %s", name, failure)
				}
			}
		}
	}
	read := func() map[string]*reader {
		k.Helper()

		return map[string]*reader{"small": k.readBook("small"), "large": k.readBook("large")}
	}

	readers := read()
	for _, revision := range []string{"revision-1", "revision-2"} {
		begin := time.Now()
		apply(revision)
		for _, name := range names {
			ready, page := k.timed(name, revision, readers[name])
			k.Logf("%s book: from a change to Ready: %.1f s; to the first page: %.1f s", name, ready.Sub(begin).Seconds(), page.Sub(begin).Seconds())
		}
	}
	report("rollouts that complete before old pods have the new text", readers)

	// A rollout that takes longer: the kubelet updates the files of old pods when it
	// syncs them, once a minute or when a pod changes.
	for _, name := range names {
		k.hasPods(name, 2)
		k.kubectl("rollout", "pause", "deployment", "viewer-"+name)
	}
	readers = read()
	apply("revision-3")
	for _, name := range names {
		k.eventually("the new text in old pods of "+name, func() error {
			k.nudge("pods", name)
			return readers[name].has("revision-3")
		})
		k.kubectl("rollout", "resume", "deployment", "viewer-"+name)
	}
	k.settle(names...)
	report("a rollout during which old pods have the new text", readers)
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

// production applies the Composition of example/production with more settings, and
// without a route, which needs the Gateway API. It returns the name of the Composition.
func (k *kit) production(settings map[string]any) string {
	k.Helper()
	role := k.parse(k.read("../../example/production/rbac.yaml"))[0]
	k.apply(role)
	k.afterwards(role)
	k.eventually("permissions of Crossplane", func() error {
		return k.may(crossplaneUser(), map[string]bool{"patch policy/poddisruptionbudgets": true})
	})
	pipeline, _, err := unstructured.NestedSlice(k.parse(k.read("../../example/production/composition.yaml"))[0].Object, "spec", "pipeline")
	k.must(err)
	input := pipeline[0].(map[string]any)["input"].(map[string]any)
	delete(input, "route")
	delete(input, "allowedHosts")
	for name, setting := range settings {
		input[name] = setting
	}

	return k.composition("production", kind, ours(input))
}

// podsOf returns the pods of a MarkdownView.
func (k *kit) podsOf(name string) []corev1.Pod {
	k.Helper()
	l := &corev1.PodList{}
	k.must(k.List(k.Context(), l, client.InNamespace(k.namespace), client.MatchingLabels{"app.kubernetes.io/instance": name}))

	return l.Items
}

// hasPods waits until a MarkdownView has n pods, and all others are deleted.
func (k *kit) hasPods(name string, n int) {
	k.Helper()
	k.eventually("pods of "+name, func() error { return equal("pods", n, len(k.podsOf(name))) })
}

// evict evicts all pods of a MarkdownView and waits until they are deleted, as a drain
// does. It repeats the request while the PodDisruptionBudget rejects it. The node is
// not cordoned, because it is the only one.
func (k *kit) evict(name string) {
	k.Helper()
	pods := k.podsOf(name)
	for _, pod := range pods {
		k.eventually("eviction of "+pod.Name, func() error {
			return client.IgnoreNotFound(k.SubResource("eviction").Create(k.Context(), &pod, &policyv1.Eviction{}))
		})
	}
	for _, pod := range pods {
		k.eventually("deletion of "+pod.Name, func() error { return k.gone(&corev1.Pod{}, pod.Name) })
	}
}
