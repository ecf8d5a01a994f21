package objects

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	kjson "sigs.k8s.io/json"
)

// written returns the message that a Writer writes.
func written(write func(w *Writer)) []byte {
	var w Writer
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

func TestObject(t *testing.T) {
	cases := map[string]struct {
		reason string
		object any
		want   string
	}{
		"OnlySetFields": {
			reason: "A field that is not set is not written",
			object: &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: "name", Namespace: "space"}},
			want:   `{apiVersion: v1, kind: ConfigMap, metadata: {name: name, namespace: space}}`,
		},
		"PointersToZero": {
			reason: "A pointer to a zero, to false or to an empty object is written",
			object: &corev1.PodSpec{
				EnableServiceLinks:            ptr.To(false),
				TerminationGracePeriodSeconds: ptr.To[int64](0),
				Volumes:                       []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
			},
			want: `{enableServiceLinks: false, terminationGracePeriodSeconds: 0, volumes: [{name: v, emptyDir: {}}]}`,
		},
		"OwnForm": {
			reason: "Quantities and ports have a JSON form of their own, and binary data is base64",
			object: &everything{
				Requests: corev1.ResourceList{"cpu": resource.MustParse("1000m"), "memory": resource.MustParse("1Gi")},
				Port:     ptr.To(intstr.FromInt32(80)),
				Binary:   map[string][]byte{"b": []byte("hi"), "a": {}},
				Large:    ptr.To[int64](1),
				TTL:      &metav1.Duration{Duration: 60e9},
			},
			want: `{inlined: "", text: "", flag: false, small: 0, large: 1, binary: {a: "", b: aGk=},
			        requests: {cpu: "1", memory: 1Gi}, port: 80, ttl: 1m0s}`,
		},
		"ZeroTime": {reason: "A time that is zero is null, as in JSON", object: &metav1.ObjectMeta{Name: "a", DeletionTimestamp: &metav1.Time{}}, want: `{name: a, deletionTimestamp: null}`},
		"Lists": {
			reason: "Lists and maps keep their items",
			object: &everything{Words: []string{"b", "a", ""}, Texts: map[string]string{"k": "", "a": "b"}, Port: ptr.To(intstr.FromString("http"))},
			want:   `{inlined: "", text: "", flag: false, small: 0, words: [b, a, ""], texts: {a: b, k: ""}, port: http}`,
		},
		"Tree": {
			reason: "A tree that was decoded from JSON keeps its values",
			object: &struct {
				Tree map[string]any `json:"tree"`
			}{map[string]any{"a": nil, "b": []any{"c", 1.5, int64(2), true, map[string]any{"d": []any{}}}}},
			want: `{tree: {a: null, b: [c, 1.5, 2, true, {d: []}]}}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			want := structOf(t, tc.want)
			got := written(func(w *Writer) { w.Object(tc.object) })
			if diff := cmp.Diff(want, decoded(t, got), protocmp.Transform()); diff != "" {
				t.Errorf("\n%s\nObject(): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(want, decoded(t, In(Encode(tc.object).Encoded)), protocmp.Transform()); diff != "" {
				t.Errorf("\n%s\nEncode(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestEncodeLong checks that the parts of a long Value are joined.
func TestEncodeLong(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	if got := string(Encode(&long).Encoded); got != sized(3, long) {
		t.Errorf("Encode(): want a text of %d bytes, got a Value of %d bytes", len(long), len(got))
	}
}

// TestFields checks the bytes of entries.
func TestFields(t *testing.T) {
	cases := map[string]struct {
		reason string
		write  func(w *Writer)
		want   string
	}{
		"Field":  {reason: "A field is an entry with a Value", write: func(w *Writer) { w.Field("k", "v") }, want: "\x0a\x08\x0a\x01k\x12\x03\x1a\x01v"},
		"Value":  {reason: "An encoded Value is written unchanged", write: func(w *Writer) { w.Field("k", Value{[]byte("\x1a\x01v")}) }, want: "\x0a\x08\x0a\x01k\x12\x03\x1a\x01v"},
		"Object": {reason: "An entry can be a Struct", write: func(w *Writer) { w.ObjectField("o", func() { w.Field("k", "v") }) }, want: "\x0a\x11\x0a\x01o\x12\x0c\x2a\x0a\x0a\x08\x0a\x01k\x12\x03\x1a\x01v"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := string(written(tc.write)); got != tc.want {
				t.Errorf("\n%s\nwant %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// TestObjectIsStable checks that equal maps give equal bytes, whatever their order.
func TestObjectIsStable(t *testing.T) {
	var first []byte
	for i := range 20 {
		e := everything{Texts: map[string]string{}, Binary: map[string][]byte{}, Requests: corev1.ResourceList{}}
		for j := range 20 {
			key := strings.Repeat("k", (i+j)%20+1)
			e.Texts[key], e.Binary[key], e.Requests[corev1.ResourceName(key)] = key, []byte(key), resource.MustParse("1")
		}
		b := written(func(w *Writer) { w.Object(&e) })
		if i == 0 {
			first = b
		}
		if !bytes.Equal(first, b) {
			t.Fatalf("Object(): want %q, got %q", first, b)
		}
	}
}

// FuzzEncode decodes what a Writer writes with the JSON decoder of Kubernetes, and compares
// it with structpb.NewStruct of the JSON.
func FuzzEncode(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		compareEncode[corev1.ConfigMap](t, text)
		compareEncode[appsv1.Deployment](t, text)
		compareEncode[corev1.Service](t, text)

		in, got := reencode[everything](t, text)
		if in == nil {
			return
		}
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
		again := everything{}
		if errs, err := Decode(got, &again, nil, Options{Strict: true}); err != nil || len(errs) > 0 {
			t.Fatalf("cannot decode the result for %s: %v, %v", b, errs, err)
		}
		// A time that is zero is null, which counts as absent.
		times := cmp.Comparer(func(a, b *metav1.Time) bool { return a.Equal(b) || a.IsZero() && b.IsZero() })
		if diff := cmp.Diff(*in, again, cmpopts.EquateEmpty(), times, cmp.AllowUnexported(everything{})); diff != "" {
			t.Errorf("cannot read what Object() wrote for %s: -want, +got:\n%s", b, diff)
		}
	})
}

func compareEncode[T any](t *testing.T, text []byte) {
	t.Helper()

	object, message := reencode[T](t, text)
	if object == nil {
		return
	}
	b, err := decoded(t, message).MarshalJSON()
	if err != nil {
		t.Fatalf("cannot encode %s: %v", text, err)
	}
	got := new(T)
	if err := kjson.UnmarshalCaseSensitivePreserveInts(b, got); err != nil {
		t.Fatalf("cannot decode %s: %v", b, err)
	}
	if !equality.Semantic.DeepEqual(got, object) {
		t.Errorf("Object %T: want %+v, got %+v from %s", got, object, got, b)
	}
}

// reencode returns the Go value of a text in JSON, and its encoding. It returns nil if the
// text has errors.
func reencode[T any](t *testing.T, text []byte) (*T, []byte) {
	t.Helper()

	s, object := &structpb.Struct{}, new(T)
	if s.UnmarshalJSON(text) != nil {
		return nil, nil
	}
	if errs, err := Decode(encoded(t, s), object, nil, Options{Check: checkShort}); err != nil || len(errs) > 0 {
		return nil, nil
	}

	return object, written(func(w *Writer) { w.Object(object) })
}
