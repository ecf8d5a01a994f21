// Package book has the MarkdownViews that are measured, and the requests that
// Crossplane sends for them.
package book

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
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

// sections has the sections of which chapters are made. Their mix is that of the handbooks
// of kubebuilder-training, Kubebuilder and mdBook. For each KiB of text, these have
//
//   - 1.1 to 1.5 links, reference definitions included: about half of them to other chapters,
//     a few of these with an anchor, and half to other sites,
//   - 2.7 to 5.5 spans of inline code, 0.8 to 2.0 list items, 0.9 to 1.4 headings, 0 to 0.3
//     rows of tables and 0.01 to 0.05 images.
//
// 17 % to 27 % of the text is in fenced code blocks. 59 % of kubebuilder-training is
// Japanese, and nothing of the others.
//
//go:embed sections
var sections embed.FS

// A Book is a MarkdownView that is measured.
type Book struct {
	// Name of the MarkdownView.
	Name string

	// Title is the title of the Book in the report.
	Title string

	// Chapters is the number of chapters, and Size the size of each in bytes.
	Chapters int
	Size     int
}

// Books returns the Books that are measured.
func Books() []Book {
	return []Book{
		{Name: "small", Title: "2 files", Chapters: 1, Size: 100},
		{Name: "medium", Title: "100 KiB", Chapters: 20, Size: 5 << 10},
		{Name: "large", Title: "900 KiB", Chapters: 100, Size: 9 << 10},
	}
}

// Markdowns returns the files of the book. They are always the same.
func (b Book) Markdowns() (map[string]string, error) {
	mix, err := readSections()
	if err != nil {
		return nil, fmt.Errorf("cannot read sections: %w", err)
	}
	summary := "# Summary\n\n"
	files := map[string]string{}
	for n := range b.Chapters {
		summary += fmt.Sprintf("- [Chapter %d](chapter-%03d.md)\n", n+1, n+1)
		files[fmt.Sprintf("chapter-%03d.md", n+1)] = b.chapter(n, mix)
	}
	files["SUMMARY.md"] = summary
	if b.Chapters > 1 {
		files["latency.svg"] = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 9L3 6L9 1"/></svg>`
	}

	return files, nil
}

func readSections() ([]string, error) {
	names, err := fs.Glob(sections, "sections/*.md")
	if err != nil {
		return nil, err
	}
	mix := make([]string, len(names))
	for i, name := range names {
		content, err := sections.ReadFile(name)
		if err != nil {
			return nil, err
		}
		mix[i] = string(content)
	}

	return mix, nil
}

// chapter returns a chapter of at least b.Size bytes. All its links are valid: a chapter
// that has sections begins with the first one, to whose heading other chapters link.
func (b Book) chapter(n int, mix []string) string {
	t := &strings.Builder{}
	fmt.Fprintf(t, "# Chapter %d\n", n+1)
	for i := 0; ; i++ {
		section := mix[0]
		if i > 0 {
			section = mix[(n+i)%len(mix)]
		}
		section = "\n" + strings.NewReplacer(
			"{n}", fmt.Sprint(n+1),
			"{next}", fmt.Sprintf("%03d", (n+1)%b.Chapters+1),
			"{other}", fmt.Sprintf("%03d", (7*n+3*i)%b.Chapters+1),
		).Replace(section)
		if t.Len()+len(section) > b.Size {
			break
		}
		t.WriteString(section)
	}
	if n%4 == 3 {
		t.WriteString("\n![Latency by the number of retries](latency.svg)\n")
	}
	for i := 0; t.Len() < b.Size; i++ {
		fmt.Fprintf(t, "\nNote %d of chapter %d: \"一ページ目のコンテンツ\" is the title of the first page 📖.\n", i, n+1)
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
	markdowns, err := b.Markdowns()
	if err != nil {
		return nil, nil, err
	}
	for _, files := range o.texts() {
		for name, text := range markdowns {
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
