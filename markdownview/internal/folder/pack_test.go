package folder

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-markdownview/test/sample"
)

// packed returns the YAML of a folder.
func packed(t *testing.T, dir string, v View) (string, bool, error) {
	t.Helper()
	f, err := List(dir, quiet)
	if err != nil {
		t.Fatal(err)
	}
	content, err := f.Read()
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Pack(content, v)
	if err != nil {
		return "", false, err
	}
	text, err := p.YAML()
	if err != nil {
		t.Fatal(err)
	}

	return string(text), p.ServerSide, nil
}

func TestPack(t *testing.T) {
	cases := map[string]struct {
		reason string
		files  map[string]string
		view   View
		want   string
	}{
		"Folder": {
			reason: "A small folder is a MarkdownView. Without SUMMARY.md, the function generates it.",
			files:  map[string]string{"README.md": "# Hello\n", "guide/a b.md": "text", "img/logo.png": "\x89PNG"},
			view:   View{Name: "docs"},
			want: `---
apiVersion: markdownview.fn.crossplane.io/v1alpha1
kind: MarkdownView
metadata:
  name: docs
spec:
  binaries:
    img/logo.png: iVBORw==
  markdowns:
    README.md: |
      # Hello
    guide/a b.md: text
  summary: Auto
`,
		},
		"Given": {
			reason: "The other fields of a given MarkdownView are kept, and its files replaced.",
			files:  map[string]string{"SUMMARY.md": "- [A](a.md)\n", "a.md": "A"},
			view: View{
				Name: "pr-1", Namespace: "team", Labels: map[string]string{"pull-request": "1"},
				Object: map[string]any{
					"apiVersion": "example.org/v1", "kind": "Wiki", "metadata": map[string]any{"name": "docs", "annotations": map[string]any{"a": "b"}},
					"spec": map[string]any{"replicas": 2, "markdowns": map[string]any{"old.md": ""}, "markdownsFrom": []any{map[string]any{"configMap": map[string]any{"name": "shared"}}}},
				},
			},
			want: `---
apiVersion: example.org/v1
kind: Wiki
metadata:
  annotations:
    a: b
  labels:
    pull-request: "1"
  name: pr-1
  namespace: team
spec:
  markdowns:
    SUMMARY.md: |
      - [A](a.md)
    a.md: A
  markdownsFrom:
  - configMap:
      name: shared
  replicas: 2
`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, tc.files)
			got, _, err := packed(t, dir, tc.view)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.reason, diff)
			}
		})
	}
}

// TestPackTooLarge checks what is said about a folder that does not fit.
func TestPackTooLarge(t *testing.T) {
	many := map[string]string{}
	for i := range 1001 {
		many[fmt.Sprintf("%d.md", i)] = ""
	}
	wide := map[string]string{}
	for i := range 12 {
		wide[fmt.Sprintf("part-%d/a.md", i)] = strings.Repeat("a", 1<<20-10<<10)
	}
	cases := map[string]struct {
		files map[string]string
		want  string
	}{
		"Empty": {map[string]string{".gitignore": ""}, "add a file such as README.md to DIR: it has no files"},
		"Many":  {many, "push the folder as an image with markdownview pack --push, or list files in .markdownignore: DIR has 1001 files, and a MarkdownView can have 1000"},
		"File":  {map[string]string{"a.md": "", "b.png": strings.Repeat("\xff", 1<<20)}, "push the folder as an image with markdownview pack --push, or list the file in .markdownignore: DIR/b.png has 1.3 MiB as JSON, and an object can have 1 MiB"},
		"Wide":  {wide, "push the folder as an image with markdownview pack --push, or list files in .markdownignore: DIR has 11.9 MiB, which do not fit into a MarkdownView and 8 ConfigMaps"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, tc.files)
			_, _, err := packed(t, dir, View{Name: "docs"})
			if err == nil {
				t.Fatal("want an error, got none")
			}
			if got := strings.ReplaceAll(err.Error(), dir, "DIR"); got != tc.want {
				t.Errorf("want %q, got %q", tc.want, got)
			}
			if errors.Is(err, ErrImage) != strings.Contains(tc.want, "image") {
				t.Error("the error does not show whether an image can hold the folder")
			}
		})
	}
}

// unpack returns the files of packed objects, as pods would mount them, and the size of the
// largest object as JSON.
func unpack(t *testing.T, text string) (mounted map[string]string, largest int) {
	t.Helper()
	configMaps, files := map[string]map[string]string{}, map[string]string{}
	for document := range strings.SplitSeq(strings.TrimPrefix(text, "---\n"), "\n---\n") {
		var o struct {
			Kind             string
			Metadata         struct{ Name string }
			Data, BinaryData map[string]string
			Spec             struct {
				Markdowns, Binaries map[string]string
				MarkdownsFrom       []struct {
					Path      string
					ConfigMap struct{ Name string }
				}
			}
		}
		encoded, err := yaml.YAMLToJSON([]byte(document))
		if err == nil {
			err = json.Unmarshal(encoded, &o)
		}
		if err != nil {
			t.Fatal(err)
		}
		largest = max(largest, len(encoded))
		add := func(to map[string]string, texts, binaries map[string]string) {
			maps.Copy(to, texts)
			for name, value := range binaries {
				b, err := base64.StdEncoding.DecodeString(value)
				if err != nil {
					t.Fatal(err)
				}
				to[name] = string(b)
			}
		}
		if o.Kind == "ConfigMap" {
			configMaps[o.Metadata.Name] = map[string]string{}
			add(configMaps[o.Metadata.Name], o.Data, o.BinaryData)

			continue
		}
		add(files, o.Spec.Markdowns, o.Spec.Binaries)
		for _, from := range o.Spec.MarkdownsFrom {
			for key, value := range configMaps[from.ConfigMap.Name] {
				files[filepath.ToSlash(filepath.Join(from.Path, key))] = value
			}
		}
	}

	return files, largest
}

// TestPackGenerated checks that packed objects have the files of random folders byte for
// byte, that they are the same for the same files, and that they have the size that kubectl
// apply can store, or 1 MiB.
func TestPackGenerated(t *testing.T) {
	split, serverSides := 0, 0
	for seed := range uint64(16) {
		r, s := rand.New(rand.NewPCG(seed, 0)), sample.Random(seed)
		files := map[string]string{"SUMMARY.md": s.Text(), "image.png": "\xff\x00" + s.Text()}
		for i := range r.IntN(12) + 1 {
			folder := []string{"", "guide/", "第一章/", "a/b/c/"}[r.IntN(4)]
			size := []int{10, 1000, 60_000, 200_000, 400_000}[r.IntN(5)] * (1 + int(seed%2)) / 2
			files[fmt.Sprintf("%sfile %d.md", folder, i)] = s.Text()
			files[fmt.Sprintf("%s%d.md", folder, i)] = s.Text() + strings.Repeat([]string{"text\n", "<b>", "一", "\x01"}[r.IntN(4)], size/5)
		}
		dir := t.TempDir()
		write(t, dir, files)
		text, serverSide, err := packed(t, dir, View{Name: "docs"})
		if err != nil {
			if errors.Is(err, ErrImage) {
				continue
			}
			t.Fatal(err)
		}
		if seed%4 == 0 {
			again := t.TempDir()
			write(t, again, files)
			_ = os.Chtimes(filepath.Join(again, "SUMMARY.md"), time.Unix(0, 0), time.Unix(0, 0))
			if second, _, _ := packed(t, again, View{Name: "docs"}); second != text {
				t.Fatalf("seed %d: the same files give other bytes", seed)
			}
		}
		got, size := unpack(t, text)
		if diff := cmp.Diff(files, got); diff != "" {
			t.Fatalf("seed %d: -want +got\n%.2000s", seed, diff)
		}
		limit := 256 << 10
		if serverSide {
			limit = 1 << 20
		}
		if size > limit {
			t.Fatalf("seed %d: an object has %d bytes, more than %d", seed, size, limit)
		}
		if strings.Contains(text, "kind: ConfigMap") {
			split++
		}
		if serverSide {
			serverSides++
		}
	}
	if split < 8 || serverSides < 2 {
		t.Errorf("%d folders need ConfigMaps, and %d a server-side apply: too few to test", split, serverSides)
	}
}
