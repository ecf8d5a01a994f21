package compose

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/internal/files"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// TestKept checks the data of the ConfigMap that pods still serve.
func TestKept(t *testing.T) {
	const was = "configmap-0123456789abcdef"
	v := viewtest.View()
	o := request.Observed{ConfigMaps: map[string]*view.ConfigMap{was: viewtest.Decode[view.ConfigMap](t,
		`{data: {a.md: text, added.md: "\u0085", more.md: "\uFFFE"}, binaryData: {a.png: AAE=}}`)}}
	d := &Desired{ConfigMap: &files.ConfigMap{}, Text: "configmap-fedcba9876543210", Serving: []string{was}}

	// Somebody else added the texts that the function never writes.
	want := &files.ConfigMap{
		Immutable: ptr.To(true), Data: map[string]string{"a.md": "text"}, BinaryData: map[string]string{"a.png": "AAE="},
	}
	want.Name = "markdowns-sample.0123456789abcdef"
	kept := []ComposedResource{{part{was, "v1", "ConfigMap", want.Name}, want, true}}
	if diff := gocmp.Diff(kept, Kept(v, o, d), gocmp.AllowUnexported(ComposedResource{}, part{})); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if len(o.ConfigMaps[was].Data) != 3 {
		t.Error("kept() must not change the observed ConfigMap")
	}

	for _, key := range []string{d.Text, "configmap-0000000000000000"} {
		d.Serving = []string{key}
		if got := Kept(v, o, d); got != nil {
			t.Errorf("The pods serve the desired ConfigMap, or one that is gone: want none, got %v", got)
		}
	}
}
