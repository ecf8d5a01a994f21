package viewer_test

import (
	"bytes"
	"image/png"
	"net"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane-contrib/function-markdownview/test/viewer/pod"
)

// The sidebar and the search are made in the browser, so only one can tell.
func TestBrowser(t *testing.T) {
	t.Parallel()
	r := rendered(t, "first.yaml")
	r.ConfigMap.Data = sampleBook(t)
	p := serve(t, r)

	screenshot := filepath.Join(env(t, "VIEWER_RUN"), "book.png")
	dom := browse(t, p, screenshot)
	_, page := get(t, p, "/")
	for _, text := range []string{
		`This is the runbook of the <strong>web shop</strong>`,
		`<strong aria-hidden="true">1.</strong> When it is slow</a>`,
		`<strong aria-hidden="true">1.1.</strong> The database</a>`,
		`<strong aria-hidden="true">4.</strong> Backups</a>`,
		`<li class="part-title">Every day</li>`,
	} {
		if !strings.Contains(dom, text) {
			t.Errorf("want %q, got:\n%s", text, dom)
		}
	}
	if strings.Contains(page, "part-title") {
		t.Error("the sidebar is there without a browser, so this test shows nothing")
	}

	checkScreenshot(t, screenshot)
}

func sampleBook(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/book/*.md")
	if err != nil {
		t.Fatal(err)
	}
	book := map[string]string{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		book[filepath.Base(file)] = string(b)
	}

	return book
}

// browse opens the book in a browser, and returns its document as it is once all
// scripts have run.
func browse(t *testing.T, p *pod.Pod, screenshot string) string {
	t.Helper()
	base, err := p.URL("http")
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	// The browser is not in the network of the pod.
	proxy := httputil.NewSingleHostReverseProxy(u)
	proxy.Transport = p.Client().Transport
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	if host, _, err := net.SplitHostPort(server.Listener.Addr().String()); err != nil || host != "127.0.0.1" {
		t.Fatalf("the proxy listens on %q: %v", host, err)
	}

	var log bytes.Buffer
	cmd := exec.Command(env(t, "VIEWER_BROWSER"), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
		"--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--disable-dev-shm-usage", "--hide-scrollbars", "--user-data-dir="+t.TempDir(), "--window-size=1100,640",
		"--screenshot="+screenshot, "--dump-dom", server.URL)
	cmd.Stderr = &log
	dom, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, log.String())
	}

	return string(dom)
}

// checkScreenshot fails when there is nothing to see.
func checkScreenshot(t *testing.T, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if got := img.Bounds().Size(); got.X != 1100 || got.Y != 640 {
		t.Errorf("screenshot: want 1100 by 640, got %v", got)
	}
	colours := map[[3]uint32]bool{}
	for x := range img.Bounds().Dx() {
		for y := range img.Bounds().Dy() {
			r, g, b, _ := img.At(x, y).RGBA()
			colours[[3]uint32{r, g, b}] = true
		}
	}
	if len(colours) < 20 {
		t.Errorf("screenshot: got %d colours", len(colours))
	}
}
