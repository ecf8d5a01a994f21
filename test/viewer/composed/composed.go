// Package composed reads what the function composes, from the files of "make
// render".
package composed

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Resources of a view.
type Resources struct {
	ConfigMap  corev1.ConfigMap
	Deployment appsv1.Deployment
	Service    corev1.Service
}

// Read reads a file of "make render". A field that Kubernetes does not know is an
// error.
func Read(file string) (Resources, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return Resources{}, err
	}

	var r Resources
	byKind := map[string]any{"ConfigMap": &r.ConfigMap, "Deployment": &r.Deployment, "Service": &r.Service}
	documents := utilyaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(b)))
	for {
		document := make([]byte, len(b))
		n, err := documents.Read(document)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Resources{}, fmt.Errorf("cannot read %s: %w", file, err)
		}
		if err := decode(document[:n], byKind); err != nil {
			return Resources{}, fmt.Errorf("cannot decode %s: %w", file, err)
		}
	}
	for kind := range byKind {
		return Resources{}, fmt.Errorf("cannot find a %s in %s", kind, file)
	}

	return r, nil
}

// decode decodes a document of a kind that is still missing.
func decode(document []byte, missing map[string]any) error {
	var t metav1.TypeMeta
	if err := yaml.Unmarshal(document, &t); err != nil {
		return err
	}
	into, ok := missing[t.Kind]
	if !ok {
		return nil
	}
	delete(missing, t.Kind)

	return yaml.UnmarshalStrict(document, into)
}
