package wire

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// written returns the message of a Writer.
func written(t testing.TB, w *Writer) []byte {
	t.Helper()
	size := w.Size()
	b := slices.Concat(w.Parts()...)
	if size != len(b) {
		t.Errorf("Size(): want %d, got %d", len(b), size)
	}

	return b
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
		"ZeroTime": {
			reason: "A time that is zero is null, as in JSON",
			object: &metav1.ObjectMeta{Name: "a", DeletionTimestamp: &metav1.Time{}},
			want:   `{name: a, deletionTimestamp: null}`,
		},
		"Lists": {
			reason: "Lists and maps keep their items",
			object: &everything{Words: []string{"b", "a", ""}, Texts: map[string]string{"k": "", "a": "b"}, Port: ptr.To(intstr.FromString("http"))},
			want:   `{inlined: "", text: "", flag: false, small: 0, words: [b, a, ""], texts: {a: b, k: ""}, port: http}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var w Writer
			w.Object(tc.object)
			if diff := cmp.Diff(object(t, tc.want), decoded(t, written(t, &w)), protocmp.Transform()); diff != "" {
				t.Errorf("\n%s\nObject(): -want, +got:\n%s", tc.reason, diff)
			}
			var encoded Writer
			encoded.Entry(Entry{"key", Encode(tc.object).Encoded})
			want := &structpb.Struct{Fields: map[string]*structpb.Value{"key": structpb.NewStructValue(object(t, tc.want))}}
			if diff := cmp.Diff(want, decoded(t, written(t, &encoded)), protocmp.Transform()); diff != "" {
				t.Errorf("\n%s\nEncode(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestWriter checks the bytes of encoded messages.
func TestWriter(t *testing.T) {
	cases := map[string]struct {
		reason string
		write  func(w *Writer)
		want   string
	}{
		"Nothing":   {reason: "Nothing is written", write: func(*Writer) {}},
		"Backwards": {reason: "The field that is written first is the last one", write: func(w *Writer) { w.Text(2, "b"); w.Text(1, "a") }, want: "\x0a\x01a\x12\x01b"},
		"Varint":    {reason: "A number can have several bytes", write: func(w *Writer) { w.Varint(1, 300) }, want: "\x08\xac\x02"},
		"Message":   {reason: "The length of a message comes before it", write: func(w *Writer) { w.Message(1, func() { w.Text(2, "b"); w.Varint(1, 1) }) }, want: "\x0a\x05\x08\x01\x12\x01b"},
		"Empty":     {reason: "A message can be empty", write: func(w *Writer) { w.Message(1, func() {}) }, want: "\x0a\x00"},
		"Bytes":     {reason: "An encoded message is written unchanged", write: func(w *Writer) { w.Bytes(1, []byte("\x08\x01")) }, want: "\x0a\x02\x08\x01"},
		"Raw":       {reason: "Encoded fields are written unchanged", write: func(w *Writer) { w.Text(1, "b"); w.Raw([]byte("\x08\x01")) }, want: "\x08\x01\x0a\x01b"},
		"Field":     {reason: "A field is an entry with a Value", write: func(w *Writer) { w.Field("k", "v") }, want: "\x0a\x08\x0a\x01k\x12\x03\x1a\x01v"},
		"Entry":     {reason: "An entry has an encoded Value", write: func(w *Writer) { w.Entry(Entry{"k", []byte("\x1a\x01v")}) }, want: "\x0a\x08\x0a\x01k\x12\x03\x1a\x01v"},
		"Object": {
			reason: "An entry can be a Struct",
			write:  func(w *Writer) { w.ObjectEntry("o", func() { w.Field("k", "v") }) },
			want:   "\x0a\x11\x0a\x01o\x12\x0c\x2a\x0a\x0a\x08\x0a\x01k\x12\x03\x1a\x01v",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var w Writer
			tc.write(&w)
			if got := string(written(t, &w)); got != tc.want {
				t.Errorf("\n%s\nParts(): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// TestParts checks which strings are copied, and that the parts are in order.
func TestParts(t *testing.T) {
	cases := map[string]struct {
		reason string
		// texts are the values of field 1, in the order of the message.
		texts []string
		// shared is how many texts are not copied.
		shared int
	}{
		"Short":      {reason: "Short texts are copied into one part", texts: []string{"a", "b"}},
		"AlmostLong": {reason: "A text below the limit is copied", texts: []string{strings.Repeat("x", longText-1)}},
		"Long":       {reason: "A long text is a part of its own", texts: []string{strings.Repeat("x", longText)}, shared: 1},
		"Between":    {reason: "Parts before and after a long text keep their order", texts: []string{"a", strings.Repeat("x", 1<<20), "b", strings.Repeat("y", longText), "c"}, shared: 2},
		"Buffers":    {reason: "Short texts can fill several buffers", texts: slices.Repeat([]string{strings.Repeat("a", longText-1), "b"}, 20)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var w Writer
			for _, text := range slices.Backward(tc.texts) {
				w.Text(1, text)
			}

			shared := 0
			for _, part := range w.Parts() {
				if slices.ContainsFunc(tc.texts, func(text string) bool {
					return unsafe.StringData(text) == unsafe.SliceData(part) && len(text) == len(part)
				}) {
					shared++
				}
			}
			if shared != tc.shared {
				t.Errorf("\n%s\nparts that share memory with a text: want %d, got %d", tc.reason, tc.shared, shared)
			}
			var got []string
			for f, err := range Fields(slices.Concat(w.parts...)) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(f.Bytes))
			}
			if diff := cmp.Diff(tc.texts, got); diff != "" {
				t.Errorf("\n%s\ntexts: -want, +got:\n%s", tc.reason, diff)
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
		var w Writer
		w.Object(&e)
		b := written(t, &w)
		if i == 0 {
			first = b
		}
		if !bytes.Equal(first, b) {
			t.Fatalf("Object(): want %q, got %q", first, b)
		}
	}
}
