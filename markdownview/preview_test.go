package main

import (
	"bytes"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
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
      spec:
        containers:
        - name: proxy
        - name: mdbook
          env: [{name: MDBOOK_BOOK__TITLE, value: '"Costs $$1"'}]
          volumeMounts: [{name: output, mountPath: /book/book}, {name: book, mountPath: /book/src}]
        volumes: [{name: output, emptyDir: {}}, {name: book, VOLUME}]
text: {kind: ConfigMap, metadata: {name: text}, data: {SUMMARY.md: summary, a--b.md: page}}
more: {kind: ConfigMap, metadata: {name: more}, binaryData: {logo.png: AAE=}}
service: {kind: Service, metadata: {name: text}}
`

func TestLayout(t *testing.T) {
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
		"Items": {
			reason: "With items, only those are files, at their paths.",
			volume: "configMap: {name: text, items: [{key: a--b.md, path: a/b.md}]}",
			want:   map[string]string{"a/b.md": "page"},
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
			if err := yaml.Unmarshal(bytes.ReplaceAll([]byte(composed), []byte("VOLUME"), []byte(tc.volume)), &objects); err != nil {
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
			b, err := layout(resources)
			if tc.problem != "" {
				if err == nil || err.Error() != tc.problem {
					t.Errorf("%s\nwant error %q, got %v", tc.reason, tc.problem, err)
				}

				return
			}
			if err != nil {
				t.Fatalf("%s\n%v", tc.reason, err)
			}
			got := map[string]string{}
			for path, content := range b.files {
				got[path] = string(content)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff([]string{`MDBOOK_BOOK__TITLE="Costs $1"`}, b.env); diff != "" {
				t.Errorf("variables of mdBook: -want +got\n%s", diff)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	cases := map[string]struct {
		reason string
		files  map[string]string
		want   string
	}{
		"Inside":   {reason: "Includes of files of the book, wherever they are.", files: map[string]string{"guide/a.md": "{{#include ../b.md:1:2}} {{ #playground b.rs}}\n{{#rustdoc_include x/../../b.rs:main}}"}},
		"Absolute": {reason: "A path of this machine.", files: map[string]string{"a.md": "\n{{#include /proc/self/environ}}"}, want: `a.md line 2: the included file "/proc/self/environ" is outside of the book: remove the include`},
		"Above":    {reason: "A path above the book.", files: map[string]string{"guide/a.md": "{{ #playground\u00a0../x/../../id_rsa:3 editable}}"}, want: `guide/a.md line 1: the included file "../x/../../id_rsa" is outside of the book: remove the include`},
		"Folder":   {reason: "The folder above the book.", files: map[string]string{"a.md": "{{#playpen ..}}"}, want: `a.md line 1: the included file ".." is outside of the book: remove the include`},
		"Windows":  {reason: "Backslashes separate folders on other machines.", files: map[string]string{"a.md": `{{#include ..\x}}`}, want: `a.md line 1: the included file "..\\x" is outside of the book: remove the include`},
		"Other":    {reason: "mdBook reads includes in every file that is included.", files: map[string]string{"a.md": "{{#include b.txt}}", "b.txt": "{{#include /x}}{{#include /y}}", "c.md": "{{#rustdoc_include /z}}"}, want: "b.txt line 1: the included file \"/x\" is outside of the book: remove the include\nb.txt line 1: the included file \"/y\" is outside of the book: remove the include\nc.md line 1: the included file \"/z\" is outside of the book: remove the include"},
		"Lines":    {reason: "An include can be on several lines.", files: map[string]string{"a.md": "{{#include\n/x}}"}, want: `a.md line 1: write the include and its file on one line`},
		"Opened":   {reason: "An include can be opened in an earlier line.", files: map[string]string{"a.md": "{{\n#include /x}}"}, want: `a.md line 2: the included file "/x" is outside of the book: remove the include`},
		"Escaped":  {reason: "mdBook shows an escaped include.", files: map[string]string{"a.md": `\{{#include /x}}`}},
		"Unclosed": {reason: "An include whose end is in another line is not escaped.", files: map[string]string{"a.md": "\\{{#include /x\n}}"}, want: `a.md line 1: the included file "/x" is outside of the book: remove the include`},
		"Spaced":   {reason: "With a space, an include is not escaped.", files: map[string]string{"a.md": `\{{ #include /x}}`}, want: `a.md line 1: the included file "/x" is outside of the book: remove the include`},
		"Code":     {reason: "Includes of other languages.", files: map[string]string{"a.md": "#include <../x.h>\n#include \"/y.h\"\nint a[] = {{1}};"}},
		"Title":    {reason: "Other links name no file.", files: map[string]string{"a.md": "{{#title /x}}"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := &volume{files: map[string][]byte{}}
			for name, text := range tc.files {
				b.files[name] = []byte(text)
			}
			got := ""
			if err := b.check(); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.reason, diff)
			}
		})
	}
}

// TestEnvironment checks that mdBook, which shows a book of somebody else, does not get the
// variables of this machine.
func TestEnvironment(t *testing.T) {
	t.Setenv("PATH", "/bin")
	t.Setenv("HOME", "/home/me")
	t.Setenv("TOKEN", "secret")
	t.Setenv("MDBOOK_BOOK__SRC", "/home/me")
	want := []string{"MDBOOK_LOG=warn", "RUST_LOG=warn", "PATH=/bin", "HOME=/home/me", `MDBOOK_BOOK__TITLE="A"`}
	if diff := cmp.Diff(want, environment([]string{`MDBOOK_BOOK__TITLE="A"`, "LD_PRELOAD=/x"})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestFree(t *testing.T) {
	port, err := free(0)
	if err != nil || port == 0 {
		t.Fatalf("free(0): want a port, got %d, %v", port, err)
	}
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if _, err := free(port); err == nil {
		t.Errorf("free(%d): want an error for a port in use, got none", port)
	}
}

// TestOneFile checks which documents of one file are read.
func TestOneFile(t *testing.T) {
	const (
		xr          = "kind: MarkdownView\nmetadata: {name: w}\nspec: {markdowns: {SUMMARY.md: '[A](a.md)', a.md: Hello}}\n"
		composition = "kind: Composition\nspec: {pipeline: [{step: book, functionRef: {name: function-markdownview}, input: {apiVersion: markdownview.fn.crossplane.io/v1beta1, kind: Input, viewerImage: A}}]}\n"
		input       = "apiVersion: markdownview.fn.crossplane.io/v1beta1\nkind: Input\nviewerImage: A\n"
		invalid     = `Degraded=True InvalidInput: input.viewerImage: Invalid value: "A": write an image reference such as docker.io/peaceiris/mdbook:v0.5.0`
	)
	cases := map[string]struct {
		reason, text       string
		composition, input bool
		want               string
	}{
		"Composition": {reason: "The MarkdownView and the Composition are in one file.", text: xr + "---\n" + composition, composition: true, want: invalid},
		"First":       {reason: "The Composition comes first.", text: composition + "---\n" + xr, composition: true, want: invalid},
		"Input":       {reason: "The MarkdownView and the Input are in one file.", text: xr + "---\n" + input, input: true, want: invalid},
		"NoView":      {reason: "The file has no MarkdownView.", text: composition, composition: true, want: "cannot read MarkdownView: a MarkdownView is not in the file"},
		"NoStep":      {reason: "The file has no Composition.", text: xr, composition: true, want: "cannot read Input: a Composition with function-markdownview in its pipeline is not in the file"},
		"NoInput":     {reason: "The file has no Input.", text: xr, input: true, want: "cannot read Input: an Input is not in the file"},
		"WrongInput":  {reason: "The Input is not an object.", text: xr + "---\nkind: Composition\nspec: {pipeline: [{step: book, functionRef: {name: function-markdownview}, input: text}]}\n", composition: true, want: "cannot read Input: json: cannot unmarshal string into Go struct field"},
		"BadMap": {
			reason: "A ConfigMap cannot be read because of an error in the file.",
			text:   "kind: MarkdownView\nmetadata: {name: w}\nspec: {markdowns: {SUMMARY.md: '[A](a.md)'}, markdownsFrom: [{configMap: {name: more}}]}\n---\na: b: c\n",
			want:   "cannot read ConfigMap: error converting YAML to JSON",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, c := &bytes.Buffer{}, &previewCommand{XR: filepath.Join(t.TempDir(), "all.yaml")}
			if tc.composition {
				c.Composition = c.XR
			}
			if tc.input {
				c.Input = c.XR
			}
			if err := os.WriteFile(c.XR, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got := ""
			if _, err := compose(load(c.XR, c.policy), log.New(out, "", 0)); err != nil {
				got = err.Error()
			}
			if got += out.String(); !strings.HasPrefix(got, tc.want) {
				t.Errorf("%s\nwant %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

func TestPoll(t *testing.T) {
	const good = "kind: ConfigMap\n---\napiVersion: a/v1\nkind: Wiki\nmetadata: {name: w}\nspec: {markdowns: {SUMMARY.md: '[A](a.md)', a.md: Hello}}\n"
	xr, composition, out := filepath.Join(t.TempDir(), "xr.yaml"), filepath.Join(t.TempDir(), "c.yaml"), &bytes.Buffer{}
	served := 0
	p := &preview{
		previewCommand: &previewCommand{policy: policy{Composition: composition}, XR: xr, Port: 3000}, dir: t.TempDir(), log: log.New(out, "", 0),
		serve: func([]string) error { served++; return nil },
	}
	steps := []struct {
		reason, file, text string
		want, page         string
		served             int
	}{
		{"There is no Composition yet.", xr, good, "cannot read files: open " + composition + ": no such file or directory\n", "", 0},
		{
			"The first document with markdowns is the MarkdownView, and the function of the step has another name.", composition,
			"kind: Composition\nspec: {pipeline: [{step: other, functionRef: {name: other}}, {step: book, functionRef: {name: team-function-markdownview}}]}\n",
			xr + ": 2 files at http://localhost:3000\n", "Hello", 1,
		},
		{"Nothing has changed.", xr, good, "", "Hello", 1},
		{
			"The function rejects the book: the last one stays.", xr, "kind: MarkdownView\nmetadata: {name: w}\nspec: {replicas: 9, markdowns: {SUMMARY.md: '[A](a.md)', a.md: Bye}}\n",
			`Degraded=True InvalidSpec: spec.replicas: Invalid value: 9: must be from 1 to 5` + "\n" +
				`Synced=False ReconcileError: cannot compose resources: pipeline step "book" returned a fatal result: cannot compose MarkdownView "w": spec.replicas: Invalid value: 9: must be from 1 to 5` + "\n" +
				xr + ": the last good book is still served\n", "Hello", 1,
		},
		{"The file is not YAML.", xr, "a: b: c", "cannot read MarkdownView: error converting YAML to JSON: yaml: mapping values are not allowed in this context\n" + xr + ": the last good book is still served\n", "Hello", 1},
		{
			"A ConfigMap is not in the file.", xr, "kind: MarkdownView\nmetadata: {name: w}\nspec: {markdowns: {SUMMARY.md: '[A](a.md)'}, markdownsFrom: [{configMap: {name: more}}]}\n",
			`Degraded=True ConfigMapNotFound: spec.markdownsFrom[0].configMap.name: Not found: "more": create this ConfigMap in namespace default, or remove it from the list` + "\n" +
				`Synced=False ReconcileError: cannot compose resources: pipeline step "book" returned a fatal result: cannot compose MarkdownView "w": spec.markdownsFrom[0].configMap.name: Not found: "more": create this ConfigMap in namespace default, or remove it from the list` + "\n" +
				xr + ": the last good book is still served\n", "Hello", 1,
		},
		{
			"The ConfigMap is in the file.", xr, "kind: MarkdownView\nmetadata: {name: w}\nspec: {markdowns: {SUMMARY.md: '[A](a.md)'}, markdownsFrom: [{configMap: {name: more}}]}\n" +
				"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\ndata: {a.md: More}\n", xr + ": 2 files at http://localhost:3000\n", "More", 2,
		},
		{
			"An include leaves the book: the last one stays.", xr, "kind: MarkdownView\nmetadata: {name: w}\nspec: {markdowns: {SUMMARY.md: '[A](a.md)', a.md: '{{#include b.txt}}', b.txt: '{{#include /proc/self/environ}}'}}\n",
			`b.txt line 1: the included file "/proc/self/environ" is outside of the book: remove the include` + "\n" +
				xr + ": the last good book is still served\n", "More", 2,
		},
		{"The book is valid again.", xr, "kind: MarkdownView\nmetadata: {name: w}\nspec: {markdowns: {SUMMARY.md: '[A](a.md)', a.md: Bye}}\n", xr + ": 2 files at http://localhost:3000\n", "Bye", 3},
	}
	for _, s := range steps {
		if err := os.WriteFile(s.file, []byte(s.text), 0o600); err != nil {
			t.Fatal(err)
		}
		out.Reset()
		if err := p.poll(); err != nil {
			t.Fatal(err)
		}
		page, _ := os.ReadFile(filepath.Join(p.dir, "src", "a.md"))
		if diff := cmp.Diff([]any{s.want, s.page, s.served}, []any{out.String(), string(page), served}); diff != "" {
			t.Errorf("%s\nprinted, page, served: -want +got\n%s", s.reason, diff)
		}
	}
	if entries, _ := os.ReadDir(p.dir); len(entries) != 2 {
		t.Errorf("the folder of the book has %v, want src and its target", entries)
	}
}
