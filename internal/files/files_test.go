package files

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/book"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// TestOf checks under which keys files are stored: those of the XR, and those of a template.
func TestOf(t *testing.T) {
	const nested, image = "guide_intro.md-f5e30844a0a461111eb1", "img_logo.svg-91133bada76342f1fd03"
	v := viewtest.View()
	v.Spec.Markdowns = map[string]string{"SUMMARY.md": "text", "guide/intro.md": "\u0085"}
	v.Spec.Binaries = map[string]string{"img/logo.svg": "Zh==\n"}
	f := Of(v, &corev1.ConfigMap{Data: map[string]string{"theme.css": "css"}, BinaryData: map[string][]byte{"a.png": []byte("hi")}})
	got := &Files{Data: f.Data, BinaryData: f.BinaryData, Items: f.Items, Keys: f.Keys}
	want := &Files{
		Data:       map[string]string{"SUMMARY.md": "text", "theme.css": "css"},
		BinaryData: map[string]string{nested: "woU=", image: "Zg==", "a.png": "aGk="},
		Items: []corev1.KeyToPath{
			{Key: "SUMMARY.md", Path: "SUMMARY.md"},
			{Key: "a.png", Path: "a.png"},
			{Key: nested, Path: "guide/intro.md"},
			{Key: image, Path: "img/logo.svg"},
			{Key: "theme.css", Path: "theme.css"},
		},
		Keys: map[string]bool{"SUMMARY.md": true, nested: true, image: true},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Files{})); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if f := Of(viewtest.View(), &corev1.ConfigMap{}); f.Items != nil {
		t.Errorf("If each name is a key, the volume shows new files: got items %v", f.Items)
	}
}

// TestBook checks that files that are text are checked as text, however they are stored.
func TestBook(t *testing.T) {
	v := viewtest.View()
	v.Spec.Summary, v.Spec.Markdowns = "Auto", map[string]string{"a.md": "A"}
	v.Spec.Binaries = map[string]string{"b.md": "Qg==", "c.png": "/w==", "d.png": "?"}
	f := Of(v, &corev1.ConfigMap{BinaryData: map[string][]byte{"e.md": []byte("E"), "f.png": {0xff}, "a.md": []byte("twice")}})
	f.SetSummary("generated")
	got := f.Book()
	slices.Sort(got.Binaries)
	want := book.Files{
		Markdowns: map[string]string{"a.md": "A", "b.md": "B", "e.md": "E"},
		Binaries:  []string{"a.md", "c.png", "d.png", "f.png"}, Shared: map[string]bool{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if f.Data["SUMMARY.md"] != "generated" || !f.Keys["SUMMARY.md"] {
		t.Errorf("The generated SUMMARY.md is stored, got %v", f.Data)
	}
	errs, _ := f.Check()
	if got, want := fmt.Sprint(errs), "spec.binaries[d.png]: Invalid value: must be text in base64"; !strings.Contains(got, want) {
		t.Errorf("want %s, got %s", want, got)
	}
	v.Spec.MarkdownsFrom = []view.Source{{Image: &view.ImageSource{Reference: "a/b"}}}
	if errs, problems := Of(v, &corev1.ConfigMap{}).Check(); errs != nil || len(problems.First) > 0 {
		t.Errorf("The files of an image are not checked, got %v and %v", errs, problems)
	}
}

// TestValidate checks the rules that the XRD has too, most with the same messages.
func TestValidate(t *testing.T) {
	const (
		missing = "spec.markdowns: Required value: add SUMMARY.md, which lists the chapters"
		binary  = "spec.binaries: Forbidden: move SUMMARY.md to markdowns, as text"
		size    = "shorten the files or split the book: the text has more than 1 MiB (1048576 bytes)"
		sizes   = "shorten the files or split the book: markdowns and binaries together have more than 1 MiB (1048576 bytes)"
		many    = "spec.markdowns: Too many: 1001: must have at most 1000 items"
		both    = "split the book: spec.markdowns and spec.binaries together have 1001 files, and a book has at most 1000"
	)
	summary, image := map[string]string{"SUMMARY.md": ""}, map[string]string{"a.png": "aGk="}
	text := func(size int) map[string]string { return map[string]string{"SUMMARY.md": strings.Repeat("x", size)} }
	files := func(n int) map[string]string {
		all := map[string]string{"SUMMARY.md": ""}
		for i := range n - 1 {
			all[fmt.Sprint(i)] = ""
		}

		return all
	}
	xrd, err := os.ReadFile("../../package/configuration/definition.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		reason              string
		markdowns, binaries map[string]string
		want                string
		inXRD               bool
	}{
		{"A book has files", nil, image, missing, true},
		{"One of them is SUMMARY.md", image, nil, missing, true},
		{"SUMMARY.md is text", summary, summary, binary, true},
		{"A book has at most 1 MiB", text(1<<20 - 2), image, "", false},
		{"The text alone has more", text(1<<20 + 1), nil, "spec.markdowns: Forbidden: " + size, true},
		{"The text and an image have more", text(1<<20 - 1), image, "spec.binaries: Forbidden: " + sizes, true},
		{"A book has at most 1,000 files", files(999), image, "", false},
		{"More text files", files(1001), nil, many, false},
		{"An image is a file, too", files(1000), image, "spec.binaries: Forbidden: " + both, false},
	} {
		got := ""
		for _, err := range Validate(view.Spec{Markdowns: tc.markdowns, Binaries: tc.binaries}, field.NewPath("spec")) {
			got += err.Error()
			if inXRD := strings.Contains(string(xrd), "message: '"+err.Detail+"'"); inXRD != tc.inXRD {
				t.Errorf("%s: want %q in the XRD: %t, got %t", tc.reason, err.Detail, tc.inXRD, inXRD)
			}
		}
		if got != tc.want {
			t.Errorf("%s\nwant %q\ngot  %q", tc.reason, tc.want, got)
		}
	}
	if errs := Validate(view.Spec{MarkdownsFrom: make([]view.Source, 1)}, nil); errs != nil {
		t.Errorf("A ConfigMap may have SUMMARY.md, got %v", errs)
	}
}

func TestCanonical(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "",
		"AAEC":                 "AAEC",
		"AAEC\nAwQF\r\nBgc=\n": "AAECAwQFBgc=",
		"Zh==":                 "Zg==",
		"AAECZh==\n":           "AAECZg==",
	} {
		if got := canonical(text); got != want {
			t.Errorf("canonical(%q): want %q, as the API server writes it, got %q", text, want, got)
		}
	}
}
