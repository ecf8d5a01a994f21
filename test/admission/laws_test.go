package admission_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/distribution/reference"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/crossplane-contrib/function-markdownview/book"
	"github.com/crossplane-contrib/function-markdownview/fn"
)

// Pieces of valid values, and of what people and attackers write instead. The tests
// combine them at random, but with a fixed seed, so that the API server admits some of
// the results and rejects others.
var (
	imagePieces = []string{
		"a", "mdbook", "peaceiris/", "docker.io/", "index.docker.io/", "localhost", "REGISTRY", "Registry.example/", "a_b.c/",
		"[::1]", "[abc]/", "[", "]", "/", ".", "-", "--", "_", "__", "___", ":", ":5000/", ":5000", ":v0.5.0", ":latest", ":V_1.2-x",
		"@", "@sha256:", "@SHA256:", "@md5:", "@sha512:", "sha256", strings.Repeat("0", 63), strings.Repeat("0123456789abcdef", 4),
		strings.Repeat("ab", 64), strings.Repeat("a", 127), strings.Repeat("x", 64), strings.Repeat("x/", 60), "https://", " ", "\n", "é", "",
	}
	quantityPieces = []string{
		"0", "1", "64", "0.5", ".", ".5", "-", "+", "e", "E", "e3", "e-3", "E+09", "e99", "e999999999", "e-999999999", "m", "Mi", "MiB",
		"M", "Ki", "k", "K", "Ei", "n", "u", "i", " ", "999999999999", "0x1", "Inf", "NaN", "１",
	}
	linkPieces = []string{
		"/", "/old.html", "new.html", ".html", "guide", "https://", "http://", "HTTPS://", "javascript:", "//", "example.com", ":443", ":", "user@", "#part", "?q", "=", "&", "%20", "%zz",
		"{path}", "..", "/../", "/./", " ", "\u00a0", "\"", "'", "<", ">", "\\", "`", "$(X)", "|", "é", "一", "\x00", "\n", "\u0085", "\ufffe", strings.Repeat("a/", 16), strings.Repeat("x", 250), strings.Repeat("あ", 340), "",
	}
	namePieces = []string{
		"a", "Page", "page.md", "print.md", "SUMMARY.md", ".", "..", "..data", "-", "_", "/", "\\", " ", "\x00", "\n", "é", "%20",
		strings.Repeat("x", 100), strings.Repeat("y", 255), strings.Repeat("あ", 85), "//", "/..", "./", "guide/", strings.Repeat("a/", 16), "css", "toc.js", "index.html/", "/chrome.css/", "\u0085", "\ufffe", "\uffff", "",
	}
)

// pick combines up to six pieces.
func pick(r *rand.Rand, pieces []string) string {
	var b strings.Builder
	for range 1 + r.IntN(6) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}

	return b.String()
}

// specOf returns a random spec that is mostly valid.
func specOf(r *rand.Rand) map[string]any {
	if r.IntN(4) == 0 {
		return with(map[string]any{"book": oneOf(r,
			map[string]any{"redirects": map[string]any{"/" + pick(r, linkPieces) + ".html": "new.html"}},
			map[string]any{"redirects": map[string]any{"/old.html": pick(r, linkPieces)}},
			map[string]any{"repositoryUrl": "https://" + pick(r, linkPieces)},
			map[string]any{"editUrlTemplate": "https://example.com/" + pick(r, linkPieces) + "{path}" + pick(r, linkPieces)})})
	}
	spec := with(nil)
	for range r.IntN(3) {
		spec["markdowns"] = files(map[string]string{pick(r, namePieces): pick(r, namePieces)})
	}
	if r.IntN(3) == 0 {
		spec["replicas"] = r.IntN(8) - 1
	}
	if r.IntN(2) == 0 {
		spec["viewerImage"] = pick(r, imagePieces)
	}
	if r.IntN(4) == 0 {
		spec["markdownsFrom"] = []any{
			map[string]any{"configMap": map[string]any{"name": pick(r, imagePieces)}, "path": pick(r, namePieces)},
		}
	}
	if r.IntN(2) == 0 {
		spec["resources"] = map[string]any{"requests": listOf(r), "limits": listOf(r)}
	}

	return spec
}

// oneOf returns one of the options.
func oneOf[T any](r *rand.Rand, options ...T) T { return options[r.IntN(len(options))] }

func listOf(r *rand.Rand) map[string]any {
	names := []string{"cpu", "memory", "ephemeral-storage", "memory", "cpu", "storage"}
	list := map[string]any{}
	for range r.IntN(3) {
		if name := names[r.IntN(len(names))]; r.IntN(4) == 0 {
			list[name] = r.Int64() - 1
		} else {
			list[name] = pick(r, quantityPieces)
		}
	}

	return list
}

// TestAdmittedIsAccepted checks with random specs that the function accepts what the
// API server admits.
func TestAdmittedIsAccepted(t *testing.T) {
	a := serveFile(t, definition)
	r := rand.New(rand.NewPCG(1, 2))
	admitted := 0
	for range 6_000 {
		if checkSpec(t, a, specOf(r)) {
			admitted++
		}
	}
	if admitted < 600 || admitted > 5_400 {
		t.Errorf("%d of 6000 specs are admitted: want between 600 and 5400", admitted)
	}
}

// checkSpec returns whether a spec is admitted, and fails the test if the function
// rejects a spec that is admitted.
func checkSpec(t *testing.T, a *api, spec map[string]any) bool {
	t.Helper()
	xr, rejected := a.create(t, view(spec))
	if rejected != nil {
		return false
	}
	// Admission does not know whether mdBook can build the book.
	settings, _ := spec["book"].(map[string]any)
	redirects := map[string]string{}
	moved, _ := settings["redirects"].(map[string]any)
	for page, target := range moved {
		redirects[page] = fmt.Sprint(target)
	}
	files := book.Files{Markdowns: spec["markdowns"].(map[string]string), Redirects: redirects}
	if errs, _ := book.Check(files); len(errs.First) > 0 {
		return true
	}
	composite, err := structpb.NewStruct(xr)
	must(t, err)
	// An Input with the same image allows that image.
	image, _ := spec["viewerImage"].(string)
	rsp, err := fn.New(logging.NewNopLogger(), 0).RunFunction(context.Background(), &fnv1.RunFunctionRequest{
		Meta: &fnv1.RequestMeta{Capabilities: []fnv1.Capability{fnv1.Capability_CAPABILITY_REQUIRED_RESOURCES}},
		Input: &structpb.Struct{Fields: map[string]*structpb.Value{
			"apiVersion":  structpb.NewStringValue("markdownview.fn.crossplane.io/v1beta1"),
			"kind":        structpb.NewStringValue("Input"),
			"viewerImage": structpb.NewStringValue(image),
		}},
		Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: composite}},
	})
	must(t, err)
	for _, result := range rsp.GetResults() {
		if result.GetSeverity() == fnv1.Severity_SEVERITY_FATAL {
			t.Errorf("admitted, but rejected by the function: %v\n%s", spec, result.GetMessage())
		}
	}

	return true
}

// TestAdmittedTexts checks random texts. The API server admits some of each kind, else the test
// shows nothing.
func TestAdmittedTexts(t *testing.T) {
	a := serveFile(t, definition)
	for name, tc := range map[string]struct {
		check  func(*testing.T, *api, string) bool
		pieces []string
	}{
		"Images":     {checkImage, imagePieces},
		"Quantities": {checkQuantity, quantityPieces},
		"FileNames":  {checkFileName, namePieces},
	} {
		r, admitted := rand.New(rand.NewPCG(1, 2)), 0
		for range 8_000 {
			if tc.check(t, a, pick(r, tc.pieces)) {
				admitted++
			}
		}
		if admitted < 200 {
			t.Errorf("%s: %d of 8000 texts are admitted: want at least 200", name, admitted)
		}
	}
}

// fuzz checks texts that a fuzzer generates.
func fuzz(f *testing.F, check func(*testing.T, *api, string) bool, seeds ...string) {
	f.Helper()
	a := serveFile(f, definition)
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { check(t, a, text) })
}

func FuzzAdmittedImages(f *testing.F) {
	fuzz(f, checkImage,
		"mdbook", "peaceiris/mdbook:v0.5.0", "docker.io/peaceiris/mdbook", "localhost:5000/a/b:c", "[::1]:5000/a",
		"a@sha256:"+strings.Repeat("0", 64), "a@sha256:"+strings.Repeat("0", 63), "a:b@sha512:"+strings.Repeat("0", 128),
		strings.Repeat("0", 64), "a_b.c/d", "A/b", strings.Repeat("a", 247), strings.Repeat("a", 248), "")
}

// checkImage returns whether an image is admitted. The parser of container runtimes
// must accept every admitted image. The API server must admit every image that the
// parser accepts, except for those that docs/admission.md excludes.
func checkImage(t *testing.T, a *api, image string) bool {
	t.Helper()
	_, rejected := a.create(t, view(with(map[string]any{"viewerImage": image})))
	named, err := reference.ParseNormalizedNamed(image)
	switch {
	case rejected == nil && err != nil && image != "": // An empty image means the default.
		t.Errorf("%q is admitted, but %v", image, err)
	case rejected != nil && err == nil && !narrower(image, named):
		t.Errorf("%q is rejected, but is %s: %v", image, named, rejected)
	}

	return rejected == nil
}

// narrower returns whether docs/admission.md excludes a valid image.
func narrower(image string, named reference.Named) bool {
	domain := reference.Domain(named)
	registry := strings.ContainsAny(domain, ".:") || domain == "localhost"

	return !registry || len(reference.TrimNamed(named).Name()) > 247 || len(image) > 512
}

func FuzzAdmittedQuantities(f *testing.F) {
	fuzz(f, checkQuantity,
		"0", "1", "100m", "64Mi", "0.5", ".5", "5.", "1e3", "1E-99", "1E", "-1", "+1", "1e100", "1e1.5", "1ee", "..", "")
}

// checkQuantity returns whether a quantity is admitted. Every admitted quantity must be
// valid in a pod. The API server must admit every quantity that is valid in a pod,
// except for those that docs/admission.md excludes.
func checkQuantity(t *testing.T, a *api, s string) bool {
	t.Helper()
	requests := map[string]any{"memory": s}
	_, rejected := a.create(t, view(with(map[string]any{"resources": map[string]any{"requests": requests}})))
	if rejected == nil {
		if q, err := resource.ParseQuantity(s); err != nil || q.Sign() < 0 {
			t.Errorf("%q is admitted, but is %s: %v", s, q.String(), err)
		}

		return true
	}
	if len(s) > 32 || longExponent(s) {
		return false
	}
	if q, err := resource.ParseQuantity(s); err == nil && strings.ContainsAny(s[:1], ".0123456789") {
		t.Errorf("%q is rejected, but is %s: %v", s, q.String(), rejected)
	}

	return false
}

// longExponent returns whether a quantity has an exponent of more than two digits, for
// which ParseQuantity can take minutes.
func longExponent(s string) bool {
	_, exponent, _ := strings.Cut(strings.ToLower(s), "e")

	return len(strings.TrimLeft(exponent, "+-")) > 2
}

func FuzzAdmittedFileNames(f *testing.F) { fuzz(f, checkFileName, namePieces...) }

// checkFileName returns whether a file name is admitted. It fails the test if the API server
// admits a file name that a book cannot have, or rejects one that it can have.
func checkFileName(t *testing.T, a *api, name string) (admitted bool) {
	t.Helper()
	if !utf8.ValidString(name) {
		return false // JSON does not support such a name.
	}
	for of, all := range map[string]book.Files{
		"markdowns": {Markdowns: files(map[string]string{name: "", "SUMMARY.md": files(nil)["SUMMARY.md"]})},
		"binaries":  {Markdowns: files(nil), Binaries: []string{name}},
	} {
		binaries := map[string]string{}
		for _, name := range all.Binaries {
			binaries[name] = ""
		}
		_, rejected := a.create(t, view(map[string]any{"markdowns": all.Markdowns, "binaries": binaries}))
		// Admission does not know which files are chapters.
		if errs, _ := book.Check(all); (rejected == nil) != (len(errs.First) == 0) && !strings.HasPrefix(name, "page.html") {
			t.Errorf("%s %q: %v, but %v", of, name, rejected, errs)
		}
		admitted = admitted || rejected == nil
	}

	return admitted
}
