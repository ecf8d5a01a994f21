package main

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/crossplane-contrib/function-markdownview/book"
	"github.com/crossplane-contrib/function-markdownview/test/sample"
)

// nginxCommand returns a command that runs the web server of a pod with Debian's nginx:
// as another user, who can write only to /tmp. site is the folder of the built book.
// NGINX is the root directory of nginx, which test/debian.sh creates.
func nginxCommand(ctx context.Context, t *testing.T, d *appsv1.Deployment, site string, args ...string) *exec.Cmd {
	t.Helper()
	root, err := filepath.Abs(os.Getenv("NGINX"))
	if err != nil || os.Getenv("NGINX") == "" {
		t.Fatal("NGINX is empty: run \"make test-book\"")
	}
	server := d.Spec.Template.Spec.Containers[0]
	config, document := server.VolumeMounts[2].MountPath, server.VolumeMounts[0].MountPath
	// The folders of the book are in a file system of this process, as in the file system
	// of a container.
	const script = `mkdir -p "$0/tmp" "$0/usr/share/nginx/html" "$0$CONFIG"
mount -t tmpfs tmpfs "$0/tmp"; mount -t tmpfs tmpfs "$0/usr/share/nginx/html"; mount -t tmpfs tmpfs "$0$CONFIG"
mount --rbind /dev "$0/dev"; mount --rbind /proc "$0/proc"
printf %s "$NGINX_CONF" >"$0$CONFIG/nginx.conf"
mkdir -p "$0$DOCUMENT"; mount --bind "$OUTPUT" "$0$DOCUMENT"
exec unshare --map-user=65532 --map-group=65532 --root="$0" "$@"`
	for _, dir := range []string{"dev", "proc"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", slices.Concat([]string{"-ec", script, root}, server.Command, server.Args, args)...)
	cmd.Env = []string{
		"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "CONFIG=" + config, "DOCUMENT=" + document, "OUTPUT=" + site,
		"NGINX_CONF=" + d.Spec.Template.Annotations["markdownview.fn.crossplane.io/nginx.conf"],
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}

	return cmd
}

// startNginx runs the web server of a pod until the test ends, and waits until it serves.
func startNginx(t *testing.T, d *appsv1.Deployment, site string) (address string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	log := &output{}
	cmd := nginxCommand(ctx, t, d, site)
	cmd.Stdout, cmd.Stderr = log, log
	// After SIGKILL, nginx could not stop its worker processes.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
	})
	address = fmt.Sprintf("http://127.0.0.1:%d", d.Spec.Template.Spec.Containers[0].Ports[0].ContainerPort)
	probe := d.Spec.Template.Spec.Containers[0].ReadinessProbe.HTTPGet.Path
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if status, _, _ := get(t, address+probe, nil); status == http.StatusOK {
			return address
		}
	}
	t.Fatalf("nginx does not serve %s within a minute:\n%s", probe, log)

	return ""
}

// get returns the status, the header and the body of a response, without following
// redirects and without decoding.
func get(t *testing.T, url string, header map[string]string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range header {
		req.Header.Set(name, value)
	}
	rsp, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return 0, nil, err.Error()
	}
	defer rsp.Body.Close() //nolint:errcheck // Only read.
	body, err := io.ReadAll(rsp.Body)
	if err != nil {
		t.Fatal(err)
	}

	return rsp.StatusCode, rsp.Header, string(body)
}

// withServer returns an Input with a web server, and an Ingress with a path unless it is
// empty.
func withServer(path string, port int) map[string]any {
	in := listen("")
	delete(in, "listenAddress")
	in["server"] = map[string]any{"port": float64(port)}
	if path != "" {
		in["ingress"] = map[string]any{"host": "books.example.com", "path": path}
	}

	return in
}

// builtFor returns the folder of a book that mdBook has built in the init container of a
// pod.
func (m mdbook) builtFor(t *testing.T, d *appsv1.Deployment, files map[string]string, binaries ...string) string {
	t.Helper()
	site, err := m.build(t, book.Files{Markdowns: files, Binaries: binaries}, environment(d.Spec.Template.Spec.InitContainers[0])...)
	if err != nil {
		t.Fatal(err)
	}

	return site
}

// TestNginxConfiguration checks that nginx accepts every configuration that the function
// composes.
func TestNginxConfiguration(t *testing.T) {
	t.Parallel()
	if !ownNetwork(t) {
		return
	}
	unprivilegedPorts(t)
	accepts := func(what string, req map[string]any, spec map[string]any, name string, ipv6 bool) {
		t.Helper()
		r := request(t, name, spec, req)
		if ipv6 {
			r.Observed.Resources = map[string]*fnv1.Resource{"service": {Resource: object(t, map[string]any{
				"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"namespace": "default"},
				"spec": map[string]any{"clusterIP": "fd00::1", "ipFamilies": []any{"IPv6"}},
			})}}
		}
		d := composed[appsv1.Deployment](t, respond(t, r), "deployment")
		config, ok := d.Spec.Template.Annotations["markdownview.fn.crossplane.io/nginx.conf"]
		if !ok {
			return // The server has a configuration of its own.
		}
		if got := strings.Contains(config, "listen [::]:"); got != ipv6 {
			t.Errorf("%s: nginx listens on IPv6: want %t, got %t", what, ipv6, got)
		}
		if out, err := nginxCommand(t.Context(), t, d, t.TempDir(), "-t").CombinedOutput(); err != nil {
			t.Errorf("%s: nginx rejects the configuration: %v\n%s\n%s", what, err, out, config)
		} else if strings.Contains(string(out), "[warn]") {
			t.Errorf("%s: nginx warns:\n%s", what, out)
		}
	}
	for _, port := range []int{1, 80, 8080, 65535} {
		for _, path := range []string{"", "/{namespace}/{name}/", "/a.b_c~d-e/0/{name}/" + "{namespace}/", "/" + strings.Repeat("x", 191) + "/{name}/"} {
			for _, name := range []string{"a", "0.b-c", strings.Repeat("a", 253)} {
				in := withServer(path, port)
				if ingress, ok := in["ingress"].(map[string]any); ok && !strings.Contains(path, "{namespace}") {
					ingress["host"] = "{namespace}.example.com"
				}
				accepts(fmt.Sprintf("port %d, path %q, name %q", port, path, name), in, onePage(), name, port == 8080)
			}
		}
	}
	for seed := range uint64(200) {
		s := sample.Random(seed)
		v, in := s.View(), s.Input()
		sample.Fit(v, in)
		if in["server"] != nil && v["spec"].(map[string]any)["markdownsFrom"] == nil {
			accepts(fmt.Sprint("sample ", seed), in, v["spec"].(map[string]any), "sample", false)
		}
	}
}

// unprivilegedPorts lets any user listen on any port, as container runtimes do by default.
func unprivilegedPorts(t *testing.T) {
	t.Helper()
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_unprivileged_port_start", []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestNginx checks what readers get from nginx with the composed configuration, for a book
// at / and for one below it.
func TestNginx(t *testing.T) {
	t.Parallel()
	for version, m := range mdbooks(t) {
		for name, at := range map[string]string{"Root": "/", "Path": "/default/sample/"} {
			t.Run(version+"/"+name, func(t *testing.T) {
				t.Parallel()
				if !ownNetwork(t) {
					return
				}
				pattern := ""
				if at != "/" {
					pattern = "/{namespace}/{name}/"
				}
				d := composed[appsv1.Deployment](t, respond(t, request(t, "sample", onePage(), withServer(pattern, 8080))), "deployment")
				files := largeBook()
				files["guide/deep/page.md"] = "# Deep\n\n[First](../../chapter-001.md)\n"
				files["SUMMARY.md"] += "- [Deep](guide/deep/page.md)\n"
				files["tool.mjs"] = "export default 1\n"
				site := m.builtFor(t, d, files, "plan-20240101.png")
				host := startNginx(t, d, site)

				checkPages(t, host, at, site)
				checkCaching(t, host, at, site)
				checkUnknown(t, host, at, site)
			})
		}
	}
}

// checkPages checks that pages are compressed, that their links lead to files, and which
// headers they have.
func checkPages(t *testing.T, host, at, site string) {
	t.Helper()
	status, header, plain := get(t, host+at+"print.html", nil)
	if status != http.StatusOK || header.Get("Content-Encoding") != "" {
		t.Fatalf("print.html: got status %d and %v", status, header)
	}
	for name, want := range map[string]string{
		"Content-Type": "text/html", "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff",
		"Referrer-Policy": "strict-origin-when-cross-origin", "Server": "nginx", "Vary": "Accept-Encoding",
	} {
		if got := header.Get(name); got != want {
			t.Errorf("header %s of print.html: want %q, got %q", name, want, got)
		}
	}
	_, header, packed := get(t, host+at+"print.html", map[string]string{"Accept-Encoding": "gzip", "Via": "1.1 gateway"})
	t.Logf("print.html: %d bytes, %d compressed", len(plain), len(packed))
	if len(packed) > len(plain)*4/10 {
		t.Errorf("print.html: want at most 40%% of %d bytes, got %d", len(plain), len(packed))
	}
	if z, err := gzip.NewReader(strings.NewReader(packed)); err != nil {
		t.Error(err)
	} else if unpacked, err := io.ReadAll(z); err != nil || string(unpacked) != plain {
		t.Errorf("the compressed page is another one: %v", err)
	}
	status, _, body := get(t, host+at+"print.html", map[string]string{"If-None-Match": header.Get("Etag"), "Accept-Encoding": "gzip"})
	if status != http.StatusNotModified || body != "" || header.Get("Etag") == "" {
		t.Errorf("a second visit: want an ETag and status 304, got %q and %d with %d bytes", header.Get("Etag"), status, len(body))
	}
	checkLinks(t, host, at, at, site)
	checkLinks(t, host, at, at+"guide/deep/page.html", site)
	if _, header, _ := get(t, host+at+"tool.mjs", nil); header.Get("Content-Type") != "text/javascript" {
		t.Errorf("a browser runs no module with the type %q", header.Get("Content-Type"))
	}
	status, header, _ = get(t, host+at+"guide/deep?a=b", nil)
	if want := at + "guide/deep/?a=b"; status != http.StatusMovedPermanently || header.Get("Location") != want {
		t.Errorf("a folder: want a redirect to %q, got status %d and %q", want, status, header.Get("Location"))
	}
}

var (
	links = regexp.MustCompile(` (?:href|src)="([^"#]+)[^"]*"`)
	base  = regexp.MustCompile(`<base href="([^"]*)">`)
)

// checkLinks checks that the links of a page lead to files below a path, as a browser
// resolves them. Debian's mdBook lacks some of the files to which its pages link.
func checkLinks(t *testing.T, host, at, page, site string) {
	t.Helper()
	from, err := url.Parse(host + page)
	if err != nil {
		t.Fatal(err)
	}
	_, _, body := get(t, from.String(), nil)
	if m := base.FindStringSubmatch(body); m != nil {
		if from, err = from.Parse(m[1]); err != nil {
			t.Fatal(err)
		}
	}
	found := 0
	for _, m := range links.FindAllStringSubmatch(body, -1) {
		to, err := from.Parse(m[1])
		if err != nil {
			t.Fatal(err)
		}
		file, below := strings.CutPrefix(to.Path, at)
		if _, err := os.Stat(filepath.Join(site, file)); err != nil && below {
			continue
		}
		status, _, _ := get(t, to.String(), nil)
		if status != http.StatusOK {
			t.Errorf("%s links to %s: status %d", page, to, status)
		}
		found++
	}
	if found < 10 {
		t.Errorf("%s links to only %d files:\n%s", page, found, body[:min(len(body), 2000)])
	}
}

// checkCaching checks for how long browsers keep each file of a book.
func checkCaching(t *testing.T, host, at, site string) {
	t.Helper()
	// mdBook 0.5 adds hashes to the names of its own files. It writes names into searcher.js
	// after it has computed its hash.
	hashed := regexp.MustCompile(`-[0-9a-f]{8}\.(min\.)?(css|js|png|svg)$`)
	immutable := 0
	if err := filepath.WalkDir(site, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(site, file)
		want := "no-cache"
		if hashed.MatchString(name) && name != "plan-20240101.png" && !strings.HasPrefix(name, "searcher-") {
			want = "public, max-age=31536000, immutable"
			immutable++
		}
		status, header, _ := get(t, host+at+name, nil)
		if got := header.Get("Cache-Control"); status != http.StatusOK || got != want {
			t.Errorf("%s: want Cache-Control %q, got status %d and %q", name, want, status, got)
		}
		status, header, _ = get(t, host+at+name, map[string]string{"If-None-Match": header.Get("Etag")})
		if got := header.Get("Cache-Control"); status != http.StatusNotModified || got != want {
			t.Errorf("%s: want status 304 and %q, got %d and %q", name, want, status, got)
		}

		return nil
	}); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d immutable files", immutable)
	if want := strings.Contains(site, "sid"); want != (immutable > 10) {
		t.Errorf("%d files are immutable", immutable)
	}
}

// checkUnknown checks that an unknown address at any depth has the page of the book.
func checkUnknown(t *testing.T, host, at, site string) {
	t.Helper()
	for _, unknown := range []string{"absent.html", "a/b/c/absent.html", "guide/deep/absent", "css/", "css/general-01234567.css"} {
		status, header, body := get(t, host+at+unknown, nil)
		if status != http.StatusNotFound || !strings.Contains(body, `<base href="`+at+`">`) || !strings.Contains(body, "<mdbook-sidebar-scrollbox") {
			t.Errorf("%s: want status 404 and the sidebar, got %d:\n%s", unknown, status, body)
		}
		if got := header.Get("Cache-Control") + header.Get("X-Content-Type-Options"); got != "no-cachenosniff" {
			t.Errorf("%s: got the headers %v", unknown, header)
		}
		checkLinks(t, host, at, at+unknown, site)
	}
	if at == "/" {
		return
	}
	folder := strings.TrimSuffix(at, "/")
	for path, want := range map[string]string{folder: "301 " + at, folder + "?search=a": "301 " + at + "?search=a", "/": "404 ", folder + "x/": "404 ", path.Dir(folder): "404 "} {
		status, header, body := get(t, host+path, nil)
		if got := fmt.Sprintf("%d %s", status, header.Get("Location")); got != want {
			t.Errorf("%s: want %q, got %q", path, want, got)
		}
		if status == http.StatusNotFound && !strings.Contains(body, `<base href="`+at+`">`) {
			t.Errorf("%s: got another page:\n%s", path, body)
		}
	}
}

// TestOneHost checks 50 books on one host. A proxy forwards each request by the paths of
// the composed Ingresses.
func TestOneHost(t *testing.T) {
	t.Parallel()
	if !ownNetwork(t) {
		return
	}
	const books = 50
	m := mdbooks(t)["mdbook-sid"]
	backends, sites := map[string]*httputil.ReverseProxy{}, map[string]string{}
	for i := range books {
		name := fmt.Sprintf("book-%d", i)
		files := map[string]string{"SUMMARY.md": "- [A](a.md)\n- [B](guide/b.md)\n", "a.md": "# Start of " + name + ".\n", "guide/b.md": "# Guide of " + name + ".\n\n[A](../a.md)\n"}
		rsp := respond(t, request(t, name, onePage(), withServer("/{namespace}/{name}/", 10000+i)))
		if got, want := rsp.GetDesired().GetComposite().GetResource().AsMap()["status"].(map[string]any)["url"], "http://books.example.com/default/"+name+"/"; got != want {
			t.Errorf("status.url: want %q, got %q", want, got)
		}
		d := composed[appsv1.Deployment](t, rsp, "deployment")
		site := m.builtFor(t, d, files)
		backend, err := url.Parse(startNginx(t, d, site))
		if err != nil {
			t.Fatal(err)
		}
		rule := composed[networkingv1.Ingress](t, rsp, "ingress").Spec.Rules[0]
		if rule.Host != "books.example.com" || *rule.HTTP.Paths[0].PathType != networkingv1.PathTypePrefix {
			t.Errorf("want a prefix on one host, got %v", rule)
		}
		backends[rule.HTTP.Paths[0].Path], sites[name] = httputil.NewSingleHostReverseProxy(backend), site
	}
	if len(backends) != books {
		t.Fatalf("want %d paths, got %d", books, len(backends))
	}
	// A prefix matches whole parts of a path.
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for at := r.URL.Path; at != "/"; at = path.Dir(at) {
			if backend := backends[at]; backend != nil {
				backend.ServeHTTP(w, r)
				return
			}
		}
		http.Error(w, "no route", http.StatusBadGateway)
	}))
	defer proxy.Close()
	for i := range books {
		at, name := fmt.Sprintf("/default/book-%d/", i), fmt.Sprintf("book-%d.", i)
		for page, want := range map[string]string{"": "200 Start of " + name, "guide/b.html": "200 Guide of " + name, "a/b/absent": "404 Document not found"} {
			status, _, body := get(t, proxy.URL+at+page, nil)
			code, text, _ := strings.Cut(want, " ")
			if fmt.Sprint(status) != code || !strings.Contains(body, text) {
				t.Errorf("%s: want %q, got status %d:\n%s", at+page, want, status, body[:min(len(body), 1000)])
			}
			checkLinks(t, proxy.URL, at, at+page, sites[strings.TrimSuffix(name, ".")])
		}
	}
}
