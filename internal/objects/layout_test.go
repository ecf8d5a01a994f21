package objects

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestLayoutOf(t *testing.T) {
	type inner struct {
		Hidden string `json:"b"`
		Shown  string `json:"d"`
	}

	for name, tc := range map[string]struct {
		reason string
		of     any
		want   layout
	}{
		"Empty": {reason: "A struct can have no fields", of: struct{}{}},
		"Sorted": {reason: "The fields are sorted by name, and some may be omitted", of: struct {
			B string `json:"b,omitempty"`
			A string `json:"a"`
		}{}, want: layout{fields: []jsonField{{"a", []int{1}, false}, {"b", []int{0}, true}}}},
		"Skipped": {reason: "Fields without a name in JSON are skipped", of: struct {
			A     string
			B     string `json:"-"`
			inner `json:"inner"`
		}{}},
		"Inlined": {reason: "A field hides an inlined field before it", of: struct {
			inner `json:",inline"`

			B string `json:"b"`
		}{}, want: layout{fields: []jsonField{{"b", []int{1}, false}, {"d", []int{0, 1}, false}}}},
		"Custom": {reason: "A struct can have a JSON form of its own", of: metav1.Time{}, want: layout{custom: true}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, *layoutOf(reflect.TypeOf(tc.of)), cmp.AllowUnexported(layout{}, jsonField{})); diff != "" {
				t.Errorf("\n%s\nlayoutOf(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
