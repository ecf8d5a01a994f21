package viewer_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane-contrib/function-markdownview/book"
	"github.com/crossplane-contrib/function-markdownview/fn"
	"github.com/crossplane-contrib/function-markdownview/test/viewer/composed"
	"github.com/crossplane-contrib/function-markdownview/test/viewer/pod"
)

// TestBrowser opens a nested book of 100 pages in a browser: the sidebar is made there.
func TestBrowser(t *testing.T) {
	t.Parallel()
	spec := nestedBook(t)
	p := serve(t, compose(t, spec))

	screenshot := filepath.Join(env(t, "VIEWER_RUN"), "book.png")
	dom := browse(t, p, screenshot)
	_, page := get(t, p, "/")
	for _, text := range []string{
		`This is the runbook of the <strong>web shop</strong>`,
		`<title>Welcome - Runbook</title>`,
		`<strong aria-hidden="true">1.</strong> Welcome</a>`,
		`<strong aria-hidden="true">6.1.</strong> Service 01</a>`,
		`第40章</a>`,
	} {
		if !strings.Contains(dom, text) {
			t.Errorf("want %q, got:\n%s", text, dom)
		}
	}
	if strings.Contains(page, "第40章") {
		t.Error("the sidebar is there without a browser, so this test shows nothing")
	}

	checkScreenshot(t, screenshot)
}

// TestNested checks that every page and file of a nested book is served byte for byte.
func TestNested(t *testing.T) {
	t.Parallel()
	spec := nestedBook(t)
	p := serve(t, compose(t, spec))

	pages := 0
	for name, text := range spec["markdowns"].(map[string]any) {
		want, file := strings.TrimPrefix(strings.SplitN(text.(string), "\n", 2)[0], "# "), name
		if strings.HasSuffix(name, ".md") {
			file = book.Page(name)
			pages++
		}
		code, body := get(t, p, "/"+(&url.URL{Path: file}).EscapedPath())
		if code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: want 200 and %q, got %d and:\n%s", name, want, code, body)
		}
	}
	if pages != 100 {
		t.Errorf("the book has %d pages", pages)
	}
	for name, text := range spec["binaries"].(map[string]any) {
		want, err := base64.StdEncoding.DecodeString(text.(string))
		if err != nil {
			t.Fatal(err)
		}
		if code, body := get(t, p, "/"+(&url.URL{Path: name}).EscapedPath()); code != http.StatusOK || body != string(want) {
			t.Errorf("%s: want 200 and %d bytes, got %d and %d", name, len(want), code, len(body))
		}
	}
}

// nestedBook returns the spec of a book of 100 pages with folders, images and Japanese
// names, whose SUMMARY.md is generated.
func nestedBook(t *testing.T) map[string]any {
	t.Helper()
	texts := map[string]any{}
	dir := os.DirFS("testdata/book")
	err := fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(dir, name)
		texts[name] = string(b)

		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	texts["services/README.md"] = "# Services\n"
	texts["手順/README.md"] = "# 手順\n"
	for i := range 40 {
		texts[fmt.Sprintf("手順/第%02d章.md", i+1)] = fmt.Sprintf("# 第%02d章\n\n![logo](../img/ロゴ.png)\n", i+1)
	}
	for i := 1; len(texts) <= 100; i++ {
		texts[fmt.Sprintf("services/service %02d.md", i)] = fmt.Sprintf("# Service %02d\n\n![shop](../img/shop.svg)\n", i)
	}
	picture := bytes.Buffer{}
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 16, 16))); err != nil {
		t.Fatal(err)
	}

	return map[string]any{
		"markdowns": texts,
		"binaries":  map[string]any{"img/ロゴ.png": base64.StdEncoding.EncodeToString(picture.Bytes())},
		"summary":   "Auto",
		"book":      map[string]any{"title": "Runbook", "authors": []any{"On call"}},
	}
}

// compose returns what the function composes for a spec.
func compose(t *testing.T, spec map[string]any) composed.Resources {
	t.Helper()
	xr, err := structpb.NewStruct(map[string]any{
		"apiVersion": "markdownview.fn.crossplane.io/v1alpha1", "kind": "MarkdownView",
		"metadata": map[string]any{"name": "nested", "namespace": "default"}, "spec": spec,
	})
	if err != nil {
		t.Fatal(err)
	}
	rsp, err := fn.New(logging.NewNopLogger(), 0).RunFunction(t.Context(), &fnv1.RunFunctionRequest{
		Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: xr}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range rsp.GetConditions() {
		if c.GetType() == fn.TypeBookComplete && c.GetReason() != fn.ReasonComplete {
			t.Fatalf("the book has problems: %s", c.GetMessage())
		}
	}
	var r composed.Resources
	for key, into := range map[string]any{"configmap": &r.ConfigMap, "deployment": &r.Deployment, "service": &r.Service} {
		object := rsp.GetDesired().GetResources()[key].GetResource()
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.AsMap(), into); err != nil {
			t.Fatalf("cannot read the composed %s: %v", key, err)
		}
	}

	return r
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
