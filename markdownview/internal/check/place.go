package check

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/crossplane-contrib/function-markdownview/markdownview/internal/folder"
	"github.com/crossplane-contrib/function-markdownview/markdownview/internal/render"
)

// A place is where the files of a book are written.
type place interface {
	// file returns the file and the line of a line of a file of the book.
	file(name string, line int) (string, int)
	// field returns the file and the line of a field of the MarkdownView.
	field(path string) (string, int)
}

// inFolder is the place of a book in a folder.
type inFolder struct{ *folder.Folder }

func (f inFolder) file(name string, line int) (string, int) {
	if !slices.ContainsFunc(f.Files, func(file folder.File) bool { return file.Name == name }) {
		return f.Path, 0 // Such as a generated SUMMARY.md.
	}

	return f.Shown(name), line
}

var fileField = regexp.MustCompile(`^spec\.(?:markdowns|binaries)\[(.+?)\]:`)

func (f inFolder) field(path string) (string, int) {
	if m := fileField.FindStringSubmatch(path + ":"); m != nil {
		return f.file(m[1], 0)
	}

	return f.Path, 0
}

// inYAML is the place of a book in a file of YAML.
type inYAML struct {
	path  string
	root  *yaml.Node
	names map[string]textPlace
}

// A textPlace is where a file of a book is written in a file of YAML.
type textPlace struct {
	file string
	node *yaml.Node
}

// newInYAML returns the place of the MarkdownView of a number in a file. Its ConfigMaps are
// in one of the files. Without YAML that can be read, no place is known.
func newInYAML(path string, number int, files map[string]render.Source) inYAML {
	p := inYAML{path, &yaml.Node{}, map[string]textPlace{}}
	for _, root := range documents(files[path].XR) {
		spec := get(root, "spec")
		if get(root, "kind").Value != "MarkdownView" && get(spec, "markdowns").IsZero() && get(spec, "markdownsFrom").IsZero() {
			continue
		}
		if number--; number < 0 {
			p.root = root

			break
		}
	}
	spec := get(p.root, "spec")
	p.add(path, "", get(spec, "markdowns"), get(spec, "binaries"))
	for _, entry := range get(spec, "markdownsFrom").Content {
		name, folder := get(get(entry, "configMap"), "name").Value, get(entry, "path").Value
		if folder != "" {
			folder += "/"
		}
		for file, s := range files {
			for _, root := range documents(s.XR) {
				if get(root, "kind").Value == "ConfigMap" && get(get(root, "metadata"), "name").Value == name {
					p.add(file, folder, get(root, "data"), get(root, "binaryData"))
				}
			}
		}
	}

	return p
}

// add adds the files of maps.
func (p inYAML) add(file, folder string, maps ...*yaml.Node) {
	for _, m := range maps {
		for pair := range slices.Chunk(m.Content, 2) {
			p.names[folder+pair[0].Value] = textPlace{file, pair[len(pair)-1]}
		}
	}
}

func (p inYAML) file(name string, line int) (string, int) {
	at, ok := p.names[name]
	switch {
	case !ok:
		return p.field("spec")
	case line > 0 && at.node.Style == yaml.LiteralStyle:
		return at.file, at.node.Line + line // The text begins in the line after its "|".
	default:
		return at.file, at.node.Line
	}
}

// step matches a step of the path of a field: a name, or an index or a key in brackets.
var step = regexp.MustCompile(`\[[^\]]*\]|[^.\[]+`)

// field returns the line of a field, or of the nearest field that has it.
func (p inYAML) field(path string) (string, int) {
	node := p.root
	for _, name := range step.FindAllString(path, -1) {
		name = strings.Trim(name, "[]")
		next := get(node, name)
		if i, err := strconv.Atoi(name); err == nil && node.Kind == yaml.SequenceNode && i < len(node.Content) {
			next = node.Content[i]
		}
		if next.IsZero() {
			break
		}
		node = next
	}

	return p.path, node.Line
}

// documents returns the roots of the documents of a file.
func documents(text string) (roots []*yaml.Node) {
	for d := yaml.NewDecoder(strings.NewReader(text)); ; {
		var n yaml.Node
		if d.Decode(&n) != nil {
			return roots
		}
		if len(n.Content) > 0 {
			roots = append(roots, n.Content[0])
		}
	}
}

// get returns the value of a key of a map, or an empty node.
func get(node *yaml.Node, key string) *yaml.Node {
	if node.Kind == yaml.MappingNode {
		for pair := range slices.Chunk(node.Content, 2) {
			if pair[0].Value == key {
				return pair[1]
			}
		}
	}

	return &yaml.Node{}
}
