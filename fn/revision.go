package fn

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
	corev1 "k8s.io/api/core/v1"
)

// annotationRevision is on the pod template. It holds a hash over the content
// and all that we ask of the pod template: a change of content rolls the
// Deployment, and an observed Deployment tells what it was asked to run.
const annotationRevision = "markdownview.fn.crossplane.io/revision"

// revision returns 16 hexadecimal digits that stand for the content of a
// ConfigMap and for a pod template.
//
// The hash need not withstand an attack: who could make two books alike is who
// writes the book. SHA-256 of a large book, or JSON of the template of a small
// one, would take up to a fifth of a call.
func revision(cm *corev1.ConfigMap, template corev1.PodTemplateSpec) string {
	h := hasher{xxhash.New()}
	h.value(reflect.ValueOf(cm.Data))
	h.value(reflect.ValueOf(cm.BinaryData))
	h.value(reflect.ValueOf(&template))

	return fmt.Sprintf("%016x", h.Sum64())
}

// A hasher hashes what encode would give of a value. It goes by names in their
// order, so that another release of a Go type makes no difference, and writes
// lengths, so that no two values read alike.
type hasher struct {
	*xxhash.Digest
}

func (h hasher) value(from reflect.Value) {
	switch from.Kind() {
	case reflect.Pointer:
		h.value(from.Elem())
	case reflect.String:
		h.text(from.String())
	case reflect.Bool:
		h.text(fmt.Sprint(from.Bool()))
	case reflect.Int32, reflect.Int64:
		h.number(from.Int())
	case reflect.Struct:
		h.object(from)
	case reflect.Map:
		h.mapping(from)
	case reflect.Slice:
		h.list(from)
	default:
		panic(fmt.Sprintf("cannot hash a %s", from.Type()))
	}
}

func (h hasher) object(from reflect.Value) {
	known := layoutOf(from.Type())
	if known.custom {
		m, _ := from.Interface().(json.Marshaler)
		h.text(string(mustMarshal(m)))

		return
	}
	for _, f := range known.fields {
		if child := from.FieldByIndex(f.index); isSet(child, f.omitEmpty) {
			h.text(f.name)
			h.value(child)
		}
	}
	h.text("") // No field has this name: it ends the object.
}

func (h hasher) mapping(from reflect.Value) {
	h.number(int64(from.Len()))
	if m, ok := from.Interface().(map[string]string); ok {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			h.text(k)
			h.text(m[k])
		}

		return
	}
	keys := from.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, k := range keys {
		h.text(k.String())
		h.value(from.MapIndex(k))
	}
}

func (h hasher) list(from reflect.Value) {
	h.number(int64(from.Len()))
	if from.Type().Elem().Kind() == reflect.Uint8 {
		h.Write(from.Bytes()) //nolint:errcheck // A hash never fails to write.

		return
	}
	for i := range from.Len() {
		h.value(from.Index(i))
	}
}

func (h hasher) text(s string) {
	h.number(int64(len(s)))
	h.WriteString(s) //nolint:errcheck // A hash never fails to write.
}

func (h hasher) number(n int64) {
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(n))) //nolint:errcheck,gosec // A hash never fails to write, and any bits will do.
}
