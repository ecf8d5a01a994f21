package check

import (
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/crossplane-contrib/function-markdownview/book"
	"github.com/crossplane-contrib/function-markdownview/markdownview/internal/render"
)

// TestRejected checks which files a MarkdownView has that the function rejects.
func TestRejected(t *testing.T) {
	resource := func(object map[string]any) *fnv1.Resource {
		s, err := structpb.NewStruct(object)
		if err != nil {
			t.Fatal(err)
		}

		return &fnv1.Resource{Resource: s}
	}
	xr := resource(map[string]any{"spec": map[string]any{
		"markdowns":     map[string]any{"a.md": "A"},
		"binaries":      map[string]any{"logo.png": "AP8=", "bad.png": "?"},
		"markdownsFrom": []any{map[string]any{"configMap": map[string]any{"name": "more"}, "path": "guide"}, map[string]any{"configMap": map[string]any{"name": "none"}}, "wrong"},
	}})
	more := resource(map[string]any{"data": map[string]any{"b.md": "B"}, "binaryData": map[string]any{"c.md": "Qw=="}})
	got := rejected(&render.Call{Request: &fnv1.RunFunctionRequest{
		Observed:          &fnv1.State{Composite: xr},
		RequiredResources: map[string]*fnv1.Resources{"configmap/more": {Items: []*fnv1.Resource{more}}},
	}})
	want := map[string][]byte{"a.md": []byte("A"), "logo.png": {0, 255}, "bad.png": []byte("?"), "guide/b.md": []byte("B"), "guide/c.md": []byte("C")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestFilesOf(t *testing.T) {
	content := map[string][]byte{"a.md": []byte("# A\n"), "logo.png": {0, 255}}
	want := book.Files{Markdowns: map[string]string{"a.md": "# A\n"}, Binaries: []string{"logo.png"}}
	if diff := cmp.Diff(want, filesOf(content, false)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if _, ok := filesOf(content, true).Markdowns["SUMMARY.md"]; !ok {
		t.Error("want a generated SUMMARY.md")
	}
}
