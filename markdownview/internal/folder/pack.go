package folder

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-markdownview/book/filename"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

// The sizes that an object can have as JSON.
const (
	// kubectl apply stores a copy of an object in an annotation, and annotations can have
	// 256 KiB:
	// https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/apimachinery/pkg/api/validation/objectmeta.go
	// (TotalAnnotationSizeLimitB). The rest is for other annotations.
	applySize = 256<<10 - 4<<10
	// objectSize is what a ConfigMap can hold.
	objectSize = 1 << 20
)

// maxConfigMaps is how many entries spec.markdownsFrom can have.
const maxConfigMaps = 8

// ErrImage means that only an image can hold a folder.
var ErrImage = errors.New("push the folder as an image with markdownview pack --push")

// A Packed has the objects that hold a folder as documents of YAML, in the order in which they
// are applied: the ConfigMaps, and the MarkdownView.
type Packed struct {
	YAML string
	// ServerSide is whether kubectl can apply the objects only with --server-side.
	ServerSide bool
}

// Pack returns the objects that hold a folder. The same folder gives the same objects. An
// error that wraps ErrImage means that the folder does not fit into them.
func (f *Folder) Pack(content map[string][]byte, v View) (Packed, error) {
	if len(f.Files) == 0 {
		return Packed{}, fmt.Errorf("add a file such as README.md to %s: it has no files", f.Path)
	}
	if n := len(f.Files); n > view.MaxFiles {
		return Packed{}, fmt.Errorf("%w, or list files in .markdownignore: %s has %d files, and a MarkdownView can have %d", ErrImage, f.Path, n, view.MaxFiles)
	}
	p := &packer{Folder: f, View: v, entries: map[string]entry{}}
	for name, bytes := range content {
		p.entries[name] = entryOf(name, bytes)
	}
	objects, err := p.pack(applySize)
	serverSide := err != nil
	if serverSide {
		objects, err = p.pack(objectSize)
	}
	if err != nil {
		return Packed{}, err
	}
	text, err := toYAML(objects)

	return Packed{text, serverSide}, err
}

type packer struct {
	*Folder
	View

	entries map[string]entry
}

// An entry is a file as an object stores it.
type entry struct {
	value string // The text, or the content in base64.
	text  bool
	size  int // In JSON, with its name.
}

func entryOf(name string, content []byte) entry {
	e := entry{value: string(content)}
	e.text = utf8.Valid(content) && (name == view.SummaryName || view.Plain(e.value))
	if !e.text {
		e.value = base64.StdEncoding.EncodeToString(content)
	}
	e.size = len(encode(map[string]any{name: e.value}))

	return e
}

// A part is the files of a folder that are in a ConfigMap.
type part struct {
	folder string
	names  []string
	size   int
}

// reserve is what a MarkdownView keeps free for the names of its ConfigMaps.
const reserve = 4 << 10

// pack returns objects of a limited size. The MarkdownView holds all files if it can.
// Otherwise ConfigMaps hold those of the largest folders, until the rest fits.
func (p *packer) pack(limit int) ([]map[string]any, error) {
	all := slices.Sorted(maps.Keys(p.entries))
	if one := p.markdownView(all, nil); len(encode(one)) <= limit {
		return []map[string]any{one}, nil
	}
	base := len(encode(p.configMap(part{}, maxConfigMaps)))
	size := len(encode(p.markdownView(nil, nil))) + reserve
	for _, e := range p.entries {
		size += e.size
	}
	var parts []part
	moved := map[string]bool{}
	for _, g := range p.groups() {
		for _, name := range g.names {
			e := p.entries[name]
			if size <= limit || base+e.size > limit {
				continue
			}
			if n := len(parts); n == 0 || parts[n-1].folder != g.folder || parts[n-1].size+e.size > limit {
				parts = append(parts, part{folder: g.folder, size: base})
			}
			last := &parts[len(parts)-1]
			last.names, last.size = append(last.names, name), last.size+e.size
			moved[name], size = true, size-e.size
		}
	}
	rest := slices.DeleteFunc(all, func(name string) bool { return moved[name] })
	if size > limit || len(parts)+len(p.otherSources()) > maxConfigMaps {
		return nil, p.tooLarge(limit)
	}
	slices.SortFunc(parts, func(a, b part) int {
		return slices.Compare([]string{a.folder, a.names[0]}, []string{b.folder, b.names[0]})
	})
	objects := make([]map[string]any, 0, len(parts)+1)
	for i, part := range parts {
		objects = append(objects, p.configMap(part, i))
	}

	return append(objects, p.markdownView(rest, parts)), nil
}

// groups returns the files that ConfigMaps can hold by folder, the largest first: a
// ConfigMap has the files of one folder, and a file the name of its key.
func (p *packer) groups() []part {
	byFolder := map[string]part{}
	for _, name := range slices.Sorted(maps.Keys(p.entries)) {
		if base := path.Base(name); name == view.SummaryName || filename.Key(base) != base {
			continue
		}
		g := byFolder[path.Dir(name)]
		g.folder, g.names, g.size = path.Dir(name), append(g.names, name), g.size+p.entries[name].size
		byFolder[g.folder] = g
	}

	return slices.SortedFunc(maps.Values(byFolder), func(a, b part) int {
		return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.folder, b.folder))
	})
}

// tooLarge returns what does not fit into objects.
func (p *packer) tooLarge(limit int) error {
	for _, name := range slices.Sorted(maps.Keys(p.entries)) {
		if e := p.entries[name]; e.size+reserve > limit {
			return fmt.Errorf("%w, or list the file in .markdownignore: %s has %s as JSON, and an object can have 1 MiB", ErrImage, p.Shown(name), mebibytes(int64(e.size)))
		}
	}

	var size int64
	for _, file := range p.Files {
		size += file.Size
	}

	return fmt.Errorf("%w, or list files in .markdownignore: %s has %s, which do not fit into a MarkdownView and %d ConfigMaps",
		ErrImage, p.Path, mebibytes(size), maxConfigMaps-len(p.otherSources()))
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

func (p *packer) metadata(name string) map[string]any {
	m := map[string]any{"name": name}
	if p.Namespace != "" {
		m["namespace"] = p.Namespace
	}
	if len(p.Labels) > 0 {
		m["labels"] = p.Labels
	}

	return m
}

func (p *packer) configMapName(i int) string { return fmt.Sprintf("%s-%d", p.Name, i+1) }

func (p *packer) configMap(part part, i int) map[string]any {
	cm := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": p.metadata(p.configMapName(i))}
	p.store(cm, "data", "binaryData", part.names, path.Base)

	return cm
}

// store adds files to the fields of an object.
func (p *packer) store(object map[string]any, texts, binaries string, names []string, key func(string) string) {
	for _, name := range names {
		at := binaries
		if p.entries[name].text {
			at = texts
		}
		if object[at] == nil {
			object[at] = map[string]any{}
		}
		object[at].(map[string]any)[key(name)] = p.entries[name].value
	}
}

// otherSources returns the entries of spec.markdownsFrom that the given MarkdownView has.
func (p *packer) otherSources() []any {
	spec, _ := p.Object["spec"].(map[string]any)
	from, _ := spec["markdownsFrom"].([]any)

	return from
}

func (p *packer) markdownView(names []string, parts []part) map[string]any {
	v := map[string]any{"apiVersion": "markdownview.fn.crossplane.io/v1alpha1", "kind": "MarkdownView"}
	maps.Copy(v, p.Object)
	metadata, _ := v["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	if metadata == nil {
		metadata = map[string]any{}
	}
	maps.Copy(metadata, p.metadata(p.Name))
	given, _ := v["spec"].(map[string]any)
	spec := map[string]any{}
	maps.Copy(spec, given)
	delete(spec, "markdowns")
	delete(spec, "binaries")
	p.store(spec, "markdowns", "binaries", names, func(name string) string { return name })
	from := p.otherSources()
	for i, part := range parts {
		source := map[string]any{"configMap": map[string]any{"name": p.configMapName(i)}}
		if part.folder != "." {
			source["path"] = part.folder
		}
		from = append(from, source)
	}
	if len(from) > 0 {
		spec["markdownsFrom"] = from
	}
	if _, ok := p.entries[view.SummaryName]; !ok && spec["summary"] == nil && len(p.otherSources()) == 0 {
		spec["summary"] = view.SummaryAuto
	}
	v["metadata"], v["spec"] = metadata, spec

	return v
}

func encode(object map[string]any) []byte {
	encoded, _ := json.Marshal(object) //nolint:errchkjson // It has only strings, maps and lists.

	return encoded
}

// toYAML returns objects as documents of YAML.
func toYAML(objects []map[string]any) (string, error) {
	var out bytes.Buffer
	for _, o := range objects {
		text, err := yaml.Marshal(o)
		if err != nil || !reads(text, o) {
			// JSON, which is YAML too, can have every text.
			if text = append(escape(encode(o)), '\n'); !reads(text, o) {
				return "", fmt.Errorf("cannot write %s as YAML: save it without control characters", view.SummaryName)
			}
		}
		out.WriteString("---\n")
		out.Write(text)
	}

	return out.String(), nil
}

// YAML returns the objects of a folder as YAML.
func YAML(dir string) (string, error) {
	f, err := List(dir, func(string, ...any) {})
	if err != nil {
		return "", err
	}
	content, err := f.Read()
	if err != nil {
		return "", err
	}
	packed, err := f.Pack(content, View{Name: NameOf(dir)})

	return packed.YAML, err
}

// reads returns whether YAML is an object.
func reads(text []byte, object map[string]any) bool {
	var again map[string]any

	return yaml.Unmarshal(text, &again) == nil && bytes.Equal(encode(object), encode(again))
}

// escape escapes the characters that JSON can have and YAML cannot.
func escape(encoded []byte) []byte {
	var out bytes.Buffer
	for _, c := range string(encoded) {
		if view.Plain(string(c)) {
			out.WriteRune(c)
		} else {
			fmt.Fprintf(&out, `\u%04x`, c)
		}
	}

	return out.Bytes()
}
