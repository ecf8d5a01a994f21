package folder

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-markdownview/test/sample"
)

// packed returns a folder with files as objects, and its path.
func packed(t *testing.T, files map[string]string, v View) (p Packed, dir string, err error) {
	t.Helper()
	dir = t.TempDir()
	write(t, dir, files)
	f, err := List(dir, quiet)
	must(t, err)
	content, err := f.Read()
	must(t, err)
	p, err = f.Pack(content, v)

	return p, dir, err
}

// TestPack checks that the other fields of a given MarkdownView are kept, and its files
// replaced.
func TestPack(t *testing.T) {
	view := View{Name: "pr-1", Namespace: "team", Labels: map[string]string{"pull-request": "1"}}
	must(t, yaml.Unmarshal([]byte(`
apiVersion: example.org/v1
kind: Wiki
metadata: {name: docs, annotations: {a: b}}
spec: {replicas: 2, markdowns: {old.md: ""}, markdownsFrom: [{configMap: {name: shared}}]}
`), &view.Object))
	const want = `---
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
    a.md: A
  markdownsFrom:
  - configMap:
      name: shared
  replicas: 2
`
	got, _, err := packed(t, map[string]string{"a.md": "A"}, view)
	must(t, err)
	if diff := cmp.Diff(want, got.YAML); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

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
			_, dir, err := packed(t, tc.files, View{Name: "docs"})
			if got := strings.ReplaceAll(fmt.Sprint(err), dir, "DIR"); got != tc.want {
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
func unpack(t *testing.T, text string) (files map[string]string, largest int) {
	t.Helper()
	configMaps, files := map[string]map[string]string{}, map[string]string{}
	for document := range strings.SplitSeq(strings.TrimPrefix(text, "---\n"), "\n---\n") {
		var o struct {
			Kind       string
			Metadata   struct{ Name string }
			Data       map[string]string
			BinaryData map[string][]byte
			Spec       struct {
				Markdowns     map[string]string
				Binaries      map[string][]byte
				MarkdownsFrom []struct {
					Path      string
					ConfigMap struct{ Name string }
				}
			}
		}
		encoded, err := yaml.YAMLToJSON([]byte(document))
		must(t, errors.Join(err, json.Unmarshal(encoded, &o)))
		largest = max(largest, len(encoded))
		add := func(to, texts map[string]string, binaries map[string][]byte) {
			maps.Copy(to, texts)
			for name, content := range binaries {
				to[name] = string(content)
			}
		}
		if o.Kind == "ConfigMap" {
			configMaps[o.Metadata.Name] = map[string]string{}
			add(configMaps[o.Metadata.Name], o.Data, o.BinaryData)
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
		p, _, err := packed(t, files, View{Name: "docs"})
		if errors.Is(err, ErrImage) {
			continue
		}
		if again, _, _ := packed(t, files, View{Name: "docs"}); err != nil || again != p {
			t.Fatalf("seed %d: the same files give other bytes, or an error: %v", seed, err)
		}
		got, size := unpack(t, p.YAML)
		if diff := cmp.Diff(files, got); diff != "" {
			t.Fatalf("seed %d: -want +got\n%.2000s", seed, diff)
		}
		limit := 256 << 10
		if p.ServerSide {
			serverSides++
			limit = 1 << 20
		}
		if size > limit {
			t.Fatalf("seed %d: an object has %d bytes, more than %d", seed, size, limit)
		}
		if strings.Contains(p.YAML, "kind: ConfigMap") {
			split++
		}
	}
	if split < 8 || serverSides < 2 {
		t.Errorf("%d folders need ConfigMaps, and %d a server-side apply: too few to test", split, serverSides)
	}
}
