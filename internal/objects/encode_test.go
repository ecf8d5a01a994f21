package objects_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/internal/objects"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// written returns the message that a Writer writes.
func written(write func(w *objects.Writer)) []byte {
	var w objects.Writer
	write(&w)

	return slices.Concat(w.Parts()...)
}

// decoded returns the Struct that protobuf-go reads from bytes.
func decoded(t testing.TB, b []byte) *structpb.Struct {
	t.Helper()
	s := &structpb.Struct{}
	if err := proto.Unmarshal(b, s); err != nil {
		t.Fatalf("cannot decode the message: %v", err)
	}

	return s
}

// TestObject checks what FuzzEncode does not: values that are read as another one.
func TestObject(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		object any
		want   string
	}{
		"PointersToZero": {
			reason: "A pointer to a zero, to false or to an empty object is written",
			object: &corev1.PodSpec{
				EnableServiceLinks:            ptr.To(false),
				TerminationGracePeriodSeconds: ptr.To[int64](0),
				Volumes:                       []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
			},
			want: `{enableServiceLinks: false, terminationGracePeriodSeconds: 0, volumes: [{name: v, emptyDir: {}}]}`,
		},
		"ZeroTime": {reason: "A time that is zero is null, as in JSON", object: &metav1.ObjectMeta{Name: "a", DeletionTimestamp: &metav1.Time{}}, want: `{name: a, deletionTimestamp: null}`},
		"Tree": {
			reason: "A tree that was decoded from JSON keeps its values",
			object: &struct {
				Tree map[string]any `json:"tree"`
			}{map[string]any{"a": nil, "b": []any{"c", 1.5, int64(2), true, map[string]any{"d": []any{}}}}},
			want: `{tree: {a: null, b: [c, 1.5, 2, true, {d: []}]}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := viewtest.Object(t, tc.want)
			got := written(func(w *objects.Writer) { w.Object(tc.object) })
			if diff := cmp.Diff(want, decoded(t, got), protocmp.Transform()); diff != "" {
				t.Errorf("\n%s\nObject(): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(want, decoded(t, objects.In(objects.Encode(tc.object).Encoded)), protocmp.Transform()); diff != "" {
				t.Errorf("\n%s\nEncode(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestEncodeLong checks that the parts of a long Value are joined.
func TestEncodeLong(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	if got := string(objects.Encode(&long).Encoded); got != sized(3, long) {
		t.Errorf("Encode(): want a text of %d bytes, got a Value of %d bytes", len(long), len(got))
	}
}

// FuzzEncode compares what a Writer writes with the JSON of encoding/json. FuzzDecode reads such Structs.
func FuzzEncode(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		sent, in := &structpb.Struct{}, &everything{}
		if sent.UnmarshalJSON(text) != nil {
			return
		}
		if errs, err := objects.Decode(viewtest.Encode(t, sent), in, nil, objects.Options{Check: checkShort}); err != nil || len(errs) > 0 {
			return
		}
		got := written(func(w *objects.Writer) { w.Object(in) })
		b, err := json.Marshal(in)
		if err != nil {
			return // JSON does not support years after 9999.
		}
		want := &structpb.Struct{}
		if err := want.UnmarshalJSON(b); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, decoded(t, got), protocmp.Transform()); diff != "" {
			t.Errorf("Object() of %s: -want, +got:\n%s", b, diff)
		}
	})
}
