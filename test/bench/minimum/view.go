package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/api/resource"
)

const defaultImage = "docker.io/peaceiris/mdbook:v0.5.0"

type fields = map[string]*structpb.Value

// A view is what is read of an XR. The files stay the values that they are, so
// that the ConfigMap can have them as they stand.
type view struct {
	apiVersion, kind, name, namespace string
	generation                        int64

	markdowns *structpb.Value
	files     fields
	odd       []string // Names of the files that must go to binaryData.
	replicas  int32    // 0 where the XR has none.
	image     string
	requests  fields
	limits    fields

	state                                     string
	wasAvailable, wasUnavailable, wasDegraded bool
	degradedReason                            string
}

func readView(xr *structpb.Struct) view {
	top := xr.GetFields()
	metadata, spec, status := object(top["metadata"]), object(top["spec"]), object(top["status"])

	v := view{
		apiVersion: top["apiVersion"].GetStringValue(),
		kind:       top["kind"].GetStringValue(),
		name:       metadata["name"].GetStringValue(),
		namespace:  metadata["namespace"].GetStringValue(),
		generation: int64(metadata["generation"].GetNumberValue()),
		markdowns:  spec["markdowns"],
		files:      object(spec["markdowns"]),
		replicas:   int32(spec["replicas"].GetNumberValue()),
		image:      spec["viewerImage"].GetStringValue(),
		state:      status["status"].GetStringValue(),
	}
	if v.image == "" {
		v.image = defaultImage
	}
	resources := object(spec["resources"])
	v.requests, v.limits = object(resources["requests"]), object(resources["limits"])
	for _, c := range status["conditions"].GetListValue().GetValues() {
		c := object(c)
		switch c["type"].GetStringValue() {
		case "Available":
			v.wasAvailable = c["status"].GetStringValue() == "True"
			v.wasUnavailable = c["reason"].GetStringValue() == "Unavailable"
		case "Degraded":
			v.wasDegraded = c["status"].GetStringValue() == "True"
			v.degradedReason = c["reason"].GetStringValue()
		}
	}

	return v
}

func object(v *structpb.Value) fields { return v.GetStructValue().GetFields() }

// settled returns whether the view has been served before.
func (v *view) settled() bool {
	return v.wasAvailable || v.wasUnavailable || v.state == "Available" || v.state == "Healthy"
}

func (v *view) validate() error {
	if v.name == "" || len(v.name) > 56 || strings.Contains(v.name, ".") || v.namespace == "" {
		return errors.New("metadata: cannot take this name or namespace")
	}
	if v.files["SUMMARY.md"] == nil {
		return errors.New("spec.markdowns: must hold SUMMARY.md")
	}
	if v.replicas < 0 || v.replicas > 5 {
		return errors.New("spec.replicas: must be from 1 to 5")
	}
	if strings.ContainsAny(v.image, " \t\n") {
		return errors.New("spec.viewerImage: must be an image reference")
	}
	if err := v.validateResources(); err != nil {
		return err
	}

	return v.validateFiles()
}

func (v *view) validateResources() error {
	for _, list := range []fields{v.requests, v.limits} {
		for name, q := range list {
			if _, err := resource.ParseQuantity(quantity(q)); err != nil {
				return fmt.Errorf("spec.resources: %s: %w", name, err)
			}
		}
	}

	return nil
}

func (v *view) validateFiles() error {
	size := 0
	for name, text := range v.files {
		t, ok := text.GetKind().(*structpb.Value_StringValue)
		if !ok {
			return fmt.Errorf("spec.markdowns[%s]: must be a string", name)
		}
		if !isFileName(name) {
			return fmt.Errorf("spec.markdowns[%s]: must be a file name", name)
		}
		size += len(t.StringValue)
		if !plain(t.StringValue) {
			v.odd = append(v.odd, name)
		}
	}
	if size > 1<<20 {
		return errors.New("spec.markdowns: too long")
	}

	return nil
}

func isFileName(name string) bool {
	if name == "" || len(name) > 253 || name == "." || strings.HasPrefix(name, "..") {
		return false
	}
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.':
		default:
			return false
		}
	}

	return true
}

// plain returns whether a text is the same in JSON and in YAML, as which the API
// server reads it.
func plain(text string) bool {
	if strings.IndexByte(text, 0x7f) >= 0 || strings.Contains(text, "\ufffe") || strings.Contains(text, "\uffff") {
		return false
	}
	for {
		i := strings.IndexByte(text, 0xc2) // Where U+0080 to U+00BF begin.
		if i < 0 || i == len(text)-1 {
			return true
		}
		if text[i+1] < 0xa0 {
			return false
		}
		text = text[i+1:]
	}
}

// quantity returns the text of a quantity, which may be a number.
func quantity(v *structpb.Value) string {
	if n, ok := v.GetKind().(*structpb.Value_NumberValue); ok {
		return strconv.FormatFloat(n.NumberValue, 'f', -1, 64)
	}

	return v.GetStringValue()
}

// revision returns a hash over the content and over all of the pod template
// that can differ.
func (v *view) revision() string {
	sum := xxhash.New()
	write := func(s string) {
		sum.Write(strconv.AppendInt(nil, int64(len(s)), 10)) //nolint:errcheck // A hash never fails to write.
		sum.WriteString(s)                                   //nolint:errcheck // The same.
	}
	for _, list := range []fields{v.requests, v.limits} {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			write(name)
			write(quantity(list[name]))
		}
	}
	write(v.image)
	for _, name := range slices.Sorted(maps.Keys(v.files)) {
		write(name)
		write(v.files[name].GetStringValue())
	}

	return fmt.Sprintf("%016x", sum.Sum64())
}
