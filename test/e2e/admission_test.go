package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// row of the table in docs/admission.md: what is wrong, and what the API server
// says.
var row = regexp.MustCompile("(?m)^\\| (.*) \\| `(spec.*)` \\|$")

// Admission shows that the API server refuses every bad spec with the message
// that the documentation shows.
func Admission(k *kit) {
	documented := row.FindAllStringSubmatch(k.read("../../docs/admission.md"), -1)
	if len(documented) < 20 {
		k.Fatalf("the documentation has %d messages, which cannot be all", len(documented))
	}
	specs := badSpecs()
	for _, d := range documented {
		wrong, message := d[1], d[2]
		spec, ok := specs[wrong]
		if !ok {
			k.Errorf("no spec for the documented row %q", wrong)
			continue
		}
		delete(specs, wrong)
		u := book("bad")
		u.Object["spec"] = spec
		err := k.tryApply(u)
		if err == nil {
			k.Errorf("%s: the API server takes it", wrong)
			k.must(k.Delete(k.Context(), inNamespace(u, k.namespace)))

			continue
		}
		if !strings.Contains(err.Error(), message) {
			k.Errorf("%s: the API server says\n%s\nnot\n%s", wrong, err, message)
		}
	}
	for _, wrong := range sorted(specs) {
		k.Errorf("the documentation has no row %q", wrong)
	}
}

// AdmissionOfTutorial shows that the cases of the tutorial's own webhook have
// the outcome that they have there.
func AdmissionOfTutorial(k *kit) {
	for name, spec := range map[string]map[string]any{
		"no SUMMARY.md":   {"markdowns": map[string]any{"page.md": "# Page\n"}, "replicas": int64(3)},
		"empty markdowns": {"markdowns": map[string]any{}},
		"replicas 100":    {"markdowns": map[string]any{"SUMMARY.md": ""}, "replicas": int64(100)},
	} {
		u := book("tutorial")
		u.Object["spec"] = spec
		if err := k.tryApply(u); !apierrors.IsInvalid(err) {
			k.Errorf("%s: want it refused as invalid, got %v", name, err)
		}
	}

	u := book("defaults")
	k.apply(u)
	k.settle("defaults")
	c := k.children("defaults")
	if diff := cmp.Diff(int32(1), *c.deployment.Spec.Replicas); diff != "" {
		k.Errorf("default replicas: -want +got:\n%s", diff)
	}
	if diff := cmp.Diff("docker.io/peaceiris/mdbook:v0.5.0", c.deployment.Spec.Template.Spec.Containers[0].Image); diff != "" {
		k.Errorf("default image: -want +got:\n%s", diff)
	}
	v, err := k.view("defaults")
	k.must(err)
	k.check(v.is("Degraded", metav1.ConditionFalse, "AsExpected"))
}

// badSpecs has a spec for each row of docs/admission.md.
func badSpecs() map[string]map[string]any {
	book := func(more ...func(map[string]any)) map[string]any {
		return book("", more...).Object["spec"].(map[string]any)
	}
	resources := func(kind string, r map[string]any) map[string]any {
		return book(func(s map[string]any) { s["resources"] = map[string]any{kind: r} })
	}
	many := func(n int) map[string]any {
		m := map[string]any{}
		for i := range n {
			m[fmt.Sprintf("example.com/%d", i)] = int64(1)
		}

		return m
	}
	set := func(name string, value any) func(map[string]any) {
		return func(s map[string]any) { s[name] = value }
	}
	setting := func(name string, value any) map[string]any {
		return book(set("book", map[string]any{name: value}))
	}

	return map[string]map[string]any{
		"Absent `markdowns`": {},
		"Empty `markdowns`":  {"markdowns": map[string]any{}},
		"No `SUMMARY.md`":    {"markdowns": map[string]any{"page.md": ""}},
		"More than 1,000 files": book(func(s map[string]any) {
			for i := range 999 {
				file(fmt.Sprintf("%d.md", i), "")(s)
			}
		}),
		"An empty file name":                      book(file("", "")),
		"A file name of more than 1,024 bytes":    book(file(strings.Repeat(strings.Repeat("あ", 85)+"/", 4)+"page.md", "")),
		"A file name with a control character":    book(file("a\u0001b.md", "")),
		"A file name with a backslash":            book(file(`guide\page.md`, "")),
		"A file name that begins with `/`":        book(file("/page.md", "")),
		"A file name that ends with `/`":          book(file("guide/", "")),
		"A file name that begins with `..`":       book(file("..data", "")),
		"A file more than 31 folders deep":        book(file(strings.Repeat("a/", 32)+"b.md", "")),
		"A file name with `//`":                   book(file("guide//page.md", "")),
		"A file name with the folder `.` or `..`": book(file("guide/../page.md", "")),
		"A folder or file name above 255 bytes":   book(file(strings.Repeat("あ", 86)+"/page.md", "")),
		"The file name `print.md`":                book(file("print.md", "")),
		"More than 1,048,576 characters of text":  book(file("long.md", strings.Repeat("x", 1<<20))),
		"More than 1,000 binaries": book(func(s map[string]any) {
			all := map[string]any{}
			for i := range 1001 {
				all[fmt.Sprintf("%d.png", i)] = ""
			}
			s["binaries"] = all
		}),
		"A file that is both text and binary":                                         book(set("binaries", map[string]any{"page.md": ""})),
		"More than 1 MiB of text and binaries together":                               book(set("binaries", map[string]any{"a.png": strings.Repeat("AAAA", (1<<20)/3)})),
		"Another `summary`":                                                           book(set("summary", "auto")),
		"A `title` of more than 256 characters":                                       setting("title", strings.Repeat("x", 257)),
		"A `title` with a control character":                                          setting("title", "a\nb"),
		"A `description` of more than 1,024 characters":                               setting("description", strings.Repeat("x", 1025)),
		"A `description` with a control character":                                    setting("description", "a\tb"),
		"More than 32 `authors`":                                                      setting("authors", slices.Repeat([]any{"x"}, 33)),
		"An author of more than 256 characters":                                       setting("authors", []any{strings.Repeat("x", 257)}),
		"An author with a control character":                                          setting("authors", []any{"a\nb"}),
		"A `language` that is no tag":                                                 setting("language", "日本語"),
		"A `language` of more than 35 characters":                                     setting("language", strings.Repeat("en-", 11)+"abc"),
		"Another `textDirection`":                                                     setting("textDirection", "auto"),
		"Another `defaultTheme`":                                                      setting("defaultTheme", "dark"),
		"Another `preferredDarkTheme`":                                                setting("preferredDarkTheme", "dark"),
		"0 replicas":                                                                  book(replicas(0)),
		"More than 5 replicas":                                                        book(replicas(100)),
		"A `viewerImage` that is no image reference":                                  book(image("Peaceiris/mdBook")),
		"A `host` that is no host name":                                               book(func(s map[string]any) { s["host"] = "Handbook_1.example.com" }),
		"A `host` of more than 253 characters":                                        book(func(s map[string]any) { s["host"] = strings.Repeat("a.", 126) + "ab" }),
		"A `viewerImage` of more than 512 characters":                                 book(image(strings.Repeat("x", 513))),
		"Another resource than `cpu`, `memory` and `ephemeral-storage` in `requests`": resources("requests", map[string]any{"hugepages-2Mi": "2Mi"}),
		"Another resource than `cpu`, `memory` and `ephemeral-storage` in `limits`":   resources("limits", map[string]any{"nvidia.com/gpu": int64(1)}),
		"More than 3 resources in `requests`":                                         resources("requests", many(4)),
		"More than 3 resources in `limits`":                                           resources("limits", many(4)),
		"A request that is no quantity":                                               resources("requests", map[string]any{"memory": "64 MB"}),
		"A limit below zero":                                                          resources("limits", map[string]any{"cpu": int64(-1)}),
		"A request without quotes that is no whole number":                            resources("requests", map[string]any{"cpu": 0.5}),
		"A request of more than 32 characters":                                        resources("requests", map[string]any{"memory": strings.Repeat("1", 33)}),
		"A limit of more than 32 characters":                                          resources("limits", map[string]any{"memory": strings.Repeat("1", 33)}),
		"A request above the limit": book(func(s map[string]any) {
			s["resources"] = map[string]any{"requests": map[string]any{"memory": "1Gi"}, "limits": map[string]any{"memory": "512Mi"}}
		}),
		"A binary named `SUMMARY.md`": {
			"markdowns": map[string]any{"page.md": ""}, "summary": "Auto", "binaries": map[string]any{"SUMMARY.md": ""},
		},
	}
}
