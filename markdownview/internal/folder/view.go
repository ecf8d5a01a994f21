package folder

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

// A View has what a packed MarkdownView does not have from its folder.
type View struct {
	// Object is a MarkdownView whose other fields are kept. It can be empty.
	Object          map[string]any
	Name, Namespace string
	Labels          map[string]string
}

// Complete adds the object of a file, unless it is empty, and the name of the file or of
// the folder to a view that has none.
func (v View) Complete(file, dir string) (View, error) {
	if file != "" {
		raw, err := os.ReadFile(file)
		if err == nil {
			err = yaml.Unmarshal(raw, &v.Object)
		}
		if err != nil {
			return v, fmt.Errorf("cannot read %s: %w", file, Cause(err))
		}
		metadata, _ := v.Object["metadata"].(map[string]any)
		if name, ok := metadata["name"].(string); ok && v.Name == "" {
			v.Name = name
		}
		if namespace, ok := metadata["namespace"].(string); ok && v.Namespace == "" {
			v.Namespace = namespace
		}
	}
	if v.Name == "" {
		v.Name = NameOf(dir)
	}
	if len(validation.IsDNS1123Label(v.Name)) > 0 {
		return v, fmt.Errorf("set --name to at most 63 lowercase letters, digits and hyphens: %q is not a valid name", v.Name)
	}

	return v, nil
}

var notInName = regexp.MustCompile(`[^a-z0-9]+`)

// NameOf returns the name of the MarkdownView of a folder.
func NameOf(dir string) string {
	if absolute, err := filepath.Abs(dir); err == nil {
		dir = absolute
	}
	name := strings.Trim(notInName.ReplaceAllString(strings.ToLower(filepath.Base(dir)), "-"), "-")
	if name == "" {
		return "book"
	}

	return strings.Trim(name[:min(len(name), 50)], "-")
}
