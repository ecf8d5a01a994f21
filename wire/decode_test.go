package wire

import (
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"
)

// object returns the Struct of a YAML text.
func object(t testing.TB, text string) *structpb.Struct {
	t.Helper()
	b, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s := &structpb.Struct{}
	if err := s.UnmarshalJSON(b); err != nil {
		t.Fatal(err)
	}

	return s
}

// encoded returns a message in the wire format of protobuf.
func encoded(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatalf("cannot encode a message: %v", err)
	}

	return b
}

// messages returns the messages of errors.
func messages(errs field.ErrorList) []string {
	var out []string
	for _, err := range errs {
		out = append(out, err.Error())
	}

	return out
}

type inlined struct {
	Inlined string `json:"inlined"`
}

type everything struct {
	inlined `json:",inline"`

	Text     string              `json:"text"`
	Flag     bool                `json:"flag"`
	Small    int32               `json:"small"`
	Large    *int64              `json:"large"`
	Texts    map[string]string   `json:"texts"`
	Binary   map[string][]byte   `json:"binary"`
	Words    []string            `json:"words"`
	Requests corev1.ResourceList `json:"requests"`
	Port     *intstr.IntOrString `json:"port"`
	TTL      *metav1.Duration    `json:"ttl"`
	Nested   struct {
		Deep int32 `json:"deep"`
	} `json:"nested"`
}

func TestDecode(t *testing.T) {
	type want struct {
		value  everything
		errors []string
	}

	all := everything{
		Text: "a", Flag: true, Small: 3, Large: ptr.To[int64](1 << 40),
		Texts: map[string]string{"k": "v"}, Binary: map[string][]byte{"b": []byte("hi")}, Words: []string{"x", "z"},
		Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}, Port: ptr.To(intstr.FromString("http")),
		TTL: &metav1.Duration{Duration: 60e9},
	}
	all.Inlined = "i"
	all.Nested.Deep = 1

	cases := map[string]struct {
		reason string
		text   string
		mode   Mode
		want   want
	}{
		"Everything": {
			reason: "Every kind of value is read",
			text: `{inlined: i, text: a, flag: true, small: 3, large: 1099511627776, texts: {k: v}, binary: {b: aGk=}, words: [x, z],
			        requests: {cpu: 1}, port: http, ttl: 1m, nested: {deep: 1}}`,
			mode: Strict,
			want: want{value: all},
		},
		"Null": {
			reason: "Null counts as absent",
			text:   `{text: null, nested: null, large: null, texts: null}`,
			mode:   Strict,
		},
		"NullList": {
			reason: "A list of rules that are all commented out must not mean that there is no rule",
			text:   `{words: null}`,
			mode:   Strict,
			want:   want{errors: []string{"root.words: Invalid value: must be a list, not null: write [] for an empty list, or remove the field"}},
		},
		"NullListLenient": {
			reason: "In lenient mode, a list that is null counts as absent",
			text:   `{words: null}`,
		},
		"NullInMap": {
			reason: "An entry of a map that is null counts as absent",
			text:   `{texts: {a: null, b: c}, requests: {cpu: null}}`,
			mode:   Strict,
			want:   want{value: everything{Texts: map[string]string{"b": "c"}, Requests: corev1.ResourceList{}}},
		},
		"UnknownLenient": {
			reason: "A field that the type does not declare is skipped",
			text:   `{text: a, other: 1, nested: {other: 1}}`,
			want:   want{value: everything{Text: "a"}},
		},
		"UnknownStrict": {
			reason: "In strict mode an unknown field is an error that names the known ones",
			text:   `{nested: {other: 1}}`,
			mode:   Strict,
			want:   want{errors: []string{"root.nested.other: Forbidden: unknown field: use one of deep"}},
		},
		"UnknownLong": {
			reason: "An error quotes only the beginning of a long name",
			text:   `{nested: {` + strings.Repeat("k", 100) + `: 1}}`,
			mode:   Strict,
			want:   want{errors: []string{"root.nested." + strings.Repeat("k", 80) + "…: Forbidden: unknown field: use one of deep"}},
		},
		"Directive": {
			reason: "A directive of a patch is an unknown field in strict mode",
			text:   `{nested: {$patch: delete}}`,
			mode:   Strict,
			want:   want{errors: []string{"root.nested.$patch: Forbidden: unknown field: use one of deep"}},
		},
		"Directives": {
			reason: "In a patch only known directives with valid values are allowed",
			text:   `{$patch: replace, $retainKeys: [text], nested: {$patch: delete}, texts: {$patch: mangle}, requests: {$retainKeys: [{}]}, binary: {$setElementOrder/x: [a]}}`,
			mode:   Patch,
			want: want{
				value: everything{Texts: map[string]string{}, Requests: corev1.ResourceList{}, Binary: map[string][]byte{}},
				errors: []string{
					"root.binary.$setElementOrder/x: Forbidden: unknown directive: use $patch or $retainKeys, or remove it",
					"root.requests.$retainKeys[0]: Invalid value: must be a string",
					`root.texts.$patch: Unsupported value: supported values: "replace", "delete"`,
				},
			},
		},
		"NullItem": {
			reason: "In strict mode and in a patch, a list must not have null items",
			text:   `{words: [null]}`,
			mode:   Patch,
			want:   want{value: everything{Words: []string{""}}, errors: []string{"root.words[0]: Invalid value: must not be null"}},
		},
		"NullItemLenient": {
			reason: "In lenient mode a null item is the zero value",
			text:   `{words: [null, a]}`,
			want:   want{value: everything{Words: []string{"", "a"}}},
		},
		"WrongTypes": {
			reason: "Every wrong type is reported, and the other fields are read",
			text:   `{text: 1, flag: "yes", small: 1.5, large: "1", words: {}, nested: [], texts: {k: 1}, binary: {b: "%"}, inlined: i}`,
			want: want{
				value: func() everything {
					e := everything{Texts: map[string]string{}, Binary: map[string][]byte{"b": nil}}
					e.Inlined = "i"

					return e
				}(),
				errors: []string{
					"root.binary[b]: Invalid value: must be text in base64",
					"root.flag: Invalid value: must be true or false",
					"root.large: Invalid value: must be a whole number",
					"root.nested: Invalid value: must be an object",
					"root.small: Invalid value: must be a whole number",
					"root.text: Invalid value: must be a string",
					"root.texts[k]: Invalid value: must be a string",
					"root.words: Invalid value: must be a list",
				},
			},
		},
		"OutOfRange": {
			reason: "A number that the type cannot hold is an error",
			text:   `{small: 2147483648, large: 1e300}`,
			want: want{
				errors: []string{"root.large: Invalid value: is out of range", "root.small: Invalid value: is out of range"},
			},
		},
		"OwnForm": {
			reason: "A type with a JSON form of its own sets the error message",
			text:   `{ttl: soon}`,
			want: want{
				value:  everything{TTL: &metav1.Duration{}},
				errors: []string{`root.ttl: Invalid value: "soon": time: invalid duration "soon"`},
			},
		},
		"Exponent": {
			reason: "A quantity with a large exponent would take minutes to compare",
			text:   `{requests: {cpu: "1e999999999"}}`,
			want: want{
				value:  everything{Requests: corev1.ResourceList{"cpu": {}}},
				errors: []string{`root.requests[cpu]: Invalid value: "1e999999999": must be a quantity such as "100m" or "64Mi"`},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := everything{}
			errs, err := Decode(encoded(t, object(t, tc.text)), &got, field.NewPath("root"), tc.mode)
			if err != nil {
				t.Fatalf("\n%s\nDecode(): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want.errors, messages(errs)); diff != "" {
				t.Errorf("\n%s\nerrors: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want.value, got, cmp.AllowUnexported(everything{})); diff != "" {
				t.Errorf("\n%s\nvalue: -want, +got:\n%s", tc.reason, diff)
			}

			j, err := object(t, tc.text).MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			fromJSON := everything{}
			errs, err = DecodeJSON(j, &fromJSON, field.NewPath("root"), tc.mode)
			if err != nil {
				t.Fatalf("\n%s\nDecodeJSON(): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want.errors, messages(errs)); diff != "" {
				t.Errorf("\n%s\nerrors of DecodeJSON(): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want.value, fromJSON, cmp.AllowUnexported(everything{})); diff != "" {
				t.Errorf("\n%s\nvalue of DecodeJSON(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDecodeJSON(t *testing.T) {
	cases := map[string]struct {
		reason    string
		text      string
		want      []string
		wantError bool
	}{
		"Text":    {reason: "JSON that is not an object is an error with a path", text: `"text"`, want: []string{"root: Invalid value: must be an object"}},
		"List":    {reason: "A list is not an object", text: `[]`, want: []string{"root: Invalid value: must be an object"}},
		"Null":    {reason: "Null counts as absent", text: `null`},
		"NotJSON": {reason: "Text that is not JSON cannot be decoded", text: `{`, wantError: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			errs, err := DecodeJSON([]byte(tc.text), &everything{}, field.NewPath("root"), Patch)
			if (err != nil) != tc.wantError {
				t.Errorf("\n%s\nDecodeJSON(): want an error %t, got %v", tc.reason, tc.wantError, err)
			}
			if diff := cmp.Diff(tc.want, messages(errs)); diff != "" {
				t.Errorf("\n%s\nerrors: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDecodeStops checks that Decode stops at the maximum number of errors.
func TestDecodeStops(t *testing.T) {
	const many = 1000
	s := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	for i := range many {
		s.Fields[strings.Repeat("k", i+1)] = structpb.NewBoolValue(true)
	}

	for name, into := range map[string]any{"Fields": &everything{}, "Texts": &struct {
		Texts map[string]string `json:"texts"`
	}{}} {
		in := s
		if name == "Texts" {
			in = &structpb.Struct{Fields: map[string]*structpb.Value{"texts": structpb.NewStructValue(s)}}
		}
		errs, err := Decode(encoded(t, in), into, nil, Strict)
		if len(errs) != MaxErrors || err != nil {
			t.Errorf("%s: want %d errors, got %d and %v", name, MaxErrors, len(errs), err)
		}
	}
}

// TestDecodeLargeNumbers checks the limits beyond which a float64 is not exact.
func TestDecodeLargeNumbers(t *testing.T) {
	const exact = 1 << 53
	for n, want := range map[float64]int64{
		exact: exact, -exact: -exact, exact + 2: 0, -exact - 2: 0, math.MaxInt64: 0, math.Inf(1): 0, math.NaN(): 0,
	} {
		got := struct {
			N int64 `json:"n"`
		}{}
		s := &structpb.Struct{Fields: map[string]*structpb.Value{"n": structpb.NewNumberValue(n)}}
		errs, err := Decode(encoded(t, s), &got, nil, Strict)
		if err != nil || got.N != want || (want == 0) != (len(errs) == 1) {
			t.Errorf("%v: want %d, got %d with errors %v, %v", n, want, got.N, errs, err)
		}
	}
}

// TestDecodedTextIsShared checks that Decode does not copy strings.
func TestDecodedTextIsShared(t *testing.T) {
	message := encoded(t, object(t, `{text: a, texts: {k: v}}`))
	got := everything{}
	if _, err := Decode(message, &got, nil, Strict); err != nil {
		t.Fatal(err)
	}

	first, last := uintptr(unsafe.Pointer(&message[0])), uintptr(unsafe.Pointer(&message[len(message)-1]))
	for _, text := range []string{got.Text, got.Texts["k"]} {
		if at := uintptr(unsafe.Pointer(unsafe.StringData(text))); at < first || at > last {
			t.Errorf("text %q: want a part of the object, got a copy", text)
		}
	}
}
