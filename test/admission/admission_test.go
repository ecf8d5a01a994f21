package admission_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	xpv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	"github.com/google/go-cmp/cmp"
)

// entries returns n entries of a map in YAML, for which the format has their number.
func entries(n int, format string) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(format, i))
	}

	return strings.Join(all, ", ")
}

// rejections returns a spec for each kind of error, by its name in docs/admission.md.
func rejections(t *testing.T) map[string]map[string]any {
	t.Helper()
	x := func(n int) string { return strings.Repeat("x", n) }
	all := map[string]map[string]any{}
	for _, r := range []struct{ name, spec string }{
		{"No `markdowns`", "markdowns: null"},
		{"Empty `markdowns`", "markdowns: {}"},
		{"No `SUMMARY.md`", "markdowns: {page.md: ''}"},
		{"More than 1,000 files", "markdowns: {SUMMARY.md: '', " + entries(1000, "%d.md: ''") + "}"},
		{
			"A text file with the name of a folder of binaries",
			"{markdowns: {SUMMARY.md: '', img: ''}, binaries: {img/logo.png: ''}}",
		},
		{
			"A binary with the name of a folder of text files",
			"{markdowns: {SUMMARY.md: '', a" + strings.Repeat("/a", 30) + "/b.md: ''}, binaries: {a" + strings.Repeat("/a", 30) + ": ''}}",
		},
		{"More than 1,048,576 characters of text", "markdowns: {SUMMARY.md: '', long.md: " + x(1<<20+1) + "}"},
		{"0 replicas", "replicas: 0"},
		{"More than 5 replicas", "replicas: 100"},
		{"A `viewerImage` that is not a valid image reference", "viewerImage: Peaceiris/mdBook"},
		{"A `viewerImage` of more than 512 characters", "viewerImage: " + x(513)},
		{"A `host` that is not a valid host name", "host: Handbook_1.example.com"},
		{"A `host` of more than 253 characters", "host: " + strings.Repeat("a.", 126) + "ab"},
		{
			"A resource other than `cpu`, `memory` and `ephemeral-storage` in `requests`",
			"resources: {requests: {hugepages-2Mi: 2Mi}}",
		},
		{
			"A resource other than `cpu`, `memory` and `ephemeral-storage` in `limits`",
			"resources: {limits: {nvidia.com/gpu: 1}}",
		},
		{"More than 3 resources in `requests`", "resources: {requests: {a/0: 1, a/1: 1, a/2: 1, a/3: 1}}"},
		{"More than 3 resources in `limits`", "resources: {limits: {a/0: 1, a/1: 1, a/2: 1, a/3: 1}}"},
		{"A request that is not a valid quantity", "resources: {requests: {memory: 64 MB}}"},
		{"A limit below zero", "resources: {limits: {cpu: -1}}"},
		{"A request without quotes that is not a whole number", "resources: {requests: {cpu: 0.5}}"},
		{"A request of more than 32 characters", "resources: {requests: {memory: '" + strings.Repeat("1", 33) + "'}}"},
		{"A limit of more than 32 characters", "resources: {limits: {memory: '" + strings.Repeat("1", 33) + "'}}"},
		{"A request above the limit", "resources: {requests: {memory: 1Gi}, limits: {memory: 512Mi}}"},
		{"More than 1,000 binaries", "binaries: {" + entries(1001, "%d.png: ''") + "}"},
		{"A file that is both text and binary", "binaries: {page.md: ''}"},
		{"A binary named `SUMMARY.md`", "{markdowns: {page.md: ''}, summary: Auto, binaries: {SUMMARY.md: ''}}"},
		{"More than 1 MiB of text and binaries together", "binaries: {a.png: " + strings.Repeat("AAAA", (1<<20)/3) + "}"},
		{"An unknown `summary`", "summary: auto"},
		{"A `title` of more than 256 characters", "book: {title: " + x(257) + "}"},
		{"A `title` with a control character", `book: {title: "a\nb"}`},
		{"A `description` of more than 1,024 characters", "book: {description: " + x(1025) + "}"},
		{"A `description` with a control character", `book: {description: "a\tb"}`},
		{"More than 32 `authors`", "book: {authors: [" + strings.Repeat("a, ", 33) + "]}"},
		{"An author of more than 256 characters", "book: {authors: [" + x(257) + "]}"},
		{"An author with a control character", `book: {authors: ["a\nb"]}`},
		{"A `language` that is not a valid tag", "book: {language: 日本語}"},
		{"A `language` of more than 35 characters", "book: {language: " + strings.Repeat("en-", 11) + "abc}"},
		{"An unknown `textDirection`", "book: {textDirection: auto}"},
		{"An unknown `defaultTheme`", "book: {defaultTheme: dark}"},
		{"An unknown `preferredDarkTheme`", "book: {preferredDarkTheme: dark}"},
		{"A redirect of something other than a page", "book: {redirects: {/../old: /new.html}}"},
		{"A redirect to neither a page nor a URL", "book: {redirects: {/old.html: javascript:alert(1)}}"},
		{"A redirect to more than 512 characters", "book: {redirects: {/old.html: " + x(513) + "}}"},
		{"More than 300 redirects", "book: {redirects: {" + entries(301, "/%d.html: /") + "}}"},
		{"More than 32 KiB of redirects", "book: {redirects: {" + entries(80, "/%d.html: "+x(500)) + "}}"},
		{"A `repositoryUrl` that is not an https URL", "book: {repositoryUrl: git@example.com:team/docs}"},
		{"A `repositoryUrl` of more than 1,024 characters", "book: {repositoryUrl: https://example.com/" + x(1024) + "}"},
		{
			"An `editUrlTemplate` that is not an https URL with `{path}`",
			"book: {editUrlTemplate: https://example.com/edit/}",
		},
		{
			"An `editUrlTemplate` of more than 1,024 characters",
			"book: {editUrlTemplate: 'https://example.com/{path}" + x(1024) + "'}",
		},
		{"Empty `markdownsFrom`", "markdownsFrom: []"},
		{"More than 8 entries in `markdownsFrom`", "markdownsFrom: [" + strings.Repeat("{configMap: {name: a}}, ", 9) + "]"},
		{"An entry without a source", "markdownsFrom: [{path: a}]"},
		{
			"An entry with two sources",
			"{markdowns: null, markdownsFrom: [{image: {reference: a.b/c}, ociRepository: {name: d}}]}",
		},
		{"A `configMap` without a name", "markdownsFrom: [{configMap: {}}]"},
		{"A `configMap` with an invalid name", "markdownsFrom: [{configMap: {name: Guide}}]"},
		{"A `configMap` with a name of more than 253 characters", "markdownsFrom: [{configMap: {name: " + x(254) + "}}]"},
		{"A `path` that is not a folder of the book", "markdownsFrom: [{configMap: {name: a}, path: ../guide}]"},
		{"A `path` of more than 255 characters", "markdownsFrom: [{configMap: {name: a}, path: " + x(256) + "}]"},
		{"An `image` with a `path`", "{markdowns: null, markdownsFrom: [{image: {reference: a.b/c}, path: a}]}"},
		{"An `image` with other files", "markdownsFrom: [{image: {reference: a.b/c}}]"},
		{"An `image` with `summary: Auto`", "{markdowns: null, summary: Auto, markdownsFrom: [{image: {reference: a.b/c}}]}"},
		{"An `image` without a reference", "{markdowns: null, markdownsFrom: [{image: {}}]}"},
		{
			"A `reference` that is not a valid image reference",
			"{markdowns: null, markdownsFrom: [{image: {reference: Book}}]}",
		},
		{
			"A `reference` of more than 512 characters",
			"{markdowns: null, markdownsFrom: [{image: {reference: " + x(513) + "}}]}",
		},
		{"An unknown `pullPolicy`", "{markdowns: null, markdownsFrom: [{image: {reference: a.b/c, pullPolicy: Sometimes}}]}"},
		{"An `ociRepository` with a `path`", "{markdowns: null, markdownsFrom: [{ociRepository: {name: a}, path: a}]}"},
		{"An `ociRepository` with other files", "markdownsFrom: [{ociRepository: {name: a}}]"},
		{
			"An `ociRepository` with `summary: Auto`",
			"{markdowns: null, summary: Auto, markdownsFrom: [{ociRepository: {name: a}}]}",
		},
		{"An `ociRepository` without a name", "{markdowns: null, markdownsFrom: [{ociRepository: {}}]}"},
		{"An `ociRepository` with an invalid name", "{markdowns: null, markdownsFrom: [{ociRepository: {name: Handbook}}]}"},
		{
			"An `ociRepository` with a name of more than 253 characters",
			"{markdowns: null, markdownsFrom: [{ociRepository: {name: " + x(254) + "}}]}",
		},
	} {
		all[r.name] = spec(t, r.spec)
	}
	for name, wrong := range badNames {
		text, binary := files(nil), map[string]string{}
		for _, file := range wrong {
			text[file], binary[file] = "", ""
		}
		all[name] = with(map[string]any{"markdowns": text})
		all[ofBinary(name)] = with(map[string]any{"binaries": binary})
	}

	return all
}

// badNames are names of files that neither text files nor binaries can have.
var badNames = map[string][]string{
	"An empty file name":                          {""},
	"A file name of more than 1,024 bytes":        {strings.Repeat(strings.Repeat("あ", 85)+"/", 4) + "page.md"},
	"A file name with a control character":        {"a\u0085b.md"},
	"A file name with a backslash":                {`guide\page.md`},
	"A file name that begins with `/`":            {"/page.md"},
	"A file name that ends with `/`":              {"guide/"},
	"A file name that begins with `..`":           {"..data"},
	"A file more than 31 folders deep":            {strings.Repeat("a/", 32) + "b.md"},
	"A file name with `//`":                       {"guide//page.md"},
	"A file name with the folder `.` or `..`":     {"guide/../page.md"},
	"A file with the name of a folder":            {"guide", "guide/intro/page.md"},
	"A file with the name of a folder of mdBook":  {"css"},
	"A file named `toc.js`":                       {"toc.js"},
	"A folder with the name of a file of mdBook":  {"css/chrome.css/page.txt"},
	"A folder or file name longer than 255 bytes": {strings.Repeat("あ", 86) + "/page.md"},
}

func ofBinary(name string) string { return name + ", of a binary" }

// documented returns the messages in docs/admission.md by the name of the error.
func documented(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	rows := regexp.MustCompile("(?m)^\\| (.+) \\| `(.+)` \\|$")
	for _, row := range rows.FindAllStringSubmatch(readPage(t, "../../docs/admission.md"), -1) {
		all[row[1]] = row[2:]
		if badNames[row[1]] != nil {
			all[ofBinary(row[1])] = []string{strings.Replace(row[2], "spec.markdowns", "spec.binaries", 1)}
		}
	}

	return all
}

// TestRejected checks that docs/admission.md has what the API server prints for each error.
func TestRejected(t *testing.T) {
	a, got := serveFile(t, definition), map[string][]string{}
	for name, rejected := range rejections(t) {
		_, got[name] = a.create(t, view(rejected))
	}
	if diff := cmp.Diff(documented(t), got); diff != "" {
		t.Errorf("docs/admission.md: -want, +got:\n%s", diff)
	}
}

func TestAllErrorsAtOnce(t *testing.T) {
	_, got := serveFile(t, definition).create(t, view(spec(t, `{markdowns: {/a: '', a: '', a/b: '', '..': ''}, replicas: 9,
		viewerImage: A, resources: {requests: {cpu: many, gpu: '1'}, limits: {cpu: '1e999999999'}}}`)))
	if len(got) != 9 {
		t.Errorf("create: want one message for each of 9 errors, got %d:\n%s", len(got), strings.Join(got, "\n"))
	}
}

// The largest books that the API server admits have 1,000 files and 1 MiB of text, so the rules
// cannot cost more: files with the longest names, and files in folders.
var (
	wide = "markdowns: {SUMMARY.md: '', " + entries(999, "'%0253d': "+strings.Repeat("x", 1049)) + "}"
	deep = "markdowns: {SUMMARY.md: '', " +
		entries(999, "with-folders/of/each/%[1]d/more/than/a-few/and/page-%[1]d.md: "+strings.Repeat("x", 1000)) + "}"
)

func TestAdmitted(t *testing.T) {
	const summary = "markdowns: {SUMMARY.md: ''"
	cases := map[string]struct{ reason, spec string }{
		"Small":       {"Only files are required.", ""},
		"SummaryOnly": {"A book need not have chapters yet.", summary + "}"},
		"Names": {
			"Every key of a ConfigMap can be a file name.",
			summary + ", .nojekyll: '', A-b_c.1.md: '', print.md: '', a..b: '', '-': ''}",
		},
		"Wide":         {"The largest book stays within the CEL cost budget.", wide},
		"Deep":         {"The largest book with many folders stays within the CEL cost budget.", deep},
		"FullSize":     {"A ConfigMap can hold 1 MiB.", "markdowns: {SUMMARY.md: " + strings.Repeat("x", 1<<20) + "}"},
		"FewReplicas":  {"1 replica is the minimum.", "replicas: 1"},
		"MostReplicas": {"5 replicas are the maximum.", "replicas: 5"},
		"ShortImage":   {"The sample of the tutorial uses this image.", "viewerImage: peaceiris/mdbook:latest"},
		"Host":         {"A host name has letters, digits, dashes and dots.", "host: 1-handbook.team-a.books.example.com"},
		"Defaults":     {"Templates of Helm may write an empty string for a default.", "{host: '', viewerImage: ''}"},
		"ConfigMaps": {
			"SUMMARY.md can be in a ConfigMap, without markdowns.",
			"{markdowns: null, markdownsFrom: [{configMap: {name: a.b-c}, path: ''}, {configMap: {name: a}, path: 第一章/a..b}]}",
		},
		"AndConfigMaps": {
			"SUMMARY.md can be in a ConfigMap, with markdowns.",
			"{markdowns: {a.md: ''}, markdownsFrom: [{configMap: {name: a}}]}",
		},
		"OCIRepository": {
			"An OCIRepository names the image of the whole book.",
			"{markdowns: null, markdownsFrom: [{ociRepository: {name: hand.book}, path: ''}]}",
		},
		"BookImage": {
			"An image holds the whole book.",
			"{markdowns: null, markdownsFrom: [{image: {reference: a.b/c, pullPolicy: Always}, path: ''}]}",
		},
		"Resources": {
			"A limit can equal its request in another notation.",
			"resources: {requests: {cpu: 100m, memory: 1Gi, ephemeral-storage: 0}, " +
				"limits: {cpu: '.1', memory: 1073741824, ephemeral-storage: '1e9'}}",
		},
		"RequestOnly": {"A request without a limit is complete.", "resources: {requests: {memory: 64Mi}}"},
		"OtherResources": {
			"A request is compared with the limit of the same resource.",
			"resources: {requests: {memory: 1Gi}, limits: {cpu: 1}}",
		},
	}
	a := serveFile(t, definition)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, got := a.create(t, view(spec(t, tc.spec))); got != nil {
				t.Errorf("%s\ncreate: want admitted, got:\n%s", tc.reason, strings.Join(got, "\n"))
			}
		})
	}
}

// TestEveryRuleIsTested removes each rule of the XRD in turn, and checks that at least
// one rejection changes. Otherwise nobody would notice that the rule is missing.
func TestEveryRuleIsTested(t *testing.T) {
	specs, want := rejections(t), documented(t)
	for i := 0; ; i++ {
		xrd, schema := read[xpv1.CompositeResourceDefinition](t, definition), map[string]any{}
		raw := &xrd.Spec.Versions[0].Schema.OpenAPIV3Schema.Raw
		must(t, json.Unmarshal(*raw, &schema))
		all := rules("spec", schema["properties"].(map[string]any)["spec"].(map[string]any))
		if i == len(all) {
			if i < 20 {
				t.Errorf("found only %d rules", i)
			}

			return
		}
		all[i].remove()
		var err error
		*raw, err = json.Marshal(schema)
		must(t, err)
		a, err := serve(xrd)
		if err != nil {
			continue // Without this limit, another rule is too expensive.
		}
		if !slices.ContainsFunc(slices.Collect(maps.Keys(specs)), func(name string) bool {
			_, got := a.create(t, view(specs[name]))
			return !cmp.Equal(want[name], got)
		}) {
			t.Errorf("no test fails without %s", all[i].name)
		}
	}
}

// A rule is a rule of a schema, which remove removes.
type rule struct {
	name   string
	remove func()
}

// rules returns the rules of a schema, always in the same order.
func rules(path string, schema map[string]any) []rule {
	const cel = "x-kubernetes-validations"
	var all []rule
	for _, bound := range []string{"required", "minimum", "maximum", "maxLength", "maxProperties", "minItems", "maxItems", "enum"} {
		if _, ok := schema[bound]; ok {
			all = append(all, rule{path + " " + bound, func() { delete(schema, bound) }})
		}
	}
	expressions, _ := schema[cel].([]any)
	for i, e := range expressions {
		remove := func() { schema[cel] = slices.Delete(expressions, i, i+1) }
		all = append(all, rule{fmt.Sprint(path, " ", e.(map[string]any)["message"]), remove})
	}
	for _, of := range []string{"additionalProperties", "items"} {
		if items, ok := schema[of].(map[string]any); ok {
			all = append(all, rules(path+"[]", items)...)
		}
	}
	children, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(children)) {
		all = append(all, rules(path+"."+name, children[name].(map[string]any))...)
	}

	return all
}
