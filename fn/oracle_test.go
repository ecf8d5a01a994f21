package fn

import (
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	kjson "sigs.k8s.io/json"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
)

// oracleSeeds are objects of every type that is converted.
var oracleSeeds = []string{
	`{"apiVersion":"a","kind":"b","metadata":{"name":"n","namespace":"s","generation":3},"spec":{"markdowns":{"SUMMARY.md":"x"},"replicas":2,"viewerImage":"i","resources":{"requests":{"cpu":1,"memory":"1Gi"}},"claimRef":{"namespace":"c"}},"status":{"status":"Healthy","conditions":[{"type":"Available","status":"True"}]}}`,
	`{"viewerImage":"i","allowedImages":["a"],"imagePullSecrets":[{"name":"p"}],"service":{"type":"NodePort","annotations":{"a":"b"}},"ttl":"1m","statusFields":["url"],"templates":{"deployment":{"spec":null}}}`,
	`{"spec":{"replicas":0,"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1,"maxUnavailable":"10%"}},"template":{"metadata":{"creationTimestamp":"2026-01-02T03:04:05Z"},"spec":{"volumes":[{"name":"v","emptyDir":{"sizeLimit":"1.5Gi"}}],"containers":[{"name":"c","ports":[{"containerPort":80}],"env":[{"name":"a","value":""}]}]}}}}`,
	`{"data":{"a":"\u0085"},"binaryData":{"b":"Zw=="},"immutable":false}`,
	`{"spec":{"ports":[{"port":80,"targetPort":"http"}],"selector":{"a":"b"},"clusterIPs":[]}}`,
	`{"spec":{"replicas":1.5,"ports":[null,{}],"template":null},"data":{"a":null},"metadata":[]}`,
	`{"spec":{"replicas":1e2,"minReadySeconds":3000000000},"metadata":{"generation":9007199254740993}}`,
}

// FuzzDecode compares decode with the JSON decoder of Kubernetes.
func FuzzDecode(f *testing.F) {
	for _, seed := range oracleSeeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v := &structpb.Value{}
		if v.UnmarshalJSON(text) != nil {
			return
		}
		// Where a map has a null, JSON makes an empty text of it. We read it as
		// absent, which is what a null means to Kubernetes.
		v = withoutNulls(v)
		compareDecode[xr](t, v)
		compareDecode[v1beta1.Input](t, v)
		compareDecode[deploymentState](t, v)
		compareDecode[corev1.ConfigMap](t, v)
		compareDecode[appsv1.Deployment](t, v)
		compareDecode[corev1.Service](t, v)
	})
}

func compareDecode[T any](t *testing.T, v *structpb.Value) {
	t.Helper()

	b, err := v.MarshalJSON()
	if err != nil {
		t.Fatalf("cannot encode: %v", err)
	}
	got, want := new(T), new(T)
	faults := decode(v, got, nil, lenient)
	err = kjson.UnmarshalCaseSensitivePreserveInts(b, want)
	for _, fault := range faults {
		// What we read less of than JSON does, and say so.
		if strings.Contains(fault.Detail, "out of range") || strings.Contains(fault.Detail, "must be a quantity") {
			return
		}
	}
	if (len(faults) > 0) != (err != nil) {
		t.Fatalf("decode %T: faults %v, JSON says %v: %s", got, faults, err, b)
	}
	if err == nil && !equality.Semantic.DeepEqual(got, want) {
		t.Errorf("decode %T: want %+v, got %+v", got, want, got)
	}
}

// TestDecodeLargeNumbers looks at the numbers about which a float64 is not exact.
func TestDecodeLargeNumbers(t *testing.T) {
	const exact = 1 << 53
	for n, want := range map[float64]int64{
		exact: exact, -exact: -exact, exact + 2: 0, -exact - 2: 0, math.MaxInt64: 0, math.Inf(1): 0, math.NaN(): 0,
	} {
		var got int64
		faults := decode(structpb.NewNumberValue(n), &got, nil, strict)
		if got != want || (want == 0) != (len(faults) == 1) {
			t.Errorf("decode %v: want %d, got %d with faults %v", n, want, got, faults)
		}
	}
}

// withoutNulls returns a value without the fields that are null.
func withoutNulls(v *structpb.Value) *structpb.Value {
	switch kind := v.GetKind().(type) {
	case *structpb.Value_StructValue:
		fields := map[string]*structpb.Value{}
		for name, child := range kind.StructValue.GetFields() {
			if !isNull(child) {
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

// FuzzEncode reads what was encoded with JSON: all that was set must be there.
func FuzzEncode(f *testing.F) {
	for _, seed := range oracleSeeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		compareEncode[corev1.ConfigMap](t, text)
		compareEncode[appsv1.Deployment](t, text)
		compareEncode[corev1.Service](t, text)
	})
}

func compareEncode[T any](t *testing.T, text []byte) {
	t.Helper()

	object, v := new(T), &structpb.Value{}
	if v.UnmarshalJSON(text) != nil || len(decode(v, object, nil, lenient)) > 0 {
		return
	}
	b, err := encode(object).MarshalJSON()
	if err != nil {
		t.Fatalf("cannot encode %s: %v", text, err)
	}
	got := new(T)
	if err := kjson.UnmarshalCaseSensitivePreserveInts(b, got); err != nil {
		t.Fatalf("cannot decode %s: %v", b, err)
	}
	if !equality.Semantic.DeepEqual(got, object) {
		t.Errorf("encode %T: want %+v, got %+v from %s", got, object, got, b)
	}
}
