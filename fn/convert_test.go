package fn

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
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
func object(t *testing.T, text string) *structpb.Struct {
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

// messages returns faults as a user reads them.
func messages(faults field.ErrorList) []string {
	var out []string
	for _, f := range faults {
		out = append(out, f.Error())
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
		faults []string
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
		mode   mode
		want   want
	}{
		"Everything": {
			reason: "Every kind of value is read",
			text: `{inlined: i, text: a, flag: true, small: 3, large: 1099511627776, texts: {k: v}, binary: {b: aGk=}, words: [x, z],
			        requests: {cpu: 1}, port: http, ttl: 1m, nested: {deep: 1}}`,
			mode: strict,
			want: want{value: all},
		},
		"Null": {
			reason: "Null is like absent",
			text:   `{text: null, nested: null, words: null, large: null}`,
			mode:   strict,
		},
		"UnknownLenient": {
			reason: "A field that the type does not know is passed over",
			text:   `{text: a, other: 1, nested: {other: 1}}`,
			want:   want{value: everything{Text: "a"}},
		},
		"UnknownStrict": {
			reason: "Or reported with its path and those that are known",
			text:   `{nested: {other: 1}}`,
			mode:   strict,
			want:   want{faults: []string{"root.nested.other: Forbidden: unknown field: use one of deep"}},
		},
		"Directive": {
			reason: "A directive of a merge is unknown where nothing is merged",
			text:   `{nested: {$patch: delete}}`,
			mode:   strict,
			want:   want{faults: []string{"root.nested.$patch: Forbidden: unknown field: use one of deep"}},
		},
		"Directives": {
			reason: "In a patch it is none of the fields, and has a value of its own kind",
			text:   `{$patch: replace, $retainKeys: [text], nested: {$patch: delete}, texts: {$patch: mangle}, requests: {$retainKeys: [{}]}, binary: {$setElementOrder/x: [a]}}`,
			mode:   patch,
			want: want{
				value: everything{Texts: map[string]string{}, Requests: corev1.ResourceList{}, Binary: map[string][]byte{}},
				faults: []string{
					"root.binary.$setElementOrder/x: Forbidden: unknown directive: use $patch or $retainKeys, or leave it out",
					"root.requests.$retainKeys[0]: Invalid value: must be a string",
					`root.texts.$patch: Unsupported value: supported values: "replace", "delete"`,
				},
			},
		},
		"NullItem": {
			reason: "An item that is null is not the zero of its type",
			text:   `{words: [null]}`,
			mode:   patch,
			want:   want{value: everything{Words: []string{""}}, faults: []string{"root.words[0]: Invalid value: must not be null"}},
		},
		"WrongTypes": {
			reason: "Every wrong type is reported, and the rest is read",
			text:   `{text: 1, flag: "yes", small: 1.5, large: "1", words: {}, nested: [], texts: {k: 1}, binary: {b: "%"}, inlined: i}`,
			want: want{
				value: func() everything {
					e := everything{Texts: map[string]string{}, Binary: map[string][]byte{"b": {}}}
					e.Inlined = "i"

					return e
				}(),
				faults: []string{
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
			reason: "A number that the type cannot hold is not cut",
			text:   `{small: 2147483648, large: 1e300}`,
			want: want{
				faults: []string{"root.large: Invalid value: is out of range", "root.small: Invalid value: is out of range"},
			},
		},
		"OwnForm": {
			reason: "A type with a JSON form of its own reports its own error",
			text:   `{ttl: soon}`,
			want: want{
				value:  everything{TTL: &metav1.Duration{}},
				faults: []string{`root.ttl: Invalid value: "soon": time: invalid duration "soon"`},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := everything{}
			faults := decode(structpb.NewStructValue(object(t, tc.text)), &got, field.NewPath("root"), tc.mode)

			if diff := cmp.Diff(tc.want.faults, messages(faults)); diff != "" {
				t.Errorf("\n%s\nfaults: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want.value, got, cmp.AllowUnexported(everything{})); diff != "" {
				t.Errorf("\n%s\nvalue: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestEncode(t *testing.T) {
	cases := map[string]struct {
		reason string
		object any
		want   string
	}{
		"OnlyWhatIsSet": {
			reason: "A field that is not set is not owned",
			object: &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: "name", Namespace: "space"}},
			want:   `{apiVersion: v1, kind: ConfigMap, metadata: {name: name, namespace: space}}`,
		},
		"ZerosThatAreMeant": {
			reason: "A zero, a false and an empty object that are set are meant",
			object: &corev1.PodSpec{
				EnableServiceLinks:            ptr.To(false),
				TerminationGracePeriodSeconds: ptr.To[int64](0),
				Volumes:                       []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
			},
			want: `{enableServiceLinks: false, terminationGracePeriodSeconds: 0, volumes: [{name: v, emptyDir: {}}]}`,
		},
		"OwnForm": {
			reason: "Quantities and ports have their own form, binary data is base64",
			object: &everything{
				Requests: corev1.ResourceList{"cpu": resource.MustParse("1000m")},
				Port:     ptr.To(intstr.FromInt32(80)),
				Binary:   map[string][]byte{"b": []byte("hi")},
				Large:    ptr.To[int64](1),
				TTL:      &metav1.Duration{Duration: 60e9},
			},
			want: `{inlined: "", text: "", flag: false, small: 0, large: 1, binary: {b: aGk=},
			        requests: {cpu: "1"}, port: 80, ttl: 1m0s}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(object(t, tc.want), encode(tc.object), protocmp.Transform()); diff != "" {
				t.Errorf("\n%s\nencode(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
