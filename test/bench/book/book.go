// Package book has the MarkdownViews that are measured, and the requests that
// Crossplane sends for them.
package book

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// captured has the objects of each Book as an API server returned them, including
// managedFields, but without the text: see ../capture.
//
//go:embed captured
var captured embed.FS

// A Book is a MarkdownView that is measured.
type Book struct {
	// Name of the MarkdownView.
	Name string

	// Title is the title of the Book in the report.
	Title string

	// Files is the number of files besides SUMMARY.md, and Size the size of each in
	// bytes.
	Files int
	Size  int
}

// Books returns the Books that are measured.
func Books() []Book {
	return []Book{
		{Name: "small", Title: "2 files", Files: 1, Size: 100},
		{Name: "medium", Title: "100 KiB", Files: 20, Size: 5 << 10},
		{Name: "large", Title: "900 KiB", Files: 100, Size: 9 << 10},
	}
}

// Markdowns returns the files of the book. They are always the same.
func (b Book) Markdowns() map[string]string {
	summary := "# Summary\n\n"
	files := map[string]string{}
	for i := range b.Files {
		name := fmt.Sprintf("chapter-%03d.md", i+1)
		summary += fmt.Sprintf("- [Chapter %d](%s)\n", i+1, name)
		files[name] = chapter(i+1, b.Size)
	}
	files["SUMMARY.md"] = summary

	return files
}

// chapter returns text of at least size bytes, with characters that JSON escapes, and
// with characters of one to four bytes.
func chapter(n, size int) string {
	t := &strings.Builder{}
	fmt.Fprintf(t, "# Chapter %d\n", n)
	for i := 0; t.Len() < size; i++ {
		fmt.Fprintf(t, "\nParagraph %d of \"chapter %d\" tells of <Pods> & Services, 一ページ目のコンテンツです 📖.\n", i, n)
	}

	return t.String()
}

// Objects are the MarkdownView and its composed resources, by composition resource
// name.
type Objects struct {
	XR       map[string]any            `json:"xr"`
	Composed map[string]map[string]any `json:"composed"`
}

// texts returns the maps that have the text of the book.
func (o Objects) texts() []map[string]any {
	return []map[string]any{
		o.XR["spec"].(map[string]any)["markdowns"].(map[string]any),
		o.Composed["configmap"]["data"].(map[string]any),
	}
}

// Blank removes the text from the objects.
func (o Objects) Blank() {
	for _, files := range o.texts() {
		for name := range files {
			files[name] = ""
		}
	}
}

// Requests returns the requests that Crossplane sends to a function: first is the first
// request, when nothing has been composed, and steady is a later one, when the book is
// served.
func (b Book) Requests() (first, steady *fnv1.RunFunctionRequest, err error) {
	data, err := captured.ReadFile("captured/" + b.Name + ".json")
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read captured objects: %w", err)
	}
	o := Objects{}
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, nil, fmt.Errorf("cannot read captured objects of %q: %w", b.Name, err)
	}
	for _, files := range o.texts() {
		for name, text := range b.Markdowns() {
			files[name] = text
		}
	}

	steady = &fnv1.RunFunctionRequest{
		Meta:     &fnv1.RequestMeta{Tag: "benchmark"},
		Observed: &fnv1.State{Resources: map[string]*fnv1.Resource{}},
		Desired:  &fnv1.State{},
	}
	if steady.Observed.Composite, err = resource(o.XR); err != nil {
		return nil, nil, err
	}
	for key, object := range o.Composed {
		if steady.Observed.Resources[key], err = resource(object); err != nil {
			return nil, nil, err
		}
	}

	// Before the first call, neither the function nor Crossplane has written a status.
	first = proto.CloneOf(steady)
	first.Observed.Resources = nil
	delete(first.GetObserved().GetComposite().GetResource().GetFields(), "status")

	return first, steady, nil
}

func resource(object map[string]any) (*fnv1.Resource, error) {
	s, err := structpb.NewStruct(object)
	if err != nil {
		return nil, fmt.Errorf("cannot convert captured object: %w", err)
	}

	return &fnv1.Resource{Resource: s}, nil
}
