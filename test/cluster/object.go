package cluster

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

// An Object is a Kubernetes object, or a part of one.
type Object = map[string]any

// At returns the value at a path, or nil.
func At(v any, path ...string) any {
	for _, name := range path {
		o, _ := v.(Object)
		v = o[name]
	}

	return v
}

// TextAt returns the text at a path, or an empty one.
func TextAt(v any, path ...string) string {
	text, _ := At(v, path...).(string)

	return text
}

// ListAt returns the list at a path, or nil.
func ListAt(v any, path ...string) []any {
	list, _ := At(v, path...).([]any)

	return list
}

// Child returns the object in a field, and creates it if it is absent.
func Child(o Object, name string) Object {
	if existing, ok := o[name].(Object); ok {
		return existing
	}
	made := Object{}
	o[name] = made

	return made
}

// Metadata returns the metadata of an object.
func Metadata(o Object) Object { return Child(o, "metadata") }

// Number returns a number, or 0.
func Number(v any) float64 {
	n, _ := v.(float64)
	return n
}

// Clone returns a copy of an object.
func Clone(o Object) Object {
	out := Object{}
	if o == nil {
		return out
	}
	b, err := json.Marshal(o)
	if err := errors.Join(err, json.Unmarshal(b, &out)); err != nil {
		panic(fmt.Sprintf("cannot copy an object: %v", err))
	}

	return out
}

// Struct returns the Struct of an object.
func Struct(t testing.TB, o Object) *structpb.Struct {
	t.Helper()
	s, err := structpb.NewStruct(o)
	if err != nil {
		t.Fatalf("cannot create a Struct: %v", err)
	}

	return s
}

// Condition returns a condition of an object.
func Condition(kind, status, reason, message string) Object {
	const now = "2026-01-02T03:04:05Z"
	return Object{"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": now}
}

// Status returns the status of a condition in a response.
func Status(c *fnv1.Condition) string {
	return map[fnv1.Status]string{
		fnv1.Status_STATUS_CONDITION_UNKNOWN: "Unknown",
		fnv1.Status_STATUS_CONDITION_TRUE:    "True",
		fnv1.Status_STATUS_CONDITION_FALSE:   "False",
	}[c.GetStatus()]
}

func statusOf(status bool) string { return map[bool]string{true: "True", false: "False"}[status] }

// NamespaceOf returns the namespace of the composed resources of an XR.
func NamespaceOf(xr, input Object) string {
	for _, v := range []any{At(xr, "metadata"), At(xr, "spec", "claimRef"), input} {
		if namespace, ok := At(v, "namespace").(string); ok {
			return namespace
		}
	}

	return ""
}

// RevisionOf returns the revision of the pods of a Deployment.
func RevisionOf(deployment Object) string {
	return TextAt(deployment, "spec", "template", "metadata", "annotations", "markdownview.fn.crossplane.io/revision")
}

// VolumeIn returns the volume of a Deployment with the book.
func VolumeIn(deployment Object) Object {
	for _, volume := range ListAt(deployment, "spec", "template", "spec", "volumes") {
		if v, ok := volume.(Object); ok && v["name"] == "markdowns" {
			return v
		}
	}

	return nil
}

// configMapOf returns the name of our ConfigMap in a volume. It is empty if an image holds
// the book.
func configMapOf(volume Object) string {
	if sources := ListAt(volume, "projected", "sources"); len(sources) > 0 {
		return TextAt(sources[0], "configMap", "name")
	}

	return TextAt(volume, "configMap", "name")
}

// TextsIn returns the files of a ConfigMap by key.
func TextsIn(configMap Object) map[string]string {
	texts := map[string]string{}
	data, _ := configMap["data"].(Object)
	for key, value := range data {
		if text, ok := value.(string); ok { // A ConfigMap in the API server has only strings.
			texts[key] = text
		}
	}
	binaries, _ := configMap["binaryData"].(Object)
	for key := range binaries {
		if b, err := base64.StdEncoding.DecodeString(TextAt(binaries, key)); err == nil {
			texts[key] = string(b)
		}
	}

	return texts
}
