package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/crossplane-contrib/function-markdownview/markdownview/internal/folder"
)

// A Policy is the Input of the function, which a platform team writes.
type Policy struct {
	Composition string `help:"File with the Composition that has the Input of the function." placeholder:"FILE" xor:"input"`
	Input       string `help:"File with the Input of the function."                          placeholder:"FILE" xor:"input"`
}

// A Source has the texts of the files of a MarkdownView, or in Problem why one of them
// cannot be read. For a folder, XR is empty, and Stamp changes with its files.
type Source struct {
	Policy

	Path, Stamp, XR, Problem string

	composition, input string
}

// Load reads a folder, or a file with MarkdownViews, and the files of its policy.
func Load(path string, p Policy) (s Source) {
	s = Source{Policy: p, Path: path}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		s.Stamp, path = stamp(path), ""
	}
	for _, f := range []struct {
		name string
		text *string
	}{{path, &s.XR}, {p.Composition, &s.composition}, {p.Input, &s.input}} {
		if f.name == "" {
			continue
		}
		raw, err := os.ReadFile(f.name)
		if *f.text = string(raw); err != nil {
			s.Problem = fmt.Sprintf("cannot read %s: %v", f.name, folder.Cause(err))
		}
	}

	return s
}

// stamp changes when a file of a folder does.
func stamp(dir string) string {
	f, err := folder.List(dir, func(string, ...any) {})
	out := strings.Builder{}
	fmt.Fprintln(&out, err)
	if f != nil {
		for _, file := range f.Files {
			fmt.Fprintln(&out, file.Name, file.Size, file.Modified.UnixNano())
		}
	}

	return out.String()
}

// An Object has the fields of a document by which a MarkdownView is found in a file, or
// an Input in a Composition.
type Object struct {
	APIVersion string                `json:"apiVersion"`
	Kind       string                `json:"kind"`
	Metadata   struct{ Name string } `json:"metadata"`
	Spec       struct {
		Markdowns     any `json:"markdowns"`
		MarkdownsFrom any `json:"markdownsFrom"`
		Pipeline      []struct {
			Step        string                `json:"step"`
			FunctionRef struct{ Name string } `json:"functionRef"`
			Input       map[string]any        `json:"input"`
		} `json:"pipeline"`
	} `json:"spec"`
}

// IsView returns whether a document is a MarkdownView. The XRD of another author may have
// another kind.
func (o Object) IsView() bool {
	return o.Kind == "MarkdownView" || o.Spec.Markdowns != nil || o.Spec.MarkdownsFrom != nil
}

// ErrNotFound means that no document of a file matches.
var ErrNotFound = errors.New("not found")

// Find returns the first document of a YAML file that matches.
func Find(text string, match func(Object) bool) (*structpb.Struct, error) {
	for d := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096); ; {
		var raw json.RawMessage
		var o Object
		err := d.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return nil, ErrNotFound
		}
		if err == nil && raw != nil {
			err = json.Unmarshal(raw, &o)
		}
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			if wrong.Field == "" {
				return nil, errors.New("a document in it is not an object of Kubernetes")
			}

			return nil, fmt.Errorf("%s cannot be a %s", wrong.Field, wrong.Value)
		}
		if err != nil {
			return nil, err
		}
		if match(o) {
			s := &structpb.Struct{}

			return s, s.UnmarshalJSON(raw)
		}
	}
}
