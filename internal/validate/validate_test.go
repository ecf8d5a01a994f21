package validate

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

const fine = "markdowns: {SUMMARY.md: '- [A](a.md)', a.md: a}"

// invalid returns the errors of an XR and an Input.
func invalid(t *testing.T, xr, input string) []string {
	t.Helper()
	in := &fnv1.RunFunctionRequest{Meta: &fnv1.RequestMeta{Capabilities: []fnv1.Capability{fnv1.Capability_CAPABILITY_REQUIRED_RESOURCES}}, Observed: &fnv1.State{Composite: viewtest.Resource(t, xr)}}
	if input != "" {
		in.Input = viewtest.Object(t, input)
	}
	req, err := request.Read(viewtest.Encode(t, in))
	if err != nil {
		t.Fatalf("cannot read the request: %v", err)
	}
	got := viewtest.Messages(Request(req))
	slices.Sort(got)

	return got
}

// A fieldCase is a case for fields of a spec, beside a small book, and of an Input.
type fieldCase struct {
	reason, name, spec, input string
	// xr is a whole XR instead.
	xr string
	// want has the errors, one on each line. At its end, "…" stands for the rest of the line.
	want string
}

func checkFields(t *testing.T, cases map[string]fieldCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			named := `{metadata: {name: "` + cmp.Or(tc.name, "sample") + `", namespace: default}`
			got := invalid(t, cmp.Or(tc.xr, named+`, spec: {`+fine+`, `+tc.spec+`}}`), tc.input)
			wants := strings.Split(tc.want, "\n")
			for i := range min(len(got), len(wants)) {
				if start, cut := strings.CutSuffix(wants[i], "…"); cut && strings.HasPrefix(got[i], start) {
					got[i] = wants[i]
				}
			}
			if diff := gocmp.Diff(tc.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("\n%s\nerrors: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestAll checks that all errors are reported at once, each with its path.
func TestAll(t *testing.T) {
	checkFields(t, map[string]fieldCase{
		"Nothing": {
			reason: "An empty request",
			xr:     `{}`,
			want: strings.Join([]string{
				"input.namespace: Required value: set the namespace of the composed resources: the XR is cluster-scoped",
				"metadata.name: Required value: an XR must have a name",
				`spec.markdowns: Required value: add SUMMARY.md, which lists the chapters`,
			}, "\n"),
		},
		"Types": {
			reason: "Values of a wrong type, and a name that an XR cannot have",
			xr:     `{metadata: {name: A, namespace: b}, spec: {markdowns: {SUMMARY.md: 1}, replicas: two, viewerImage: [], resources: {requests: {memory: much}}}}`,
			want: strings.Join([]string{
				`metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of…`,
				"spec.markdowns: Required value: add SUMMARY.md, which lists the chapters",
				"spec.markdowns[SUMMARY.md]: Invalid value: must be a string",
				"spec.replicas: Invalid value: must be a whole number",
				`spec.resources.requests[memory]: Invalid value: "much": must be a quantity such as "100m" or "64Mi"`,
				"spec.viewerImage: Invalid value: must be a string",
			}, "\n"),
		},
		"Book": {
			reason: "The errors of a book, with those of the spec",
			xr: `{metadata: {name: a, namespace: b}, spec: {replicas: 9, summary: auto, markdowns: {SUMMARY.md: "- [A](b.md)", a.md: a, /a.md: a}, binaries: {a.png: "?"},
			      book: {title: "a\tb", authors: ["a\tb"], description: "\tb", language: en_US, textDirection: up, defaultTheme: dark, preferredDarkTheme: dark}}}`,
			want: strings.Join([]string{
				"spec.binaries[a.png]: Invalid value: must be text in base64",
				`spec.book.authors[0]: Invalid value: "a\tb": must not contain control characters`,
				`spec.book.defaultTheme: Unsupported value: "dark": supported values: "light", "rust", "coal", "navy", "ayu"`,
				`spec.book.description: Invalid value: "\tb": must not contain control characters`,
				`spec.book.language: Invalid value: "en_US": must be a BCP 47 language tag: write "en", "ja" or "pt-BR"`,
				`spec.book.preferredDarkTheme: Unsupported value: "dark": supported values: "light", "rust", "coal", "navy", "ayu"`,
				`spec.book.textDirection: Unsupported value: "up": supported values: "ltr", "rtl"`,
				`spec.book.title: Invalid value: "a\tb": must not contain control characters`,
				`spec.markdowns: Invalid value: SUMMARY.md line 1: add chapter "b.md", or remove its link: the file is not in the book`,
				`spec.markdowns: Invalid value: file name "/a.md" must be relative: remove the leading "/"`,
				"spec.replicas: Invalid value: 9: must be from 1 to 5",
				`spec.summary: Unsupported value: "auto": supported values: "Required", "Auto"`,
			}, "\n"),
		},
		"Generated": {
			reason: "A generated SUMMARY.md has no errors",
			xr:     `{metadata: {name: a, namespace: b}, spec: {replicas: 9, summary: Auto, markdowns: {a.md: a}}}`,
			want:   "spec.replicas: Invalid value: 9: must be from 1 to 5",
		},
		"Input": {
			reason: "The errors of an Input",
			xr:     `{metadata: {name: a}, spec: {` + fine + `}}`,
			input: `{apiVersion: pt.fn.crossplane.io/v1beta1, kind: Resources, viewerImage: "A", allowedImages: ["a b", docker.io/a/b], allowedBookImages: [docker.io/a/b, "["],
			         resources: {limits: {memory: -1}}, imagePullPolicy: Sometimes, imagePullSecrets: [{name: "A"}], service: {type: ExternalName, annotations: {"a b": c}},
			         labels: {app.kubernetes.io/name: a, "-": a}, annotations: {"c d": a}, namespace: "a.b", ttl: -1s, statusFields: [status, phase], listenAddress: localhost, typo: 1, theme: {a: b}, podDisruptionBudget: {maxUnavailable: -1}}`,
			want: strings.Join([]string{
				`input.allowedBookImages[1]: Invalid value: "[": must be an image reference in which "*" stands for any text without "/"`,
				`input.allowedImages[0]: Invalid value: "a b": must be an image reference in which "*" stands for any text without "/"`,
				`input.annotations: Invalid value: "c d": …`,
				`input.apiVersion: Unsupported value: "pt.fn.crossplane.io/v1beta1": supported values: "markdownview.fn.crossplane.io/v1beta1"`,
				`input.imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"`,
				`input.imagePullSecrets[0].name: Invalid value: "A": …`,
				`input.kind: Unsupported value: "Resources": supported values: "Input"`,
				`input.labels: Invalid value: "-": …`,
				`input.labels[app.kubernetes.io/name]: Forbidden: remove it: the selector uses this label`,
				`input.listenAddress: Unsupported value: "localhost": supported values: "0.0.0.0", "::"`,
				`input.namespace: Invalid value: "a.b": must not contain dots`,
				`input.podDisruptionBudget.maxUnavailable: Invalid value: "-1": must be a number of pods…`,
				`input.resources.limits[memory]: Invalid value: "-1": must not be negative`,
				`input.service.annotations: Invalid value: "a b": …`,
				`input.service.type: Unsupported value: "ExternalName": supported values: "ClusterIP", "NodePort", "LoadBalancer"`,
				`input.statusFields[1]: Unsupported value: "phase": supported values: "status", "replicas", "readyReplicas", "selector", "observedGeneration", "url"`,
				`input.theme: Unsupported value: "a": supported values: …`,
				`input.ttl: Invalid value: "-1s": must not be negative`,
				"input.typo: Forbidden: unknown field: use one of allowedBookImages, allowedHosts, …",
				`input.viewerImage: Invalid value: "A": write an image reference such as docker.io/peaceiris/mdbook:v0.5.0`,
			}, "\n"),
		},
		"Valid": {
			reason: "The remaining values of the Input are valid",
			xr:     `{metadata: {name: a, namespace: b}, spec: {` + fine + `}}`,
			input:  `{service: {type: NodePort}, imagePullPolicy: Never, ttl: 0s, statusFields: [url], namespace: c}`,
		},
	})
}

// TestSpec checks errors of a spec, which can depend on the Input.
func TestSpec(t *testing.T) {
	const image = `viewerImage: "registry.example.com/books/mdbook:v2"`
	checkFields(t, map[string]fieldCase{
		"TooFew":       {reason: "At least 1 replica", spec: "replicas: 0", want: "spec.replicas: Invalid value: 0: must be from 1 to 5"},
		"Least":        {reason: "1 replica is valid", spec: "replicas: 1"},
		"Most":         {reason: "5 replicas are valid", spec: "replicas: 5"},
		"TooMany":      {reason: "At most 5 replicas", spec: "replicas: 6", want: "spec.replicas: Invalid value: 6: must be from 1 to 5"},
		"Image":        {reason: "An image must be a reference", spec: `viewerImage: "Mdbook:"`, want: `spec.viewerImage: Invalid value: "Mdbook:": write an image reference such as docker.io/peaceiris/mdbook:v0.5.0`},
		"Allowed":      {reason: "The image matches one of the patterns", spec: image, input: `{allowedImages: [docker.io/a/*, registry.example.com/*/mdbook]}`},
		"NotAllowed":   {reason: "The image must be one that the platform team allows", spec: image, input: `{allowedImages: [docker.io/a/*, b.c/d]}`, want: `spec.viewerImage: Forbidden: name an image that matches docker.io/a/* or b.c/d`},
		"NoneAllowed":  {reason: "An empty list allows none", spec: image, input: `{allowedImages: []}`, want: `spec.viewerImage: Forbidden: remove it: the Composition allows none`},
		"Version":      {reason: "Without patterns, an XR can name another version of the default image", spec: `viewerImage: "peaceiris/mdbook:v0.4.40"`},
		"OtherVersion": {reason: "The image of the Input replaces the default image", spec: image, input: `{viewerImage: "registry.example.com/books/mdbook:v1"}`},
		"OtherImage":   {reason: "Another image would be pulled with the secrets of the platform team", spec: `viewerImage: "a/b:v1"`, input: `{viewerImage: "a.b/c:v1", imagePullSecrets: [{name: a}]}`, want: `spec.viewerImage: Forbidden: name an image that matches a.b/c`},
		"InvalidInput": {reason: "If the image of the Input is invalid, only that is an error", spec: image, input: `{viewerImage: "A"}`, want: `input.viewerImage: Invalid value: "A": write an image reference such as docker.io/peaceiris/mdbook:v0.5.0`},
		"NotCompared":  {reason: "The default image of the Input is not compared with the patterns", spec: "replicas: 1", input: `{viewerImage: a.b/c, allowedImages: [docker.io/a/*]}`},
		"NullPatterns": {reason: "A list whose entries are all commented out must not allow every image", spec: "replicas: 1", input: `{allowedImages: null}`, want: "input.allowedImages: Invalid value: must be a list, not null: write [] for an empty list, or remove the field"},
	})
}
