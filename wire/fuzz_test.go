package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	kjson "sigs.k8s.io/json"
)

// seeds are objects with every type that is read and written.
var seeds = []string{
	`{"apiVersion":"a","kind":"b","metadata":{"name":"n","namespace":"s","generation":3},"spec":{"markdowns":{"SUMMARY.md":"x"},"replicas":2,"viewerImage":"i","resources":{"requests":{"cpu":1,"memory":"1Gi"}},"claimRef":{"namespace":"c"}},"status":{"status":"Healthy","conditions":[{"type":"Available","status":"True"}]}}`,
	`{"viewerImage":"i","allowedImages":["a"],"imagePullSecrets":[{"name":"p"}],"service":{"type":"NodePort","annotations":{"a":"b"}},"ttl":"1m","statusFields":["url"],"templates":{"deployment":{"spec":null}}}`,
	`{"spec":{"replicas":0,"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1,"maxUnavailable":"10%"}},"template":{"metadata":{"creationTimestamp":"2026-01-02T03:04:05Z"},"spec":{"volumes":[{"name":"v","emptyDir":{"sizeLimit":"1.5Gi"}}],"containers":[{"name":"c","ports":[{"containerPort":80}],"env":[{"name":"a","value":""}]}]}}}}`,
	`{"data":{"a":"\u0085"},"binaryData":{"b":"Zw=="},"immutable":false}`,
	`{"spec":{"ports":[{"port":80,"targetPort":"http"}],"selector":{"a":"b"},"clusterIPs":[]}}`,
	`{"spec":{"replicas":1.5,"ports":[null,{}],"template":null},"data":{"a":null},"metadata":[]}`,
	`{"spec":{"replicas":1e2,"minReadySeconds":3000000000},"metadata":{"generation":9007199254740993}}`,
	`{"text":"a","omitted":"","number":-1,"flag":false,"pointer":0,"texts":{"b":"","a":"<x>"},"binary":{"b":"Zw=="},"words":["","a"],"port":80,"ttl":"1m","at":"2026-01-02T03:04:05Z","requests":{"cpu":"1500m","memory":1073741824},"nested":{"deep":[{"texts":{}}]},"empty":{}}`,
}

func addSeeds(f *testing.F) {
	f.Helper()
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
}

// An xr is like an observed XR, of which the function reads a few fields.
type xr struct {
	APIVersion string `json:"apiVersion"`
	Metadata   struct {
		Name       string `json:"name"`
		Generation int64  `json:"generation"`
	} `json:"metadata"`
	Spec struct {
		inlined

		Markdowns map[string]string           `json:"markdowns"`
		Replicas  *int32                      `json:"replicas"`
		Resources corev1.ResourceRequirements `json:"resources"`
	} `json:"spec"`
	Status struct {
		Conditions []struct {
			Type   string `json:"type"`
			Status string `json:"status"`
		} `json:"conditions"`
	} `json:"status"`
	TTL *metav1.Duration `json:"ttl"`
}

// FuzzDecode compares Decode with the JSON decoder of Kubernetes.
func FuzzDecode(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		s := &structpb.Struct{}
		if s.UnmarshalJSON(text) != nil {
			return
		}
		// JSON decodes a null in a map of strings as an empty string. Decode counts it
		// as absent, as Kubernetes does.
		s = withoutNulls(structpb.NewStructValue(s)).GetStructValue()
		compareDecode[xr](t, s)
		compareDecode[everything](t, s)
		compareDecode[corev1.ConfigMap](t, s)
		compareDecode[appsv1.Deployment](t, s)
		compareDecode[corev1.Service](t, s)
	})
}

func compareDecode[T any](t *testing.T, s *structpb.Struct) {
	t.Helper()

	text, err := s.MarshalJSON()
	if err != nil {
		t.Fatalf("cannot encode: %v", err)
	}
	got, want := new(T), new(T)
	errs, err := Decode(encoded(t, s), got, nil, Lenient)
	if err != nil {
		t.Fatalf("Decode %T: %v: %s", got, err, text)
	}
	err = kjson.UnmarshalCaseSensitivePreserveInts(text, want)
	for _, e := range errs {
		// Decode rejects more values than JSON here.
		if strings.Contains(e.Detail, "out of range") || strings.Contains(e.Detail, "must be a quantity") {
			return
		}
	}
	if (len(errs) > 0) != (err != nil) {
		t.Fatalf("Decode %T: errors %v, JSON reports %v: %s", got, errs, err, text)
	}
	if err == nil && !equality.Semantic.DeepEqual(got, want) {
		t.Errorf("Decode %T: want %+v, got %+v", got, want, got)
	}
}

// withoutNulls returns a value without the fields that are null.
func withoutNulls(v *structpb.Value) *structpb.Value {
	switch kind := v.GetKind().(type) {
	case *structpb.Value_StructValue:
		fields := map[string]*structpb.Value{}
		for name, child := range kind.StructValue.GetFields() {
			if _, null := child.GetKind().(*structpb.Value_NullValue); !null {
				fields[name] = withoutNulls(child)
			}
		}

		return structpb.NewStructValue(&structpb.Struct{Fields: fields})
	case *structpb.Value_ListValue:
		values := []*structpb.Value{}
		for _, child := range kind.ListValue.GetValues() {
			values = append(values, withoutNulls(child))
		}

		return structpb.NewListValue(&structpb.ListValue{Values: values})
	default:
		return v
	}
}

// FuzzEncode decodes the output of a Writer with the JSON decoder of Kubernetes, and checks
// that it has every field that is set.
func FuzzEncode(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		compareEncode[corev1.ConfigMap](t, text)
		compareEncode[appsv1.Deployment](t, text)
		compareEncode[corev1.Service](t, text)
	})
}

func compareEncode[T any](t *testing.T, text []byte) {
	t.Helper()

	object := new(T)
	if errs, err := DecodeJSON(text, object, nil, Lenient); err != nil || len(errs) > 0 {
		return
	}
	var w Writer
	w.Object(object)
	b, err := decoded(t, written(t, &w)).MarshalJSON()
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

// A document has a field of every kind. encoding/json and a Writer write the same fields for
// a document.
type document struct {
	Text     string              `json:"text"`
	Omitted  string              `json:"omitted,omitempty"`
	Number   int64               `json:"number"`
	Flag     bool                `json:"flag"`
	Pointer  *int32              `json:"pointer,omitempty"`
	Texts    map[string]string   `json:"texts,omitempty"`
	Binary   map[string][]byte   `json:"binary,omitempty"`
	Words    []string            `json:"words,omitempty"`
	Port     *intstr.IntOrString `json:"port,omitempty"`
	TTL      *metav1.Duration    `json:"ttl,omitempty"`
	At       *metav1.Time        `json:"at,omitempty"`
	Requests corev1.ResourceList `json:"requests,omitempty"`
	Nested   struct {
		Deep []document `json:"deep,omitempty"`
	} `json:"nested,omitzero"`
	Empty *struct{} `json:"empty,omitempty"`
}

// FuzzWriter compares the result of a Writer with structpb.NewStruct of the JSON.
func FuzzWriter(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		in := document{}
		if errs, err := DecodeJSON(text, &in, nil, Lenient); err != nil || len(errs) > 0 {
			return
		}
		var w Writer
		w.Object(&in)
		got := written(t, &w)

		b, err := json.Marshal(in)
		if err != nil {
			return // JSON does not support years after 9999.
		}
		fields := map[string]any{}
		if err := json.Unmarshal(b, &fields); err != nil {
			t.Fatal(err)
		}
		want, err := structpb.NewStruct(fields)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, decoded(t, got), protocmp.Transform()); diff != "" {
			t.Errorf("Object() of %s: -want, +got:\n%s", b, diff)
		}

		again := document{}
		if errs, err := Decode(got, &again, nil, Strict); err != nil || len(errs) > 0 {
			t.Fatalf("cannot decode the result for %s: %v, %v", b, errs, err)
		}
		// A time that is zero is null, which counts as absent.
		times := cmp.Comparer(func(a, b *metav1.Time) bool { return a.Equal(b) || a.IsZero() && b.IsZero() })
		if diff := cmp.Diff(in, again, cmpopts.EquateEmpty(), times); diff != "" {
			t.Errorf("cannot read what Object() wrote for %s: -want, +got:\n%s", b, diff)
		}
	})
}

// A target has a field of each type that Decode reads differently.
type target struct {
	A string            `json:"a"`
	B map[string]string `json:"b"`
	C struct {
		A string  `json:"a"`
		N *int32  `json:"n"`
		T *target `json:"t"`
	} `json:"c"`
	D []string                      `json:"d"`
	E map[string]intstr.IntOrString `json:"e"`
	F []struct {
		B map[string]bool `json:"b"`
	} `json:"f"`
}

// wireSeeds returns encoded Structs that libraries rarely write.
func wireSeeds(t testing.TB) map[string][]byte {
	t.Helper()

	entry := func(key string, values ...any) []byte {
		return message(1, message(append([]any{1, key}, values...)...))
	}
	text := func(s string) []byte { return message(3, s) }
	object := func(entries ...[]byte) []byte { return message(5, bytes.Join(entries, nil)) }
	list := func(items ...[]byte) []byte {
		var all []byte
		for _, item := range items {
			all = append(all, message(1, item)...)
		}

		return message(6, all)
	}
	number := protowire.AppendFixed64(protowire.AppendTag(nil, 2, protowire.Fixed64Type), 0x3ff0000000000000)
	flag := protowire.AppendVarint(protowire.AppendTag(nil, 4, protowire.VarintType), 1)
	null := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 0)
	group := append(protowire.AppendTag(nil, 7, protowire.StartGroupType), append(null, protowire.AppendTag(nil, 7, protowire.EndGroupType)...)...)
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

	deep := text("bottom")
	for range 200 {
		deep = list(deep)
	}
	nested := entry("a", 2, text("bottom"))
	for range 50 {
		nested = entry("c", 2, object(entry("t", 2, object(nested))))
	}

	return map[string][]byte{
		"Plain":               join(entry("a", 2, text("x")), entry("b", 2, object(entry("k", 2, text("v")))), entry("d", 2, list(text("x"), text("y")))),
		"MessageTwice":        entry("c", 2, object(entry("a", 2, text("x"))), 2, object(entry("n", 2, number))),
		"ObjectTwiceInValue":  entry("c", 2, join(object(entry("a", 2, text("x"))), object(entry("n", 2, number)))),
		"ListTwiceInValue":    entry("d", 2, join(list(text("x")), list(text("y")))),
		"RepeatedField":       join(entry("a", 2, text("x")), entry("c", 2, object()), entry("a", 2, text("y"))),
		"RepeatedKey":         entry("b", 2, object(entry("k", 2, text("x")), entry("k", 2, text("y")))),
		"RepeatedKeyNull":     entry("b", 2, object(entry("k", 2, text("x")), entry("k", 2, null))),
		"RepeatedUnknown":     join(entry("z", 2, text("x")), entry("z", 2, null)),
		"OneofTwice":          entry("a", 2, join(number, text("x"))),
		"OneofBack":           entry("b", 2, join(object(entry("k", 2, text("x"))), text("y"), object(entry("l", 2, text("z"))))),
		"ObjectThenList":      entry("d", 2, join(object(entry("k", 2, text("x"))), list(text("y")))),
		"OneofNull":           entry("a", 2, join(text("x"), null)),
		"WrongWireType":       entry("a", 2, join(text("x"), protowire.AppendVarint(protowire.AppendTag(nil, 3, protowire.VarintType), 1))),
		"UnknownFields":       join(message(9, "x"), entry("a", 2, join(text("x"), message(9, "y")), 9, "z"), flag),
		"UnknownEnum":         entry("a", 2, join(text("x"), protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 7))),
		"Groups":              join(group, entry("a", 2, join(group, text("x"), group)), group),
		"OpenGroup":           join(entry("a", 2, text("x")), protowire.AppendTag(nil, 7, protowire.StartGroupType)),
		"NoKind":              join(entry("a", 2, ""), entry("b"), entry("d", 2, list(nil, text("x")))),
		"NoKey":               join(message(1, message(2, text("x"))), entry("b", 2, object(message(1, message(2, text("x")))))),
		"ValueBeforeKey":      message(1, message(2, text("x"), 1, "a")),
		"KeyTwice":            message(1, message(1, "b", 2, text("x"), 1, "a")),
		"TruncatedObject":     entry("a", 2, text("xyz"))[:6],
		"TruncatedValue":      entry("a", 2, text("xyz")[:3]),
		"TruncatedUnread":     entry("z", 2, text("xyz")[:3]),
		"InvalidUTF8":         entry("a", 2, text("\xff")),
		"InvalidUTF8Key":      entry("\xff", 2, text("x")),
		"InvalidUTF8InMap":    entry("b", 2, object(entry("k", 2, text("\xc3\x28")))),
		"InvalidUTF8Replaced": entry("a", 2, join(text("\xff"), text("x"))),
		"DeepUnread":          entry("z", 2, deep),
		"Deep":                nested,
		"DeepWrongType":       entry("e", 2, object(entry("k", 2, deep))),
		"FieldZero":           {0x02, 0x00},
		"WrongTypes":          join(entry("a", 2, number), entry("b", 2, list()), entry("d", 2, object()), entry("e", 2, text("x")), entry("f", 2, list(text("x"), object(entry("b", 2, object(entry("k", 2, number))))))),
		"CustomTypes":         entry("e", 2, object(entry("k", 2, number), entry("l", 2, text("http")), entry("m", 2, flag))),
		"Padded":              {0x0a, 0x88, 0x00, 0x0a, 0x01, 'a', 0x12, 0x03, 0x1a, 0x01, 'x'},
	}
}

// FuzzWire decodes random bytes as a Struct. If protobuf-go accepts them, Decode must
// give the same result as for the bytes that protobuf-go writes for its own tree, which
// FuzzDecode compares with Kubernetes. If protobuf-go rejects them, Decode may fail, or
// may have skipped the invalid part.
func FuzzWire(f *testing.F) {
	for _, seed := range wireSeeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		s := &structpb.Struct{}
		rejected := proto.Unmarshal(b, s)
		for _, mode := range []Mode{Lenient, Strict, Patch} {
			got, want := target{}, target{}
			errs, err := Decode(b, &got, nil, mode)
			if rejected != nil {
				continue
			}
			if err != nil {
				t.Fatalf("Decode: %v: protobuf-go reads %v", err, s)
			}
			wantErrs, err := Decode(encoded(t, s), &want, nil, mode)
			if err != nil {
				t.Fatalf("Decode of the encoding of protobuf-go: %v: %v", err, s)
			}
			if diff := cmp.Diff(messages(wantErrs), messages(errs)); diff != "" {
				t.Errorf("errors in mode %d: -want, +got:\n%s", mode, diff)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("value in mode %d: -want, +got:\n%s", mode, diff)
			}
		}
		if !bytes.Equal(before, b) {
			t.Errorf("Decode changed the object: before %x, after %x", before, b)
		}
	})
}

// TestWire checks how Decode handles encodings that libraries rarely write.
func TestWire(t *testing.T) {
	cases := map[string]struct {
		reason    string
		want      target
		wantError bool
	}{
		"RepeatedField":       {reason: "The last entry with a key counts", want: target{A: "y"}},
		"RepeatedKey":         {reason: "The last entry with a key counts", want: target{B: map[string]string{"k": "y"}}},
		"RepeatedKeyNull":     {reason: "An entry that is null replaces an earlier entry", want: target{B: map[string]string{}}},
		"OneofTwice":          {reason: "The last kind of a Value counts", want: target{A: "x"}},
		"OneofBack":           {reason: "A Struct does not merge with one that was replaced", want: target{B: map[string]string{"l": "z"}}},
		"ObjectThenList":      {reason: "A list does not merge with a Struct that was replaced", want: target{D: []string{"y"}}},
		"OneofNull":           {reason: "Null replaces an earlier value"},
		"ListTwiceInValue":    {reason: "Two lists of a Value merge", want: target{D: []string{"x", "y"}}},
		"UnknownFields":       {reason: "Unknown fields are skipped", want: target{A: "x"}},
		"Groups":              {reason: "Groups are skipped", want: target{A: "x"}},
		"ValueBeforeKey":      {reason: "The value can come before the key", want: target{A: "x"}},
		"Padded":              {reason: "A length can have more bytes than it needs", want: target{A: "x"}},
		"TruncatedObject":     {reason: "An object must be complete", wantError: true},
		"TruncatedValue":      {reason: "A value must be complete", wantError: true},
		"TruncatedUnread":     {reason: "A field that is not declared is not read"},
		"OpenGroup":           {reason: "A group must end", wantError: true},
		"InvalidUTF8":         {reason: "Text must be valid UTF-8", wantError: true},
		"InvalidUTF8Key":      {reason: "A key must be valid UTF-8", wantError: true},
		"InvalidUTF8InMap":    {reason: "Text of a map must be valid UTF-8", wantError: true},
		"InvalidUTF8Replaced": {reason: "Text that is replaced must be valid UTF-8 too", wantError: true},
		"DeepUnread":          {reason: "A deep value that is not declared is skipped"},
		"FieldZero":           {reason: "No field has the number 0", wantError: true},
	}
	seeds := wireSeeds(t)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			seed, ok := seeds[name]
			if !ok {
				t.Fatalf("cannot find seed %s", name)
			}
			got := target{}
			_, err := Decode(seed, &got, nil, Lenient)
			if (err != nil) != tc.wantError {
				t.Fatalf("\n%s\nDecode(): want an error %t, got %v", tc.reason, tc.wantError, err)
			}
			if err == nil {
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("\n%s\nDecode(): -want, +got:\n%s", tc.reason, diff)
				}
			}
		})
	}
}
