package fn_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crossplane-contrib/function-markdownview/test/sample"
)

// make fuzz runs each target for a minute or more. go test runs the seeds, including
// those in testdata/fuzz.

// FuzzBytes calls the function with random bytes as a request.
func FuzzBytes(f *testing.F) {
	for _, req := range goldenRequests(f) {
		f.Add(marshal(f, req))
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		req := &fnv1.RunFunctionRequest{}
		if err := proto.Unmarshal(wire, req); err != nil {
			return
		}
		checkLaws(t, req)
	})
}

// FuzzRequest calls the function with requests that Crossplane could send.
func FuzzRequest(f *testing.F) {
	addSeeds(f, 30)
	f.Fuzz(func(t *testing.T, choices []byte) {
		checkLaws(t, generate(t, sample.New(choices)))
	})
}

// FuzzCorruptRequest calls the function with requests that Crossplane never sends.
func FuzzCorruptRequest(f *testing.F) {
	addSeeds(f, 60)
	f.Fuzz(func(t *testing.T, choices []byte) {
		s := sample.New(choices)
		req := generate(t, s)
		corrupt(t, s, req)
		checkLaws(t, req)
	})
}

// FuzzLife simulates random MarkdownViews.
func FuzzLife(f *testing.F) {
	addSeeds(f, 1)
	f.Fuzz(func(t *testing.T, choices []byte) {
		live(t, sample.New(choices))
	})
}

// FuzzTemplates calls the function with random JSON as templates.
func FuzzTemplates(f *testing.F) {
	pod := func(spec string) string { return `{"spec":{"template":{"spec":` + spec + `}}}` }
	viewer := func(field string) string { return `{"containers":[{"name":"mdbook",` + field + `}]}` }
	for _, seed := range [][3]string{
		{`{}`, `{}`, `{}`},
		{`{"data":{"a":"b"}}`, pod(viewer(`"env":[{"name":"A"}]`)), `{"spec":{"ports":[{"port":80,"name":"web"}]}}`},
		{`{"data":null}`, pod(viewer(`"$patch":"delete"`)), `{"spec":{"type":null}}`},
		{`{"$patch":"delete"}`, pod(`null`), `{"spec":{"ports":null}}`},
		{`{"$patch":"replace"}`, pod(`{"$setElementOrder/containers":["x"]}`), `{"spec":{"ports":[{"$patch":"replace"}]}}`},
		{`{"metadata":{"labels":{"a b":"c"}}}`, pod(`{"$retainKeys":5}`), `{"metadata":{"uid":"x","resourceVersion":"1"}}`},
		{`{"data":{"a b":""}}`, pod(viewer(`"$deleteFromPrimitiveList/args":{}`)), `{"metadata":{"labels":{"a":"b c"}}}`},
		{`{"binaryData":{"SUMMARY.md":"Zw=="}}`, `{"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}}`, `{}`},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	settled := goldenRequests(f)["2-available"]
	f.Fuzz(func(t *testing.T, configMap, deployment, service string) {
		templates := object{}
		for name, text := range map[string]string{"configMap": configMap, "deployment": deployment, "service": service} {
			v := &structpb.Value{}
			if v.UnmarshalJSON([]byte(text)) != nil {
				return
			}
			templates[name] = v
		}
		req := proto.Clone(settled).(*fnv1.RunFunctionRequest)
		req.Input = valueOf(t, object{"templates": templates}).GetStructValue()
		checkLaws(t, req)
	})
}

// FuzzNames composes two XRs with random names. It tests law 6.
func FuzzNames(f *testing.F) {
	for _, name := range []string{
		"a", "0", "sample", "a.b", "a-b", "1.2.3.4",
		strings.Repeat("a", 56), strings.Repeat("a", 57), strings.Repeat("a", 63), strings.Repeat("a", 64),
		strings.Repeat("a", 253), strings.Repeat("a.", 126) + "b",
		strings.Repeat("a", 52) + ".b", strings.Repeat("a", 51) + "-.b",
	} {
		f.Add(name, name+"b")
		f.Add(name, strings.ReplaceAll(name, ".", "-"))
		f.Add(name, "sample")
	}
	f.Fuzz(func(t *testing.T, one, other string) {
		var all []map[string]object
		for _, name := range []string{one, other} {
			if len(validation.IsDNS1123Subdomain(name)) > 0 {
				return
			}
			view := viewOf(object{"markdowns": book("text")})
			metadata(view)["name"] = name
			rsp := checkLaws(t, newCluster(t, view, nil).Request())
			if isFatal(rsp) {
				t.Fatalf("law 6: valid name %q is rejected: %v", name, rsp.GetResults())
			}
			all = append(all, objectsIn(rsp.GetDesired()))
		}
		for _, key := range ours {
			for _, path := range [][]string{{"name"}, {"labels", "app.kubernetes.io/instance"}} {
				a, b := textAt(all[0][key]["metadata"], path...), textAt(all[1][key]["metadata"], path...)
				if (one == other) != (a == b) {
					t.Errorf("law 6: XRs %q and %q have %s with %v %q and %q", one, other, key, path, a, b)
				}
			}
		}
	})
}

// FuzzText composes files with random text. It tests law 7.
func FuzzText(f *testing.F) {
	for _, text := range []string{
		"", "\n", "\r\n", "\t", "a \n", "\u0085", "\u2028", "\ufeff", "👩‍👩‍👧‍👦", "\u202eabc",
		"\x00", "\x7f", "\u009f", "\u00a0", "\u00bf\u0080", "\ufffd", "\ufffe", "\uffff",
	} {
		f.Add("page.md", text)
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		taken := name == "SUMMARY.md" || name == "print.md" || len(validation.IsConfigMapKey(name)) > 0
		if utf8.ValidString(text) && len(text) <= 1<<20-4 && !taken {
			checkText(t, name, text)
		}
	})
}

// TestLargestText composes texts that are too large for FuzzText.
func TestLargestText(t *testing.T) {
	const most = 1<<20 - len("- [A](a.md)")
	for _, char := range []string{"x", "\n", "\u2028", "\x00"} {
		checkText(t, "page.md", strings.Repeat(char, most/len(char)))
	}
}

// checkText composes a file. The laws compare it.
func checkText(t *testing.T, name, text string) {
	t.Helper()
	files := object{"SUMMARY.md": "- [A](a.md)", "a.md": "", name: text}
	if rsp := checkLaws(t, newCluster(t, viewOf(object{"markdowns": files}), nil).Request()); isFatal(rsp) {
		t.Fatalf("law 7: file %q is rejected: %v", name, rsp.GetResults())
	}
}

// addSeeds adds n seeds: the random bytes from which samples are made.
func addSeeds(f *testing.F, n uint64) {
	f.Helper()

	f.Add([]byte{})
	for seed := range n {
		f.Add(sample.RandomBytes(seed))
	}
}
