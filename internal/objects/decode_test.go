package objects_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	kjson "sigs.k8s.io/json"

	"github.com/crossplane-contrib/function-markdownview/internal/objects"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

type inlined struct {
	Inlined string `json:"inlined"`
}

// everything has a field of every type that is read and written. encoding/json and a
// Writer write the same fields for it.
type everything struct {
	inlined `json:",inline"`

	Text     string                        `json:"text"`
	Omitted  string                        `json:"omitted,omitempty"`
	Flag     bool                          `json:"flag"`
	Small    int32                         `json:"small"`
	Large    *int64                        `json:"large,omitempty"`
	Texts    map[string]string             `json:"texts,omitempty"`
	Binary   map[string][]byte             `json:"binary,omitempty"`
	Words    []string                      `json:"words,omitempty"`
	Requests corev1.ResourceList           `json:"requests,omitempty"`
	Port     *intstr.IntOrString           `json:"port,omitempty"`
	Ports    map[string]intstr.IntOrString `json:"ports,omitempty"`
	TTL      *metav1.Duration              `json:"ttl,omitempty"`
	At       *metav1.Time                  `json:"at,omitempty"`
	Nested   struct {
		Deep  *everything  `json:"deep,omitempty"`
		Items []everything `json:"items,omitempty"`
	} `json:"nested,omitzero"`
	Empty *struct{} `json:"empty,omitempty"`
}

// checkShort rejects long quantities, some of which take minutes to parse or to compare.
func checkShort(into any, text string) error {
	if _, ok := into.(*resource.Quantity); ok && len(text) > 9 {
		return errLong
	}

	return nil
}

var errLong = errors.New("is long")

func TestDecode(t *testing.T) {
	strict, rules := objects.Options{Strict: true}, objects.Options{Strict: true, NoNullLists: true}
	all := everything{
		inlined: inlined{"i"}, Text: "a", Flag: true, Small: 3, Large: ptr.To[int64](1 << 40),
		Texts: map[string]string{"k": "v"}, Binary: map[string][]byte{"b": []byte("hi")}, Words: []string{"x", "z"},
		Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}, Port: ptr.To(intstr.FromString("http")),
		Ports: map[string]intstr.IntOrString{"p": intstr.FromInt32(80)}, TTL: &metav1.Duration{Duration: 60e9}, Empty: &struct{}{},
	}
	all.Nested.Deep, all.Nested.Items = &everything{Small: 1}, []everything{{Text: "i"}, {}}

	for name, tc := range map[string]struct {
		reason, text string
		options      objects.Options
		want         everything
		errors       []string
	}{
		"Everything": {
			reason: "Every kind of value is read",
			text: `{inlined: i, text: a, flag: true, small: 3, large: 1099511627776, texts: {k: v}, binary: {b: aGk=}, words: [x, z],
			        requests: {cpu: 1}, port: http, ports: {p: 80}, ttl: 1m, empty: {}, nested: {deep: {small: 1}, items: [{text: i}, {}]}}`,
			options: rules, want: all,
		},
		"Null":          {reason: "Null counts as absent", text: `{text: null, nested: null, large: null, texts: null, words: null}`, options: strict},
		"NullList":      {reason: "A list of rules that are all commented out must not mean that there is no rule", text: `{words: null, text: null}`, options: rules, errors: []string{"root.words: Invalid value: must be a list, not null: write [] for an empty list, or remove the field"}},
		"NullInMap":     {reason: "An entry of a map that is null counts as absent", text: `{texts: {a: null, b: c}, requests: {cpu: null}}`, options: strict, want: everything{Texts: map[string]string{"b": "c"}, Requests: corev1.ResourceList{}}},
		"NullItem":      {reason: "A strict list has no null items", text: `{words: [null]}`, options: strict, want: everything{Words: []string{""}}, errors: []string{"root.words[0]: Invalid value: must not be null"}},
		"InList":        {reason: "An error names the item of a list", text: `{words: [1, a]}`, want: everything{Words: []string{"", "a"}}, errors: []string{"root.words[0]: Invalid value: must be a string"}},
		"NullItemElse":  {reason: "In another list a null item is the zero value", text: `{words: [null, a]}`, want: everything{Words: []string{"", "a"}}},
		"Unknown":       {reason: "A field that the type does not declare is skipped", text: `{text: a, other: 1, nested: {other: 1}}`, want: everything{Text: "a"}},
		"UnknownStrict": {reason: "A strict error names the known fields", text: `{text: a, nested: {other: 1}}`, options: strict, want: everything{Text: "a"}, errors: []string{"root.nested.other: Forbidden: unknown field: use one of deep, items"}},
		"UnknownLong":   {reason: "An error quotes only the beginning of a long name", text: `{nested: {` + strings.Repeat("k", 81) + `: 1, ` + strings.Repeat("k", 80) + `: 1}}`, options: strict, errors: []string{"root.nested." + strings.Repeat("k", 80) + ": Forbidden: unknown field: use one of deep, items", "root.nested." + strings.Repeat("k", 80) + "…: Forbidden: unknown field: use one of deep, items"}},
		"WrongTypes": {
			reason: "Every wrong type is reported, and the other fields are read",
			text:   `{text: 1, flag: "yes", small: 1.5, large: "1", words: {}, nested: [], texts: {k: 1, l: v}, binary: {b: "%", c: 1}, inlined: i, port: {}}`,
			want:   everything{inlined: inlined{"i"}, Texts: map[string]string{"l": "v"}, Binary: map[string][]byte{"b": nil, "c": nil}, Port: &intstr.IntOrString{}},
			errors: []string{
				"root.binary[b]: Invalid value: must be text in base64", "root.binary[c]: Invalid value: must be text in base64",
				"root.flag: Invalid value: must be true or false", "root.large: Invalid value: must be a whole number",
				"root.nested: Invalid value: must be an object",
				`root.port: Invalid value: "{}": json: cannot unmarshal object into Go value of type int32`,
				"root.small: Invalid value: must be a whole number", "root.text: Invalid value: must be a string",
				"root.texts[k]: Invalid value: must be a string", "root.words: Invalid value: must be a list",
			},
		},
		"OutOfRange": {reason: "A number that the type cannot hold is an error", text: `{small: 2147483648, large: 1e300}`, errors: []string{"root.large: Invalid value: is out of range", "root.small: Invalid value: is out of range"}},
		"OwnForm":    {reason: "A type with a JSON form of its own sets the error message", text: `{ttl: soon}`, want: everything{TTL: &metav1.Duration{}}, errors: []string{`root.ttl: Invalid value: "soon": time: invalid duration "soon"`}},
		"Check":      {reason: "A text is checked before it is decoded", text: `{ttl: 1000000000, requests: {cpu: 1000000000, memory: 100000000}}`, options: objects.Options{Check: checkShort}, want: everything{TTL: &metav1.Duration{}, Requests: corev1.ResourceList{"cpu": {}, "memory": resource.MustParse("100000000")}}, errors: []string{`root.requests[cpu]: Invalid value: "1000000000": is long`, `root.ttl: Invalid value: "1000000000": json: cannot unmarshal number into Go value of type string`}},
	} {
		t.Run(name, func(t *testing.T) {
			got := everything{}
			errs, err := objects.Decode(viewtest.Encode(t, viewtest.Object(t, tc.text)), &got, field.NewPath("root"), tc.options)
			if err != nil {
				t.Fatalf("\n%s\nDecode(): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.errors, viewtest.Messages(report.ProblemsOf("", errs))); diff != "" {
				t.Errorf("\n%s\nerrors: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(everything{})); diff != "" {
				t.Errorf("\n%s\nvalue: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDecodeStops checks that Decode stops at the maximum number of errors, and does not
// read a map with too many entries.
func TestDecodeStops(t *testing.T) {
	const most, maxEntries = 21, 4096
	// flags returns n entries that are true.
	flags := func(n int) string {
		var all strings.Builder
		for i := range n {
			all.WriteString(entry(fmt.Sprint("k", i), flag))
		}

		return all.String()
	}
	for name, tc := range map[string]struct {
		reason, object string
		want           int
	}{
		"Fields":     {reason: "Every field is unknown", object: flags(1000), want: most},
		"Texts":      {reason: "Every text is invalid", object: entry("texts", sized(5, flags(1000))), want: most},
		"Custom":     {reason: "Every quantity is invalid", object: entry("requests", sized(5, flags(1000))), want: most},
		"MostErrors": {reason: "All errors are reported", object: entry("texts", sized(5, flags(most-1))), want: most - 1},
		"TooMany":    {reason: "A map has too many entries", object: entry("texts", sized(5, flags(maxEntries+1))), want: 1},
		"Most":       {reason: "A map has as many entries as it may have", object: entry("texts", sized(5, flags(maxEntries))), want: most},
	} {
		t.Run(name, func(t *testing.T) {
			errs, err := objects.Decode([]byte(tc.object), &everything{}, nil, objects.Options{Strict: true})
			if len(errs) != tc.want || err != nil {
				t.Errorf("\n%s\nDecode(): want %d errors, got %d and %v", tc.reason, tc.want, len(errs), err)
			}
		})
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
		errs, err := objects.Decode(viewtest.Encode(t, s), &got, nil, objects.Options{})
		if err != nil || got.N != want || (want == 0) != (len(errs) == 1) {
			t.Errorf("%v: want %d, got %d with errors %v, %v", n, want, got.N, errs, err)
		}
	}
}

// TestDecodedTextIsShared checks that Decode does not copy strings.
func TestDecodedTextIsShared(t *testing.T) {
	message := viewtest.Encode(t, viewtest.Object(t, `{text: a, texts: {k: v}}`))
	got := everything{}
	if _, err := objects.Decode(message, &got, nil, objects.Options{}); err != nil {
		t.Fatal(err)
	}

	first, last := uintptr(unsafe.Pointer(&message[0])), uintptr(unsafe.Pointer(&message[len(message)-1]))
	for _, text := range []string{got.Text, got.Texts["k"]} {
		if at := uintptr(unsafe.Pointer(unsafe.StringData(text))); at < first || at > last {
			t.Errorf("text %q: want a part of the object, got a copy", text)
		}
	}
}

// encodings returns encoded Structs that libraries rarely write.
func encodings() []string {
	text := func(s string) string { return sized(3, s) }
	object := func(entries ...string) string { return sized(5, strings.Join(entries, "")) }
	list := func(items ...string) string {
		all := ""
		for _, item := range items {
			all += sized(1, item)
		}

		return sized(6, all)
	}
	nested := func(entries ...string) string { return entry("nested", object(entries...)) }
	const varintText, unknownEnum = "\x18\x01", "\x08\x07"

	deep := text("bottom")
	for range 200 {
		deep = list(deep)
	}

	return []string{
		// The last entry with a key counts, also if it is null.
		entry("text", text("x")) + nested() + entry("text", text("y")),
		entry("texts", object(entry("k", text("x")), entry("k", text("y")))),
		entry("texts", object(entry("k", text("x")), entry("k", null))),
		entry("z", text("x")) + entry("z", null),
		// Two Values of an entry, and two Structs or lists of a Value, merge.
		nested(sized(1, sized(1, "deep")+sized(2, object(entry("text", text("x"))))+sized(2, object(entry("small", number))))),
		nested(entry("deep", object(entry("text", text("x")))+object(entry("small", number)))),
		entry("words", list(text("x"))+list(text("y"))),
		// The last kind of a Value counts, and does not merge with one that was replaced.
		entry("text", number+text("x")),
		entry("text", text("x")+null),
		entry("texts", object(entry("l", text("x")))+text("y")+object(entry("k", text("z")))),
		entry("words", object(entry("k", text("x")))+list(text("y"))),
		// Unknown fields, and known ones of another type, are skipped.
		entry("text", text("x")+varintText),
		sized(9, "x") + entry("text", text("x")+sized(9, "y")) + flag,
		entry("words", sized(6, flag+sized(2, text("x"))+sized(1, text("y")))),
		group + entry("text", group+text("x")+group) + group,
		// Every number of the enumeration is null, and so is a Value without a kind.
		entry("text", text("x")+unknownEnum),
		entry("text", "") + entry("flag", "") + entry("words", list("", text("x"))),
		sized(1, sized(1, "text")),
		// A missing key is empty.
		sized(1, sized(2, text("x"))) + entry("texts", object(sized(1, sized(2, text("x"))))),
		// A length can have more bytes than it needs.
		"\x0a\x8b\x00\x0a\x04text\x12\x03\x1a\x01x",
		entry("z", deep), // Not declared.
	}
}

// TestInvalidEncodings checks that values must be complete, and text valid UTF-8.
func TestInvalidEncodings(t *testing.T) {
	text, object := func(s string) string { return sized(3, s) }, func(entries string) string { return sized(5, entries) }
	for name, message := range map[string]string{
		"OpenGroup":           entry("text", text("x")) + group[:1],
		"Truncated":           entry("text", text("xyz"))[:8],
		"TruncatedValue":      entry("text", text("xyz")[:3]),
		"TruncatedInMap":      entry("texts", object(entry("k", text("xyz")[:3]))),
		"TruncatedMap":        entry("ports", object(entry("k", number)[:9])),
		"TruncatedList":       entry("words", sized(6, sized(1, text("x"))+"\x0a")),
		"TruncatedCustom":     entry("port", object("\x0a")),
		"InvalidUTF8":         entry("text", text("\xff")),
		"InvalidUTF8Key":      entry("\xff", text("x")),
		"InvalidUTF8InMap":    entry("texts", object(entry("k", text("\xc3\x28")))),
		"InvalidUTF8Replaced": entry("text", text("\xff")+text("x")),
	} {
		if _, err := objects.Decode([]byte(message), &everything{}, nil, objects.Options{}); err == nil {
			t.Errorf("%s: Decode(): want an error", name)
		}
	}
}

// FuzzEncodings decodes random bytes as a Struct. If protobuf-go accepts them, Decode must
// give the same result as for the bytes that protobuf-go writes for its own tree, which
// FuzzDecode compares with Kubernetes. If protobuf-go rejects them, Decode may fail, or
// may have skipped the invalid part.
func FuzzEncodings(f *testing.F) {
	for _, e := range encodings() {
		f.Add([]byte(e))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		s := &structpb.Struct{}
		rejected := proto.Unmarshal(b, s)
		for _, o := range []objects.Options{{}, {Strict: true}, {Strict: true, NoNullLists: true}} {
			got, want := everything{}, everything{}
			errs, err := objects.Decode(b, &got, nil, o)
			if rejected != nil {
				continue
			}
			if err != nil {
				t.Fatalf("Decode: %v: protobuf-go reads %v", err, s)
			}
			wantErrs, err := objects.Decode(viewtest.Encode(t, s), &want, nil, o)
			if err != nil {
				t.Fatalf("Decode of the encoding of protobuf-go: %v: %v", err, s)
			}
			if diff := cmp.Diff(viewtest.Messages(report.ProblemsOf("", wantErrs)), viewtest.Messages(report.ProblemsOf("", errs))); diff != "" {
				t.Errorf("errors with %+v: -want, +got:\n%s", o, diff)
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(everything{})); diff != "" {
				t.Errorf("value with %+v: -want, +got:\n%s", o, diff)
			}
		}
		if !bytes.Equal(before, b) {
			t.Errorf("Decode changed the object: before %x, after %x", before, b)
		}
	})
}

// addSeeds adds objects with every type that is read and written.
func addSeeds(f *testing.F) {
	f.Helper()
	for _, seed := range []string{
		`{"apiVersion":"a","kind":"b","metadata":{"name":"n","namespace":"s","generation":3},"status":{"conditions":[{"type":"Available","status":"True"}]}}`,
		`{"spec":{"replicas":0,"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1,"maxUnavailable":"10%"}},"template":{"metadata":{"creationTimestamp":"2026-01-02T03:04:05Z"},"spec":{"volumes":[{"name":"v","emptyDir":{"sizeLimit":"1.5Gi"}}],"containers":[{"name":"c","ports":[{"containerPort":80}],"env":[{"name":"a","value":""}]}]}}}}`,
		`{"data":{"a":"\u0085"},"binaryData":{"b":"Zw=="},"immutable":false}`,
		`{"spec":{"ports":[{"port":80,"targetPort":"http"}],"selector":{"a":"b"},"clusterIPs":[]}}`,
		`{"spec":{"replicas":1.5,"ports":[null,{}],"template":null},"data":{"a":null},"metadata":[]}`,
		`{"spec":{"replicas":1e2,"minReadySeconds":3000000000},"metadata":{"generation":9007199254740993}}`,
		`{"inlined":"i","text":"a","omitted":"","small":-1,"flag":false,"large":0,"texts":{"b":"","a":"<x>"},"binary":{"b":"Zw=="},"words":["","a"],"port":80,"ports":{"a":"b"},"ttl":"1m","at":"2026-01-02T03:04:05Z","requests":{"cpu":"1500m","memory":1073741824},"nested":{"items":[{"texts":{}}],"deep":{}},"empty":{}}`,
	} {
		f.Add([]byte(seed))
	}
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
	errs, err := objects.Decode(viewtest.Encode(t, s), got, nil, objects.Options{Check: checkShort})
	if err != nil {
		t.Fatalf("Decode %T: %v: %s", got, err, text)
	}
	for _, e := range errs {
		// Decode rejects more values than JSON here.
		if strings.Contains(e.Detail, "out of range") || e.Detail == errLong.Error() {
			return
		}
	}
	err = kjson.UnmarshalCaseSensitivePreserveInts(text, want)
	if (len(errs) > 0) != (err != nil) {
		t.Fatalf("Decode %T: errors %v, JSON reports %v: %s", got, errs, err, text)
	}
	if err == nil && !equality.Semantic.DeepEqual(got, want) {
		t.Errorf("Decode %T: want %+v, got %+v", got, want, got)
	}
}

// withoutNulls returns a value without the fields that are null.
func withoutNulls(v *structpb.Value) *structpb.Value {
	for name, child := range v.GetStructValue().GetFields() {
		if _, null := withoutNulls(child).GetKind().(*structpb.Value_NullValue); null {
			delete(v.GetStructValue().GetFields(), name)
		}
	}
	for _, child := range v.GetListValue().GetValues() {
		withoutNulls(child)
	}

	return v
}
