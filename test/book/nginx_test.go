package main

import (
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
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

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/crossplane-contrib/function-markdownview/book"
	"github.com/crossplane-contrib/function-markdownview/test/sample"
)

// nginxCommand returns a command that runs the web server of a pod with Debian's nginx:
// as another user, who can write only to /tmp. site is the folder of the built book.
// NGINX is the root directory of nginx, which test/debian.sh creates.
func nginxCommand(t *testing.T, d *appsv1.Deployment, site string, args ...string) *exec.Cmd {
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
		must(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	cmd := exec.CommandContext(t.Context(), "/bin/sh", slices.Concat([]string{"-ec", script, root}, server.Command, server.Args, args)...)
	cmd.Env = []string{
		"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "CONFIG=" + config, "DOCUMENT=" + document, "OUTPUT=" + site,
		"NGINX_CONF=" + d.Spec.Template.Annotations["markdownview.fn.crossplane.io/nginx.conf"],
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	// After SIGKILL, nginx could not stop its worker processes.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }

	return cmd
}

// get returns the status, the header and the body of a response, without following
// redirects and without decoding.
func get(t *testing.T, url string, header map[string]string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	must(t, err)
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
		return 0, nil, err.Error()
	}

	return rsp.StatusCode, rsp.Header, string(body)
}

// withServer returns an Input with a web server, and an Ingress with a path unless it is
// empty.
func withServer(path string, port int) map[string]any {
	in := map[string]any{
		"apiVersion": "markdownview.fn.crossplane.io/v1beta1", "kind": "Input", "server": map[string]any{"port": float64(port)},
	}
	if path != "" {
		in["ingress"] = map[string]any{"host": "books.example.com", "path": path}
	}

	return in
}

// TestNginxConfiguration checks that nginx accepts every configuration that the function
// composes.
func TestNginxConfiguration(t *testing.T) {
	t.Parallel()
	if !ownNetwork(t) {
		return
	}
	// Any user can listen on any port, as container runtimes allow by default.
	must(t, os.WriteFile("/proc/sys/net/ipv4/ip_unprivileged_port_start", []byte("0"), 0o600))
	reqs := map[string]*fnv1.RunFunctionRequest{}
	for _, port := range []int{1, 80, 8080, 65535} {
		for _, path := range []string{
			"", "/{namespace}/{name}/", "/a.b_c~d-e/0/{name}/" + "{namespace}/", "/{namespace}/" + strings.Repeat("x", 179) + "/{name}/",
		} {
			for _, name := range []string{"a", "0.b-c", strings.Repeat("a", 253)} {
				what := fmt.Sprintf("port %d, path %q, name %q", port, path, name)
				reqs[what] = request(t, name, onePage(), withServer(path, port))
				if port == 8080 {
					reqs[what].Observed.Resources = map[string]*fnv1.Resource{"service": {Resource: object(t, map[string]any{
						"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"namespace": "default"},
						"spec": map[string]any{"clusterIP": "fd00::1", "ipFamilies": []any{"IPv6"}},
					})}}
				}
			}
		}
	}
	for seed := range uint64(200) {
		s := sample.Random(seed)
		v, in := s.View(), s.Input()
		sample.Fit(v, in)
		if in["server"] != nil && v["spec"].(map[string]any)["markdownsFrom"] == nil {
			reqs[fmt.Sprint("sample ", seed)] = request(t, "sample", v["spec"].(map[string]any), in)
		}
	}
	for what, req := range reqs {
		d := composed[appsv1.Deployment](t, respond(t, req), "deployment")
		config, ok := d.Spec.Template.Annotations["markdownview.fn.crossplane.io/nginx.conf"]
		if !ok {
			continue // The server has a configuration of its own.
		}
		out, err := nginxCommand(t, d, t.TempDir(), "-t").CombinedOutput()
		if err != nil || strings.Contains(string(out), "[warn]") {
			t.Errorf("%s: nginx rejects the configuration, or warns: %v\n%s\n%s", what, err, out, config)
		}
	}
}

// TestNginx checks what readers get from nginx with the composed configuration, for a book
// at / and for one below it.
func TestNginx(t *testing.T) {
	t.Parallel()
	for version, m := range mdbooks(t) {
		for name, path := range map[string]string{"Root": "", "Path": "/{namespace}/{name}/"} {
			t.Run(version+"/"+name, func(t *testing.T) {
				t.Parallel()
				if !ownNetwork(t) {
					return
				}
				at := strings.NewReplacer("{namespace}", "default", "{name}", "sample").Replace(cmp.Or(path, "/"))
				rsp := respond(t, request(t, "sample", onePage(), withServer(path, 8080)))
				d := composed[appsv1.Deployment](t, rsp, "deployment")
				files := largeBook()
				files["guide/deep/page.md"] = "# Deep\n\n[First](../../chapter-001.md)\n"
				files["SUMMARY.md"] += "- [Deep](guide/deep/page.md)\n"
				files["tool.mjs"] = "export default 1\n"
				all := book.Files{Markdowns: files, Binaries: []string{"plan-20240101.png"}}
				site, err := m.build(t, all, environment(d.Spec.Template.Spec.InitContainers[0])...)
				must(t, err)
				server := d.Spec.Template.Spec.Containers[0]
				host := fmt.Sprintf("http://127.0.0.1:%d", server.Ports[0].ContainerPort)
				start(t, nginxCommand(t, d, site)).eventually(t, "nginx serves", func() bool {
					status, _, _ := get(t, host+server.ReadinessProbe.HTTPGet.Path, nil)
					return status == http.StatusOK
				})

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
	must(t, err)
	_, _, body := get(t, from.String(), nil)
	if m := base.FindStringSubmatch(body); m != nil {
		from, err = from.Parse(m[1])
		must(t, err)
	}
	found := 0
	for _, m := range links.FindAllStringSubmatch(body, -1) {
		to, err := from.Parse(m[1])
		must(t, err)
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
	for name := range readAll(t, site) {
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
