package render

import (
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"
	"sigs.k8s.io/yaml"
)

const composed = `
deployment:
  kind: Deployment
  spec:
    template:
      metadata: {annotations: {theme/head.hbs: <style>}}
      spec:
        containers:
        - name: proxy
        - name: mdbook
          env: [{name: MDBOOK_BOOK__TITLE, value: '"Costs $$1"'}]
          volumeMounts: [{name: output, mountPath: /book/book}, {name: book, mountPath: /book/src}, {name: theme, mountPath: /book/theme}]
        volumes: [{name: theme, downwardAPI: {items: [{path: head.hbs, fieldRef: {fieldPath: "metadata.annotations['theme/head.hbs']"}}]}}, {name: output, emptyDir: {}}, {name: book, VOLUME}]
text: {kind: ConfigMap, metadata: {name: text}, data: {SUMMARY.md: summary, a--b.md: page}}
more: {kind: ConfigMap, metadata: {name: more}, binaryData: {logo.png: AAE=}}
service: {kind: Service, metadata: {name: text}}
`

func TestVolume(t *testing.T) {
	cases := map[string]struct {
		reason, volume string
		want           map[string]string
		problem        string
	}{
		"Flat": {
			reason: "Without items, every key is a file.",
			volume: "configMap: {name: text}",
			want:   map[string]string{"SUMMARY.md": "summary", "a--b.md": "page"},
		},
		"Projected": {
			reason: "A projected volume has the files of several ConfigMaps, binaries too.",
			volume: "projected: {sources: [{configMap: {name: text}}, {configMap: {name: more, items: [{key: logo.png, path: img/logo.png}]}}]}",
			want:   map[string]string{"SUMMARY.md": "summary", "a--b.md": "page", "img/logo.png": "\x00\x01"},
		},
		"Image": {
			reason:  "The preview cannot read the files of an image.",
			volume:  "image: {reference: registry.example.com/book}",
			problem: "cannot preview a book in an image: put its files into spec.markdowns",
		},
		"NoKey": {
			reason:  "An item without its key would keep the pod from starting.",
			volume:  "configMap: {name: text, items: [{key: c.md, path: c.md}]}",
			problem: `cannot find the book: ConfigMap "text" has no key "c.md"`,
		},
		"NoConfigMap": {
			reason:  "A missing ConfigMap is an error.",
			volume:  "configMap: {name: other}",
			problem: `cannot find the book: ConfigMap "other" is not composed`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			objects := map[string]map[string]any{}
			if err := yaml.Unmarshal([]byte(strings.ReplaceAll(composed, "VOLUME", tc.volume)), &objects); err != nil {
				t.Fatal(err)
			}
			resources := map[string]*fnv1.Resource{}
			for key, o := range objects {
				s, err := structpb.NewStruct(o)
				if err != nil {
					t.Fatal(err)
				}
				resources[key] = &fnv1.Resource{Resource: s}
			}
			c := Call{Response: &fnv1.RunFunctionResponse{Desired: &fnv1.State{Resources: resources}}}
			got, err := c.Volume()
			if tc.problem != "" {
				if err == nil || err.Error() != tc.problem {
					t.Errorf("%s\nwant error %q, got %v", tc.reason, tc.problem, err)
				}

				return
			}
			want := &Volume{
				Files: map[string][]byte{},
				Theme: map[string][]byte{"head.hbs": []byte("<style>")},
				Env:   []string{`MDBOOK_BOOK__TITLE="Costs $1"`},
			}
			for path, text := range tc.want {
				want.Files[path] = []byte(text)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s\nerror %v, -want +got\n%s", tc.reason, err, diff)
			}
		})
	}
}
