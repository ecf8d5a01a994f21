package check

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/markdownview/internal/folder"
	"github.com/crossplane-contrib/function-markdownview/markdownview/internal/render"
)

func quiet(string, ...any) {}

func TestCheck(t *testing.T) {
	const (
		view = `# A comment
apiVersion: markdownview.fn.crossplane.io/v1alpha1
kind: MarkdownView
metadata: {name: handbook}
spec:
  replicas: 9
  markdowns:
    SUMMARY.md: |
      - [A](a.md)
      - [B](more/b.md)
    a.md: |
      # A
      [dead](x.md)
  markdownsFrom:
  - configMap: {name: more}
    path: more
`
		configMap   = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\ndata:\n  b.md: |\n    # B\n\n    [A](../a.md#other)\n"
		composition = "kind: Composition\nspec: {pipeline: [{step: book, functionRef: {name: function-markdownview}, input: {apiVersion: markdownview.fn.crossplane.io/v1beta1, kind: Input, allowedImages: [docker.io/team/*]}}]}\n"
	)
	cases := map[string]struct {
		reason string
		files  map[string]string
		paths  []string
		policy string
		want   string
	}{
		"Good": {
			reason: "There is nothing to say.",
			files:  map[string]string{"docs/a.md": "# A\n[B](b.md#a-title)\n", "docs/b.md": "## A title\n![logo](logo.png)", "docs/logo.png": "\x89"},
			paths:  []string{"docs"},
		},
		"Folder": {
			reason: "Errors have the file and the line.",
			files:  map[string]string{"docs/SUMMARY.md": "# Summary\n\n- [A](a.md)\n- [B](b.md)\n- [A](a.md)\n", "docs/a.md": ""},
			paths:  []string{"docs"},
			want: `docs/SUMMARY.md:4: error: add chapter "b.md", or remove its link: the file is not in the book (InvalidSpec)
docs/SUMMARY.md:5: error: remove chapter "a.md" here or from line 3: it is in both (InvalidSpec)
`,
		},
		"Links": {
			reason: "The function reports dead links, and a full reading finds anchors and the links that the function leaves out.",
			files: map[string]string{
				"docs/SUMMARY.md": "- [A](a.md)\n- [B](guide/b.md)\n- [C](c.md)\n",
				"docs/a.md":       "[dead](x.md)\n\n[b](guide/b.md#Two-Words) [b](guide/b.md#two-words) [b](guide/b.md#three)\n\n<div>\n<a href=\"z.md\">z</a>\n</div>\n",
				"docs/c.md":       "A carriage\rreturn alone.\n\n[c](y.md)\n",
				"docs/guide/b.md": "# Two words\n\n![dead](../logo.png) [a](../a.md#x)\n",
			},
			paths: []string{"docs"},
			want: `docs/a.md:1: warning: fix the link to "x.md", which leads nowhere, or add x.md to the book (Incomplete)
docs/a.md:3: warning: write "#two-words", which is an id of guide/b.md: the link to "guide/b.md#Two-Words" leads to the top of the page (DeadAnchor)
docs/a.md:3: warning: remove "#three", or add a heading or an element with this id to guide/b.md: the link to "guide/b.md#three" leads to the top of the page (DeadAnchor)
docs/a.md:6: warning: fix the link to "z.md", which leads nowhere, or add z.md to the book (Incomplete)
docs/c.md:3: warning: fix the link to "y.md", which leads nowhere, or add y.md to the book (DeadLink)
docs/guide/b.md:3: warning: fix the link to "../logo.png", which leads nowhere, or add logo.png to the book (Incomplete)
docs/guide/b.md:3: warning: remove "#x", or add a heading or an element with this id to a.md: the link to "../a.md#x" leads to the top of the page (DeadAnchor)
`,
		},
		"Image": {
			reason: "A folder that only an image can hold is checked without the function.",
			files:  map[string]string{"docs/SUMMARY.md": "- [A](a.md)\n- [B](b.md)\n", "docs/a.md": "", "docs/large.png": strings.Repeat("\xff", 1<<20)},
			paths:  []string{"docs"},
			want:   "docs/SUMMARY.md:2: error: add chapter \"b.md\", or remove its link: the file is not in the book (InvalidSpec)\n",
		},
		"ImageWithoutSummary": {
			reason: "The function cannot generate SUMMARY.md in an image.",
			files:  map[string]string{"docs/a.md": "", "docs/large.png": strings.Repeat("\xff", 1<<20)},
			paths:  []string{"docs"},
			want:   "docs: error: add SUMMARY.md, which lists the chapters in lines such as \"- [Title](file.md)\" (InvalidSpec)\n",
		},
		"File": {
			reason: "Warnings have the line of the text in YAML. The ConfigMap is in another file.",
			files:  map[string]string{"view.yaml": strings.Replace(view, "replicas: 9", "replicas: 1", 1), "more.yaml": configMap},
			paths:  []string{"view.yaml", "more.yaml"},
			want: `more.yaml:8: warning: remove "#other", or add a heading or an element with this id to a.md: the link to "../a.md#other" leads to the top of the page (DeadAnchor)
view.yaml:13: warning: fix the link to "x.md", which leads nowhere, or add x.md to the book (Incomplete)
`,
		},
		"Policy": {
			reason: "Errors have the line of the field. The Composition has the policy of the platform.",
			files:  map[string]string{"view.yaml": strings.Replace(view, "  replicas", "  viewerImage: docker.io/other/mdbook\n  replicas", 1), "more.yaml": configMap, "composition.yaml": composition},
			paths:  []string{"view.yaml", "more.yaml"},
			policy: "composition.yaml",
			want: `view.yaml:6: error: spec.viewerImage: Forbidden: name an image that matches docker.io/team/* (InvalidSpec)
view.yaml:7: error: spec.replicas: Invalid value: 9: must be from 1 to 5 (InvalidSpec)
`,
		},
		"Rejected": {
			reason: "The function rejects the book that it reads from a ConfigMap.",
			files: map[string]string{
				"view.yaml": strings.NewReplacer("replicas: 9", "replicas: 1", "more/b.md", "more/c.md").Replace(view),
				"more.yaml": configMap,
			},
			paths: []string{"view.yaml", "more.yaml"},
			want:  "view.yaml:10: error: write \"more/b.md\" instead of \"more/c.md\", which is not in the book (InvalidSpec)\n",
		},
		"NoConfigMap": {
			reason: "The ConfigMap is in none of the files.",
			files:  map[string]string{"view.yaml": strings.Replace(view, "replicas: 9", "replicas: 1", 1)},
			paths:  []string{"view.yaml"},
			want:   "view.yaml:15: error: spec.markdownsFrom[0].configMap.name: Not found: \"more\": create this ConfigMap in namespace default, or remove it from the list (ConfigMapNotFound)\n",
		},
		"Markdown": {
			reason: "A chapter is not a book.",
			files:  map[string]string{"a.md": "text"},
			paths:  []string{"a.md"},
			want:   "cannot read a.md: a document in it is not an object of Kubernetes\n",
		},
		"NoView": {
			reason: "The file is another one.",
			files:  map[string]string{"a.yaml": "kind: Service\n"},
			paths:  []string{"a.yaml"},
			want:   "add a MarkdownView to a.yaml, or name another file or a folder\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			tree := fstest.MapFS{}
			for name, text := range tc.files {
				tree[name] = &fstest.MapFile{Data: []byte(text)}
			}
			if err := os.CopyFS(".", tree); err != nil {
				t.Fatal(err)
			}
			out := &bytes.Buffer{}
			findings, err := Check(t.Context(), tc.paths, render.Policy{Composition: tc.policy}, quiet)
			if err != nil {
				fmt.Fprintln(out, err)
			}
			if err := WriteText(out, findings); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.reason, diff)
			}
		})
	}
}

// TestExample checks that the example is packed from its folder, and has no problems.
func TestExample(t *testing.T) {
	const dir = "../../../example/authors/handbook"
	got, err := folder.YAML(dir)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../../../example/authors/book.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("example/authors/book.yaml is out of date: run \"markdownview pack example/authors/handbook --output example/authors/book.yaml\": -want +got\n%s", diff)
	}
	findings, err := Check(t.Context(), []string{dir, "../../../example/authors/book.yaml"}, render.Policy{}, quiet)
	if err != nil || len(findings) > 0 {
		t.Errorf("want no problems, got %v, %v", findings, err)
	}
}
