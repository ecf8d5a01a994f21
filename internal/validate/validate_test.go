package validate

import (
	"slices"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/internal/files"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

func TestValidate(t *testing.T) {
	const fine = "markdowns: {SUMMARY.md: '- [A](a.md)', a.md: a}"

	cases := map[string]struct {
		reason string
		xr     string
		input  string
		want   []string
	}{
		"Fine": {
			reason: "Only the required fields",
			xr:     `{metadata: {name: a, namespace: b}, spec: {` + fine + `}}`,
		},
		"Nothing": {
			reason: "All errors of an empty request are reported at once",
			xr:     `{}`,
			want: []string{
				"input.namespace: Required value: set the namespace of the composed resources: the XR is cluster-scoped",
				"metadata.name: Required value: an XR must have a name",
				`spec.markdowns: Required value: add SUMMARY.md, which lists the chapters`,
			},
		},
		"Types": {
			reason: "Values of a wrong type are reported with their path",
			xr:     `{metadata: {name: a, namespace: b}, spec: {markdowns: {SUMMARY.md: 1}, replicas: two, viewerImage: [], resources: {requests: {memory: much}}}}`,
			want: []string{
				"spec.markdowns: Required value: add SUMMARY.md, which lists the chapters",
				"spec.markdowns[SUMMARY.md]: Invalid value: must be a string",
				"spec.replicas: Invalid value: must be a whole number",
				`spec.resources.requests[memory]: Invalid value: "much": must be a quantity such as "100m" or "64Mi"`,
				"spec.viewerImage: Invalid value: must be a string",
			},
		},
		"NoSummary": {
			reason: "A book needs SUMMARY.md",
			xr:     `{metadata: {name: a, namespace: b}, spec: {markdowns: {a.md: a}}}`,
			want:   []string{`spec.markdowns: Required value: add SUMMARY.md, which lists the chapters`},
		},
		"Book": {
			reason: "The errors of a book are reported with those of the spec",
			xr:     `{metadata: {name: a, namespace: b}, spec: {replicas: 9, summary: auto, markdowns: {SUMMARY.md: "- [A](b.md)", a.md: a, /a.md: a}, binaries: {a.png: "?"}, book: {title: "a\tb", authors: ["a\tb"], description: "\tb", language: en_US, textDirection: up, defaultTheme: dark, preferredDarkTheme: dark}}}`,
			want: []string{
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
			},
		},
		"ReplicasTooFew":  {reason: "At least 1 replica", xr: `{metadata: {name: a, namespace: b}, spec: {replicas: 0, ` + fine + `}}`, want: []string{"spec.replicas: Invalid value: 0: must be from 1 to 5"}},
		"ReplicasTooMany": {reason: "At most 5 replicas", xr: `{metadata: {name: a, namespace: b}, spec: {replicas: 6, ` + fine + `}}`, want: []string{"spec.replicas: Invalid value: 6: must be from 1 to 5"}},
		"ReplicasLeast":   {reason: "1 replica is valid", xr: `{metadata: {name: a, namespace: b}, spec: {replicas: 1, ` + fine + `}}`},
		"ReplicasMost":    {reason: "5 replicas are valid", xr: `{metadata: {name: a, namespace: b}, spec: {replicas: 5, ` + fine + `}}`},
		"Image": {
			reason: "An image must be a reference",
			xr:     `{metadata: {name: a, namespace: b}, spec: {viewerImage: "Mdbook:", ` + fine + `}}`,
			want:   []string{`spec.viewerImage: Invalid value: "Mdbook:": write an image reference such as docker.io/peaceiris/mdbook:v0.5.0`},
		},
		"ImageNotAllowed": {
			reason: "The image must be one that the platform team allows",
			xr:     `{metadata: {name: a, namespace: b}, spec: {viewerImage: evil, ` + fine + `}}`,
			input:  `{allowedImages: [docker.io/peaceiris/*, registry.example.com/mdbook]}`,
			want:   []string{`spec.viewerImage: Forbidden: name an image that matches docker.io/peaceiris/* or registry.example.com/mdbook`},
		},
		"NoImageAllowed": {
			reason: "An empty list allows none",
			xr:     `{metadata: {name: a, namespace: b}, spec: {viewerImage: peaceiris/mdbook, ` + fine + `}}`,
			input:  `{allowedImages: []}`,
			want:   []string{`spec.viewerImage: Forbidden: remove it: the Composition allows none`},
		},
		"OtherVersion": {
			reason: "Without patterns, an XR can name another version of the default image",
			xr:     `{metadata: {name: a, namespace: b}, spec: {viewerImage: "peaceiris/mdbook:v0.4.40", ` + fine + `}}`,
		},
		"OtherVersionOfInput": {
			reason: "The image of the Input replaces the default image",
			xr:     `{metadata: {name: a, namespace: b}, spec: {viewerImage: "registry.example.com/books/mdbook:v2", ` + fine + `}}`,
			input:  `{viewerImage: "registry.example.com/books/mdbook:v1"}`,
		},
		"OtherImage": {
			reason: "Without patterns, an XR cannot name another image: the pods pull it with the secrets of the platform team",
			xr:     `{metadata: {name: a, namespace: b}, spec: {viewerImage: "peaceiris/mdbook:v0.5.0", ` + fine + `}}`,
			input:  `{viewerImage: "registry.example.com/books/mdbook:v1", imagePullSecrets: [{name: a}]}`,
			want:   []string{`spec.viewerImage: Forbidden: name an image that matches registry.example.com/books/mdbook`},
		},
		"OtherImageAndInvalidInput": {
			reason: "If the image of the Input is invalid, only that is an error",
			xr:     `{metadata: {name: a, namespace: b}, spec: {viewerImage: "peaceiris/mdbook:v0.5.0", ` + fine + `}}`,
			input:  `{viewerImage: "A"}`,
			want:   []string{`input.viewerImage: Invalid value: "A": write an image reference such as docker.io/peaceiris/mdbook:v0.5.0`},
		},
		"EveryImage": {
			reason: "Patterns of every depth allow every image",
			xr:     `{metadata: {name: a, namespace: b}, spec: {viewerImage: "localhost:5000/mdbook@sha256:` + strings.Repeat("a", 64) + `", ` + fine + `}}`,
			input:  `{allowedImages: ["*/*", "*/*/*", "*/*/*/*"]}`,
		},
		"DefaultImageNotCompared": {
			reason: "The default image of the Input is not compared with the patterns",
			xr:     `{metadata: {name: a, namespace: b}, spec: {` + fine + `}}`,
			input:  `{viewerImage: registry.example.com/mdbook, allowedImages: [docker.io/peaceiris/*]}`,
		},
		"Resources": {
			reason: "Requests and limits must be supported, not negative and consistent",
			xr:     `{metadata: {name: a, namespace: b}, spec: {resources: {requests: {cpu: 2, memory: -1, nvidia.com/gpu: 1}, limits: {cpu: 1, pods: 1}}, ` + fine + `}}`,
			want: []string{
				`spec.resources.limits: Unsupported value: "pods": supported values: "cpu", "memory", "ephemeral-storage"`,
				`spec.resources.requests: Unsupported value: "nvidia.com/gpu": supported values: "cpu", "memory", "ephemeral-storage"`,
				`spec.resources.requests[cpu]: Invalid value: "2": must not be above the limit 1`,
				`spec.resources.requests[memory]: Invalid value: "-1": must not be negative`,
			},
		},
		"ResourcesEqual": {
			reason: "A request can equal its limit",
			xr:     `{metadata: {name: a, namespace: b}, spec: {resources: {requests: {cpu: 1}, limits: {cpu: 1}}, ` + fine + `}}`,
		},
		"NullAllowedImages": {
			reason: "A list whose entries are all commented out is null, and must not allow every image",
			xr:     `{metadata: {name: a, namespace: b}, spec: {viewerImage: evil/x, ` + fine + `}}`,
			input:  `{allowedImages: null}`,
			want: []string{
				"input.allowedImages: Invalid value: must be a list, not null: write [] for an empty list, or remove the field",
				`spec.viewerImage: Forbidden: name an image that matches docker.io/peaceiris/mdbook`,
			},
		},
		"Input": {
			reason: "All errors of the Input are reported at once",
			xr:     `{metadata: {name: a}, spec: {` + fine + `}}`,
			input: `{apiVersion: pt.fn.crossplane.io/v1beta1, kind: Resources, viewerImage: "A", allowedImages: ["a b", "[", "mdbook", "peaceiris/*"], resources: {limits: {memory: -1}}, imagePullPolicy: Sometimes,
			         imagePullSecrets: [{name: "A"}], service: {type: ExternalName, annotations: {"a b": c}}, labels: {app.kubernetes.io/name: a, "-": a},
			         annotations: {"/": a}, namespace: "a.b", ttl: -1s, statusFields: [status, phase], listenAddress: localhost, typo: 1}`,
			want: []string{
				`input.allowedImages[0]: Invalid value: "a b": must be an image reference in which "*" stands for any text without "/"`,
				`input.allowedImages[1]: Invalid value: "[": must be an image reference in which "*" stands for any text without "/"`,
				`input.allowedImages[2]: Invalid value: "mdbook": must be the full name of an image, with its registry: write docker.io/library/mdbook`,
				`input.allowedImages[3]: Invalid value: "peaceiris/*": must be the full name of an image, with its registry: write docker.io/peaceiris/*`,
				"input.annotations: Invalid value: \"/\": prefix part must be non-empty",
				`input.apiVersion: Unsupported value: "pt.fn.crossplane.io/v1beta1": supported values: "markdownview.fn.crossplane.io/v1beta1"`,
				`input.imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"`,
				`input.kind: Unsupported value: "Resources": supported values: "Input"`,
				`input.labels[app.kubernetes.io/name]: Forbidden: remove it: the selector uses this label`,
				`input.namespace: Invalid value: "a.b": must not contain dots`,
				`input.resources.limits[memory]: Invalid value: "-1": must not be negative`,
				`input.service.type: Unsupported value: "ExternalName": supported values: "ClusterIP", "NodePort", "LoadBalancer"`,
				`input.statusFields[1]: Unsupported value: "phase": supported values: "status", "replicas", "readyReplicas", "selector", "observedGeneration", "url"`,
				`input.ttl: Invalid value: "-1s": must not be negative`,
				`input.listenAddress: Unsupported value: "localhost": supported values: "0.0.0.0", "::"`,
				"input.typo: Forbidden: unknown field: use one of allowedBookImages, allowedHosts, allowedImages, annotations, apiVersion, imagePullPolicy, imagePullSecrets, immutableConfigMaps, ingress, kind, labels, listenAddress, metadata, namespace, podDisruptionBudget, resources, route, server, service, statusFields, templates, theme, ttl, viewerImage",
				`input.viewerImage: Invalid value: "A": write an image reference such as docker.io/peaceiris/mdbook:v0.5.0`,
			},
		},
		"EveryServiceType": {
			reason: "The remaining values of the Input are valid",
			xr:     `{metadata: {name: a, namespace: b}, spec: {` + fine + `}}`,
			input:  `{service: {type: NodePort}, imagePullPolicy: Never, ttl: 0s, statusFields: [url], namespace: c}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := &fnv1.RunFunctionRequest{Observed: &fnv1.State{Composite: viewtest.Resource(t, tc.xr)}}
			if tc.input != "" {
				in.Input = viewtest.Object(t, tc.input)
			}
			req, err := request.Read(viewtest.Encode(t, in))
			if err != nil {
				t.Fatalf("cannot read the request: %v", err)
			}
			got := viewtest.Messages(Request(req))
			slices.Sort(got)

			for _, want := range tc.want {
				if !slices.Contains(got, want) {
					t.Errorf("\n%s\nmissing: %s", tc.reason, want)
				}
			}
			// These details come from apimachinery and are not compared.
			theirs := func(s string) bool {
				return strings.HasPrefix(s, "input.imagePullSecrets[0].name") || strings.HasPrefix(s, "input.service.annotations") ||
					strings.HasPrefix(s, "input.labels: ") || strings.HasPrefix(s, "input.annotations: ") || strings.HasPrefix(s, "input.namespace: ")
			}
			for _, message := range got {
				if !slices.Contains(tc.want, message) && (name != "Input" || !theirs(message)) {
					t.Errorf("\n%s\nunexpected: %s", tc.reason, message)
				}
			}
		})
	}
}

func TestValidateFiles(t *testing.T) {
	const tooLarge = "spec.markdowns: Forbidden: shorten the files or split the book: the text has more than 1 MiB (1048576 bytes)"
	const together = "spec.binaries: Forbidden: shorten the files or split the book: markdowns and binaries together have more than 1 MiB (1048576 bytes)"
	// Three bytes are four characters in base64, and 3 * 349,525 is one byte less than
	// 1 MiB.
	const most = 349_525

	cases := map[string]struct {
		reason string
		spec   view.Spec
		want   []string
	}{
		"Most":       {reason: "All texts together can be as large as a ConfigMap", spec: view.Spec{Markdowns: map[string]string{"SUMMARY.md": strings.Repeat("a", 1<<20-3), "b.md": "bbb"}}},
		"OneMore":    {reason: "One byte more does not fit into a ConfigMap", spec: view.Spec{Markdowns: map[string]string{"SUMMARY.md": strings.Repeat("a", 1<<20-3), "b.md": "bbbb"}}, want: []string{tooLarge}},
		"Bytes":      {reason: "Bytes are counted, not characters as in CEL", spec: view.Spec{Markdowns: map[string]string{"SUMMARY.md": strings.Repeat("ペ", 1<<19)}}, want: []string{tooLarge}},
		"TooMany":    {reason: "mdBook is slow with many files", spec: view.Spec{Markdowns: many(1001)}, want: []string{"spec.markdowns: Too many: 1001: must have at most 1000 items"}},
		"MostMany":   {reason: "1000 files are valid", spec: view.Spec{Markdowns: many(1000)}},
		"Together":   {reason: "Both texts and binaries count as files", spec: view.Spec{Markdowns: many(999), Binaries: map[string]string{"a.png": "", "b.png": ""}}, want: []string{"spec.binaries: Forbidden: split the book: spec.markdowns and spec.binaries together have 1001 files, and a book has at most 1000"}},
		"Binaries":   {reason: "Binaries count without base64", spec: view.Spec{Markdowns: map[string]string{"SUMMARY.md": "a"}, Binaries: map[string]string{"a.png": strings.Repeat("AAAA", most)}}},
		"Padding":    {reason: "Padding and line breaks do not count", spec: view.Spec{Markdowns: map[string]string{"SUMMARY.md": "a"}, Binaries: map[string]string{"a.png": strings.Repeat("AAAA\r\n", most-1) + "AA==\n", "b.png": "AA=="}}},
		"BinariesUp": {reason: "One byte more does not fit into a ConfigMap", spec: view.Spec{Markdowns: map[string]string{"SUMMARY.md": "aa"}, Binaries: map[string]string{"a.png": strings.Repeat("AAAA", most)}}, want: []string{together}},
		"Summary":    {reason: "SUMMARY.md must be text", spec: view.Spec{Markdowns: map[string]string{"a.md": ""}, Binaries: map[string]string{"SUMMARY.md": ""}, Summary: "Auto"}, want: []string{`spec.binaries: Forbidden: move SUMMARY.md to markdowns, as text`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, viewtest.Messages(report.ProblemsOf("", files.Validate(tc.spec, field.NewPath("spec"))))); diff != "" {
				t.Errorf("\n%s\nvalidateFiles(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// many returns n files.
func many(n int) map[string]string {
	files := map[string]string{"SUMMARY.md": ""}
	for i := range n - 1 {
		files[strings.Repeat("a", i%200+1)+"-"+strings.Repeat("b", i/200)] = ""
	}

	return files
}
