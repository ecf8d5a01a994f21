package admission_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// many returns n files in addition to the two of a small book.
func many(n int) map[string]string {
	more := map[string]string{}
	for i := range n {
		more[fmt.Sprintf("%d.md", i)] = ""
	}

	return files(more)
}

// wide returns a book of 1,000 files with the longest names and 1 MiB of text: the
// largest book that the API server admits, so the rules cannot cost more.
func wide() map[string]string {
	book := files(nil)
	for i := range 998 {
		book[fmt.Sprintf("%0253d", i)] = strings.Repeat("x", 1050)
	}

	return book
}

func requests(r map[string]any) map[string]any {
	return with(map[string]any{"resources": map[string]any{"requests": r}})
}

func limits(r map[string]any) map[string]any {
	return with(map[string]any{"resources": map[string]any{"limits": r}})
}

// deep returns the widest book, with its files in folders.
func deep() map[string]string {
	book := files(nil)
	for i := range 998 {
		book[fmt.Sprintf("a-folder/with-folders/of/each/%d/more/than/a-few/and/page-%d.md", i%50, i)] = strings.Repeat("x", 1000)
	}

	return book
}

// A rejection is a spec that the API server rejects, and its message.
type rejection struct {
	spec map[string]any
	want string
}

// rejections returns a spec for each kind of error, by its name in docs/admission.md,
// which has the same messages.
func rejections() map[string]rejection {
	all := map[string]rejection{
		"No `markdowns`": {
			spec: map[string]any{},
			want: `spec.markdowns: Required value: add SUMMARY.md, which lists the chapters`,
		},
		"Empty `markdowns`": {
			spec: map[string]any{"markdowns": map[string]string{}},
			want: `spec.markdowns: Required value: add SUMMARY.md, which lists the chapters`,
		},
		"No `SUMMARY.md`": {
			spec: map[string]any{"markdowns": map[string]string{"page.md": ""}},
			want: `spec.markdowns: Required value: add SUMMARY.md, which lists the chapters`,
		},
		"More than 1,000 files": {
			spec: map[string]any{"markdowns": many(999)},
			want: `spec.markdowns: Too many: 1001: must have at most 1000 items`,
		},
		"A file with the name of a folder": {
			spec: map[string]any{"markdowns": files(map[string]string{"guide": "", "guide/intro/page.md": ""})},
			want: `spec.markdowns: Invalid value: rename file "guide/intro/page.md": its folder is also a file`,
		},
		"A text file with the name of a folder of binaries": {
			spec: with(map[string]any{"markdowns": files(map[string]string{"img": ""}), "binaries": map[string]string{"img/logo.png": ""}}),
			want: `spec.binaries: Invalid value: rename file "img/logo.png": its folder is also a file`,
		},
		"A binary with the name of a folder of text files": {
			spec: with(map[string]any{"markdowns": files(map[string]string{strings.Repeat("a/", 31) + "b.md": ""}), "binaries": map[string]string{"a" + strings.Repeat("/a", 30): ""}}),
			want: `spec.markdowns: Invalid value: rename file "` + strings.Repeat("a/", 31) + `b.md": its folder is also a file`,
		},
		"More than 1,048,576 characters of text": {
			spec: map[string]any{"markdowns": files(map[string]string{"long.md": strings.Repeat("x", 1<<20)})},
			want: `spec.markdowns: Invalid value: shorten the files or split the book: the text has more than 1 MiB (1048576 bytes)`,
		},
		"0 replicas": {
			spec: with(map[string]any{"replicas": 0}),
			want: `spec.replicas: Invalid value: 0: spec.replicas in body should be greater than or equal to 1`,
		},
		"More than 5 replicas": {
			spec: with(map[string]any{"replicas": 100}),
			want: `spec.replicas: Invalid value: 100: spec.replicas in body should be less than or equal to 5`,
		},
		"A `viewerImage` that is not a valid image reference": {
			spec: with(map[string]any{"viewerImage": "Peaceiris/mdBook"}),
			want: `spec.viewerImage: Invalid value: "Peaceiris/mdBook": write an image reference such as docker.io/peaceiris/mdbook:v0.5.0`,
		},
		"A `host` that is not a valid host name": {
			spec: with(map[string]any{"host": "Handbook_1.example.com"}),
			want: `spec.host: Invalid value: "Handbook_1.example.com": write a host name such as handbook.example.com`,
		},
		"A `host` of more than 253 characters": {
			spec: with(map[string]any{"host": strings.Repeat("a.", 126) + "ab"}),
			want: `spec.host: Too long: may not be more than 253 bytes`,
		},
		"A `viewerImage` of more than 512 characters": {
			spec: with(map[string]any{"viewerImage": strings.Repeat("x", 513)}),
			want: `spec.viewerImage: Too long: may not be more than 512 bytes`,
		},
		"A resource other than `cpu`, `memory` and `ephemeral-storage` in `requests`": {
			spec: requests(map[string]any{"hugepages-2Mi": "2Mi"}),
			want: `spec.resources.requests: Invalid value: use only cpu, memory and ephemeral-storage: the platform team can set hugepages-2Mi in the Input's templates.deployment`,
		},
		"A resource other than `cpu`, `memory` and `ephemeral-storage` in `limits`": {
			spec: limits(map[string]any{"nvidia.com/gpu": 1}),
			want: `spec.resources.limits: Invalid value: use only cpu, memory and ephemeral-storage: the platform team can set nvidia.com/gpu in the Input's templates.deployment`,
		},
		"More than 3 resources in `requests`": {
			spec: requests(quantities(4)),
			want: `spec.resources.requests: Too many: 4: must have at most 3 items`,
		},
		"More than 3 resources in `limits`": {
			spec: limits(quantities(4)),
			want: `spec.resources.limits: Too many: 4: must have at most 3 items`,
		},
		"A request that is not a valid quantity": {
			spec: requests(map[string]any{"memory": "64 MB"}),
			want: `spec.resources.requests[memory]: Invalid value: "64 MB": write a quantity of zero or more, such as "100m" of cpu or "64Mi" of memory`,
		},
		"A limit below zero": {
			spec: limits(map[string]any{"cpu": -1}),
			want: `spec.resources.limits[cpu]: Invalid value: -1: write a quantity of zero or more, such as "100m" of cpu or "64Mi" of memory`,
		},
		"A request without quotes that is not a whole number": {
			spec: requests(map[string]any{"cpu": 0.5}),
			want: `spec.resources.requests.cpu: Invalid value: "number": spec.resources.requests.cpu in body must be of type integer,string: "number"`,
		},
		"A request of more than 32 characters": {
			spec: requests(map[string]any{"memory": strings.Repeat("1", 33)}),
			want: `spec.resources.requests.memory: Too long: may not be more than 32 bytes`,
		},
		"A limit of more than 32 characters": {
			spec: limits(map[string]any{"memory": strings.Repeat("1", 33)}),
			want: `spec.resources.limits.memory: Too long: may not be more than 32 bytes`,
		},
		"A request above the limit": {
			spec: with(map[string]any{"resources": map[string]any{
				"requests": map[string]any{"memory": "1Gi"}, "limits": map[string]any{"memory": "512Mi"},
			}}),
			want: `spec.resources: Invalid value: raise the limit or lower the request: a request is above its limit`,
		},
		"More than 1,000 binaries": {
			spec: with(map[string]any{"binaries": binaries(1001)}),
			want: `spec.binaries: Too many: 1001: must have at most 1000 items`,
		},
		"A file that is both text and binary": {
			spec: with(map[string]any{"binaries": map[string]string{"page.md": ""}}),
			want: `spec.binaries: Invalid value: remove file "page.md" from markdowns or binaries: it is in both`,
		},
		"A binary named `SUMMARY.md`": {
			spec: map[string]any{"markdowns": map[string]string{"page.md": ""}, "summary": "Auto", "binaries": map[string]string{"SUMMARY.md": ""}},
			want: `spec.binaries: Invalid value: move SUMMARY.md to markdowns, as text`,
		},
		"More than 1 MiB of text and binaries together": {
			spec: with(map[string]any{"binaries": map[string]string{"a.png": strings.Repeat("AAAA", (1<<20)/3)}}),
			want: `spec.binaries: Invalid value: shorten the files or split the book: markdowns and binaries together have more than 1 MiB (1048576 bytes)`,
		},
		"An unknown `summary`": {
			spec: with(map[string]any{"summary": "auto"}),
			want: `spec.summary: Unsupported value: "auto": supported values: "Required", "Auto"`,
		},
		"A `title` of more than 256 characters": {
			spec: settings(map[string]any{"title": strings.Repeat("x", 257)}),
			want: `spec.book.title: Too long: may not be more than 256 bytes`,
		},
		"A `title` with a control character": {
			spec: settings(map[string]any{"title": "a\nb"}),
			want: `spec.book.title: Invalid value: "a\nb": must not contain control characters`,
		},
		"A `description` of more than 1,024 characters": {
			spec: settings(map[string]any{"description": strings.Repeat("x", 1025)}),
			want: `spec.book.description: Too long: may not be more than 1024 bytes`,
		},
		"A `description` with a control character": {
			spec: settings(map[string]any{"description": "a\tb"}),
			want: `spec.book.description: Invalid value: "a\tb": must not contain control characters`,
		},
		"More than 32 `authors`": {
			spec: settings(map[string]any{"authors": make([]string, 33)}),
			want: `spec.book.authors: Too many: 33: must have at most 32 items`,
		},
		"An author of more than 256 characters": {
			spec: settings(map[string]any{"authors": []string{strings.Repeat("x", 257)}}),
			want: `spec.book.authors[0]: Too long: may not be more than 256 bytes`,
		},
		"An author with a control character": {
			spec: settings(map[string]any{"authors": []string{"a\nb"}}),
			want: `spec.book.authors[0]: Invalid value: "a\nb": must not contain control characters`,
		},
		"A `language` that is not a valid tag": {
			spec: settings(map[string]any{"language": "日本語"}),
			want: `spec.book.language: Invalid value: "日本語": must be a BCP 47 language tag: write "en", "ja" or "pt-BR"`,
		},
		"A `language` of more than 35 characters": {
			spec: settings(map[string]any{"language": strings.Repeat("en-", 11) + "abc"}),
			want: `spec.book.language: Too long: may not be more than 35 bytes`,
		},
		"An unknown `textDirection`": {
			spec: settings(map[string]any{"textDirection": "auto"}),
			want: `spec.book.textDirection: Unsupported value: "auto": supported values: "ltr", "rtl"`,
		},
		"An unknown `defaultTheme`": {
			spec: settings(map[string]any{"defaultTheme": "dark"}),
			want: `spec.book.defaultTheme: Unsupported value: "dark": supported values: "light", "rust", "coal", "navy", "ayu"`,
		},
		"An unknown `preferredDarkTheme`": {
			spec: settings(map[string]any{"preferredDarkTheme": "dark"}),
			want: `spec.book.preferredDarkTheme: Unsupported value: "dark": supported values: "light", "rust", "coal", "navy", "ayu"`,
		},
		"A redirect of something other than a page": {
			spec: redirects("/../old", "/new.html"),
			want: `spec.book.redirects: Invalid value: write paths of pages such as "/guide/old.html", without ?, # and %`,
		},
		"A redirect to neither a page nor a URL": {
			spec: redirects("/old.html", "javascript:alert(1)"),
			want: `spec.book.redirects[/old.html]: Invalid value: "javascript:alert(1)": must be a page or URL: write "/guide/new.html", "new.html#part" or "https://example.com/new", without spaces, quotes, <, >, & and =`,
		},
		"A redirect to more than 512 characters": {
			spec: redirects("/old.html", strings.Repeat("x", 513)),
			want: `spec.book.redirects./old.html: Too long: may not be more than 512 bytes`,
		},
		"More than 300 redirects": {
			spec: settings(map[string]any{"redirects": moved(301, "/")}),
			want: `spec.book.redirects: Too many: 301: must have at most 300 items`,
		},
		"More than 32 KiB of redirects": {
			spec: settings(map[string]any{"redirects": moved(80, strings.Repeat("x", 500))}),
			want: `spec.book.redirects: Invalid value: remove the oldest redirects: together they have more than 32 KiB (32768 bytes)`,
		},
		"A `repositoryUrl` that is not an https URL": {
			spec: settings(map[string]any{"repositoryUrl": "git@example.com:team/docs"}),
			want: `spec.book.repositoryUrl: Invalid value: "git@example.com:team/docs": must be an https URL, such as "https://github.com/team/docs"`,
		},
		"A `repositoryUrl` of more than 1,024 characters": {
			spec: settings(map[string]any{"repositoryUrl": "https://example.com/" + strings.Repeat("x", 1024)}),
			want: `spec.book.repositoryUrl: Too long: may not be more than 1024 bytes`,
		},
		"An `editUrlTemplate` that is not an https URL with `{path}`": {
			spec: settings(map[string]any{"editUrlTemplate": "https://example.com/edit/"}),
			want: `spec.book.editUrlTemplate: Invalid value: "https://example.com/edit/": must be an https URL with {path}, such as "https://github.com/team/docs/edit/main/{path}"`,
		},
		"An `editUrlTemplate` of more than 1,024 characters": {
			spec: settings(map[string]any{"editUrlTemplate": "https://example.com/{path}" + strings.Repeat("x", 1024)}),
			want: `spec.book.editUrlTemplate: Too long: may not be more than 1024 bytes`,
		},
	}
	for wrong, bad := range badNames() {
		all[wrong] = rejection{spec: with(map[string]any{"markdowns": files(map[string]string{bad.name: ""})}), want: "spec.markdowns: Invalid value: " + bad.want}
	}

	maps.Copy(all, elsewhere())

	return all
}

// badNames returns names that neither a text file nor a binary can have.
func badNames() map[string]struct{ name, want string } {
	return map[string]struct{ name, want string }{
		"An empty file name":                          {name: "", want: `a file name must not be empty`},
		"A file name of more than 1,024 bytes":        {name: strings.Repeat(strings.Repeat("あ", 85)+"/", 4) + "page.md", want: `a file name must be at most 1024 bytes long`},
		"A file name with a control character":        {name: "a\u0085b.md", want: `a file name must not contain control characters`},
		"A file name with a backslash":                {name: `guide\page.md`, want: `file name "guide\page.md" must not contain a backslash: write "/" between folders`},
		"A file name that begins with `/`":            {name: "/page.md", want: `file name "/page.md" must be relative: remove the leading "/"`},
		"A file name that ends with `/`":              {name: "guide/", want: `file name "guide/" must be the name of a file: remove the trailing "/"`},
		"A file name that begins with `..`":           {name: "..data", want: `file name "..data" must not begin with ".."`},
		"A file more than 31 folders deep":            {name: strings.Repeat("a/", 32) + "b.md", want: `file name "` + strings.Repeat("a/", 32) + `b.md" must be at most 31 folders deep`},
		"A file name with `//`":                       {name: "guide//page.md", want: `file name "guide//page.md" must not contain "//"`},
		"A file name with the folder `.` or `..`":     {name: "guide/../page.md", want: `file name "guide/../page.md" must not contain "." or ".." as the name of a folder or file`},
		"A file with the name of a folder of mdBook":  {name: "css", want: `rename file "css": mdBook writes a folder of this name, and fails`},
		"A file named `toc.js`":                       {name: "toc.js", want: `rename file "toc.js": it replaces the table of contents of mdBook 0.4`},
		"A folder with the name of a file of mdBook":  {name: "css/chrome.css/page.txt", want: `rename the folder that has the name of a file of mdBook: mdBook fails to write the file`},
		"A folder or file name longer than 255 bytes": {name: strings.Repeat("あ", 86) + "/page.md", want: `a file name must not contain a folder or file name longer than 255 bytes`},
	}
}

// binaries returns n empty files.
func binaries(n int) map[string]string {
	all := map[string]string{}
	for i := range n {
		all[fmt.Sprintf("%d.png", i)] = ""
	}

	return all
}

// from returns the spec of a small book with entries of markdownsFrom.
func from(entries ...map[string]any) map[string]any {
	return with(map[string]any{"markdownsFrom": entries})
}

// configMap returns an entry that names a ConfigMap, with a path if there is one.
func configMap(name string, more ...string) map[string]any {
	entry := map[string]any{"configMap": map[string]any{"name": name}}
	if len(more) > 0 {
		entry["path"] = more[0]
	}

	return entry
}

// bookImage returns the spec of a book in an image. fields are added to the image, and
// more to the entry.
func bookImage(fields map[string]any, more map[string]any) map[string]any {
	image := map[string]any{"reference": "registry.example.com/book:v1"}
	maps.Copy(image, fields)
	entry := map[string]any{"image": image}
	maps.Copy(entry, more)

	return map[string]any{"markdownsFrom": []any{entry}}
}

// repository returns an entry that names an OCIRepository, with a path if there is one.
func repository(name string, more ...string) map[string]any {
	entry := configMap(name, more...)
	entry["ociRepository"] = entry["configMap"]
	delete(entry, "configMap")

	return entry
}

// elsewhere returns the rejections of markdownsFrom.
func elsewhere() map[string]rejection {
	withText := bookImage(nil, nil)
	withText["markdowns"] = files(nil)
	automatic := bookImage(nil, nil)
	automatic["summary"] = "Auto"

	return map[string]rejection{
		"Empty `markdownsFrom`":                                      {spec: with(map[string]any{"markdownsFrom": []any{}}), want: `spec.markdownsFrom: Invalid value: 0: spec.markdownsFrom in body should have at least 1 items`},
		"More than 8 entries in `markdownsFrom`":                     {spec: from(slices.Repeat([]map[string]any{configMap("a")}, 9)...), want: `spec.markdownsFrom: Too many: 9: must have at most 8 items`},
		"An entry without a source":                                  {spec: from(map[string]any{"path": "a"}), want: `spec.markdownsFrom[0]: Invalid value: set exactly one of configMap, image and ociRepository`},
		"An entry with two sources":                                  {spec: bookImage(nil, repository("handbook")), want: `spec.markdownsFrom[0]: Invalid value: set exactly one of configMap, image and ociRepository`},
		"A `configMap` without a name":                               {spec: from(map[string]any{"configMap": map[string]any{}}), want: `spec.markdownsFrom[0].configMap.name: Required value`},
		"A `configMap` with an invalid name":                         {spec: from(configMap("Guide")), want: `spec.markdownsFrom[0].configMap.name: Invalid value: "Guide": must be the name of a ConfigMap, such as "guide"`},
		"A `configMap` with a name of more than 253 characters":      {spec: from(configMap(strings.Repeat("a", 254))), want: `spec.markdownsFrom[0].configMap.name: Too long: may not be more than 253 bytes`},
		"A `path` that is not a folder of the book":                  {spec: from(configMap("guide", "../guide")), want: `spec.markdownsFrom[0].path: Invalid value: "../guide": must be a folder of the book, such as "guide/api"`},
		"A `path` of more than 255 characters":                       {spec: from(configMap("guide", strings.Repeat("a", 256))), want: `spec.markdownsFrom[0].path: Too long: may not be more than 255 bytes`},
		"An `image` with a `path`":                                   {spec: bookImage(nil, map[string]any{"path": "a"}), want: `spec.markdownsFrom[0].path: Invalid value: remove path: an image has the whole book`},
		"An `image` with other files":                                {spec: withText, want: `spec.markdownsFrom: Invalid value: remove markdowns, binaries and the other entries, or the image: an image has the whole book`},
		"An `image` with `summary: Auto`":                            {spec: automatic, want: `spec.summary: Invalid value: remove summary, and add SUMMARY.md to the image: the function cannot read an image`},
		"An `image` without a reference":                             {spec: map[string]any{"markdownsFrom": []any{map[string]any{"image": map[string]any{}}}}, want: `spec.markdownsFrom[0].image.reference: Required value`},
		"A `reference` that is not a valid image reference":          {spec: bookImage(map[string]any{"reference": "Book"}, nil), want: `spec.markdownsFrom[0].image.reference: Invalid value: "Book": write an image reference such as registry/repository@sha256:…`},
		"A `reference` of more than 512 characters":                  {spec: bookImage(map[string]any{"reference": strings.Repeat("x", 513)}, nil), want: `spec.markdownsFrom[0].image.reference: Too long: may not be more than 512 bytes`},
		"An unknown `pullPolicy`":                                    {spec: bookImage(map[string]any{"pullPolicy": "Sometimes"}, nil), want: `spec.markdownsFrom[0].image.pullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"`},
		"An `ociRepository` with a `path`":                           {spec: map[string]any{"markdownsFrom": []any{repository("handbook", "a")}}, want: `spec.markdownsFrom[0].path: Invalid value: remove path: an image has the whole book`},
		"An `ociRepository` with other files":                        {spec: from(repository("handbook")), want: `spec.markdownsFrom: Invalid value: remove markdowns, binaries and the other entries, or the image: an image has the whole book`},
		"An `ociRepository` with `summary: Auto`":                    {spec: map[string]any{"summary": "Auto", "markdownsFrom": []any{repository("handbook")}}, want: `spec.summary: Invalid value: remove summary, and add SUMMARY.md to the image: the function cannot read an image`},
		"An `ociRepository` without a name":                          {spec: map[string]any{"markdownsFrom": []any{map[string]any{"ociRepository": map[string]any{}}}}, want: `spec.markdownsFrom[0].ociRepository.name: Required value`},
		"An `ociRepository` with an invalid name":                    {spec: map[string]any{"markdownsFrom": []any{repository("Handbook")}}, want: `spec.markdownsFrom[0].ociRepository.name: Invalid value: "Handbook": must be the name of an OCIRepository, such as "handbook"`},
		"An `ociRepository` with a name of more than 253 characters": {spec: map[string]any{"markdownsFrom": []any{repository(strings.Repeat("a", 254))}}, want: `spec.markdownsFrom[0].ociRepository.name: Too long: may not be more than 253 bytes`},
	}
}

// settings returns the spec of a small book with settings.
func settings(s map[string]any) map[string]any {
	return with(map[string]any{"book": s})
}

// redirects returns the spec of a small book with a redirect.
func redirects(page, target string) map[string]any {
	return settings(map[string]any{"redirects": map[string]string{page: target}})
}

// moved returns n redirects to a target.
func moved(n int, target string) map[string]string {
	all := map[string]string{}
	for i := range n {
		all[fmt.Sprintf("/%d.html", i)] = target
	}

	return all
}

func quantities(n int) map[string]any {
	all := map[string]any{}
	for i := range n {
		all[fmt.Sprintf("example.com/%d", i)] = 1
	}

	return all
}

func TestRejected(t *testing.T) {
	a := mustServe(t, readXRD(t))
	for name, tc := range rejections() {
		t.Run(name, func(t *testing.T) {
			_, got := a.create(t, view(tc.spec))
			if diff := cmp.Diff([]string{tc.want}, got); diff != "" {
				t.Errorf("create: -want, +got:\n%s", diff)
			}
		})
	}
}

// TestNamesOfBinaries checks that names of binaries have the same rules as names of
// text files.
func TestNamesOfBinaries(t *testing.T) {
	a := mustServe(t, readXRD(t))
	for wrong, tc := range namesOfBinaries() {
		t.Run(wrong, func(t *testing.T) {
			_, got := a.create(t, view(tc.spec))
			if diff := cmp.Diff([]string{tc.want}, got); diff != "" {
				t.Errorf("create: -want, +got:\n%s", diff)
			}
		})
	}
}

func namesOfBinaries() map[string]rejection {
	all := map[string]rejection{"A file with the name of a folder": {
		spec: with(map[string]any{"binaries": map[string]string{"img": "", "img/logo.png": ""}}),
		want: `spec.binaries: Invalid value: rename file "img/logo.png": its folder is also a file`,
	}}
	for wrong, bad := range badNames() {
		all[wrong] = rejection{spec: with(map[string]any{"binaries": map[string]string{bad.name: ""}}), want: "spec.binaries: Invalid value: " + bad.want}
	}

	return all
}

func TestAllErrorsAtOnce(t *testing.T) {
	a := mustServe(t, readXRD(t))
	_, got := a.create(t, view(map[string]any{
		"markdowns":   map[string]string{"/a": "", "a": "", "a/b": "", "..": ""},
		"replicas":    9,
		"viewerImage": "A",
		"resources": map[string]any{
			"requests": map[string]any{"cpu": "many", "gpu": "1"},
			"limits":   map[string]any{"cpu": "1e999999999"},
		},
	}))
	if len(got) != 9 {
		t.Errorf("create: want one message for each of 9 errors, got %d:\n%s", len(got), strings.Join(got, "\n"))
	}
}

func TestAdmitted(t *testing.T) {
	cases := map[string]struct {
		reason string
		spec   map[string]any
	}{
		"Small":          {reason: "Only files are required.", spec: with(nil)},
		"SummaryOnly":    {reason: "A book need not have chapters yet.", spec: map[string]any{"markdowns": map[string]string{"SUMMARY.md": ""}}},
		"Names":          {reason: "Every key of a ConfigMap can be a file name.", spec: map[string]any{"markdowns": files(map[string]string{".nojekyll": "", "A-b_c.1.md": "", "print.md": "", "a..b": "", "-": ""})}},
		"Wide":           {reason: "The largest book stays within the CEL cost budget.", spec: map[string]any{"markdowns": wide()}},
		"Deep":           {reason: "The largest book with many folders stays within the CEL cost budget.", spec: map[string]any{"markdowns": deep()}},
		"FullSize":       {reason: "A ConfigMap can hold 1 MiB.", spec: map[string]any{"markdowns": map[string]string{"SUMMARY.md": strings.Repeat("x", 1<<20)}}},
		"FewReplicas":    {reason: "1 replica is the minimum.", spec: with(map[string]any{"replicas": 1})},
		"MostReplicas":   {reason: "5 replicas are the maximum.", spec: with(map[string]any{"replicas": 5})},
		"TutorialsImage": {reason: "The sample of the tutorial uses this image.", spec: with(map[string]any{"viewerImage": "peaceiris/mdbook:latest"})},
		"Host":           {reason: "A host name has letters, digits, dashes and dots.", spec: with(map[string]any{"host": "1-handbook.team-a.books.example.com"})},
		"DefaultHost":    {reason: "Templates of Helm may write an empty string for a default.", spec: with(map[string]any{"host": ""})},
		"DefaultImage":   {reason: "Templates of Helm may write an empty string for a default.", spec: with(map[string]any{"viewerImage": ""})},
		"ConfigMaps":     {reason: "SUMMARY.md can be in a ConfigMap, without markdowns.", spec: map[string]any{"markdownsFrom": []any{configMap("a"), configMap("a.b-c", ""), configMap("a", "第一章/a..b")}}},
		"AndConfigMaps":  {reason: "SUMMARY.md can be in a ConfigMap, with markdowns.", spec: map[string]any{"markdowns": map[string]string{"a.md": ""}, "markdownsFrom": []any{configMap("a")}}},
		"OCIRepository":  {reason: "An OCIRepository names the image of the whole book.", spec: map[string]any{"markdownsFrom": []any{repository("hand.book", "")}}},
		"BookImage":      {reason: "An image holds the whole book.", spec: bookImage(map[string]any{"pullPolicy": "Always"}, map[string]any{"path": ""})},
		"Resources": {reason: "A limit can equal its request in another notation.", spec: with(map[string]any{"resources": map[string]any{
			"requests": map[string]any{"cpu": "100m", "memory": "1Gi", "ephemeral-storage": 0},
			"limits":   map[string]any{"cpu": ".1", "memory": 1 << 30, "ephemeral-storage": "1e9"},
		}})},
		"PlainMemoryRequest": {reason: "A request without a limit is complete.", spec: requests(map[string]any{"memory": "64Mi"})},
		"OtherResources":     {reason: "A request is compared with the limit of the same resource.", spec: with(map[string]any{"resources": map[string]any{"requests": map[string]any{"memory": "1Gi"}, "limits": map[string]any{"cpu": 1}}})},
	}

	a := mustServe(t, readXRD(t))
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, got := a.create(t, view(tc.spec)); got != nil {
				t.Errorf("%s\ncreate: want admitted, got:\n%s", tc.reason, strings.Join(got, "\n"))
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	a := mustServe(t, readXRD(t))
	got, _ := a.create(t, view(map[string]any{"markdowns": map[string]string{"SUMMARY.md": ""}}))
	want := map[string]any{"markdowns": map[string]any{"SUMMARY.md": ""}, "replicas": int64(1), "summary": "Required"}
	if diff := cmp.Diff(want, got["spec"]); diff != "" {
		t.Errorf("create: -want, +got:\n%s", diff)
	}
}

func TestDocumented(t *testing.T) {
	b, err := os.ReadFile("../../docs/admission.md")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| (.+) \\| `(.+)` \\|$").FindAllStringSubmatch(string(b), -1) {
		got[row[1]] = row[2]
	}
	want := map[string]string{}
	for name, tc := range rejections() {
		want[name] = tc.want
	}
	if diff := cmp.Diff(want, got, cmpopts.SortMaps(strings.Compare)); diff != "" {
		t.Errorf("docs/admission.md: -want, +got:\n%s", diff)
	}
}

// TestEveryRuleIsTested removes each rule of the XRD in turn, and checks that at least
// one rejection changes. Otherwise nobody would notice that the rule is missing.
func TestEveryRuleIsTested(t *testing.T) {
	for i, rule := range rules(t) {
		t.Run(rule, func(t *testing.T) {
			xrd := readXRD(t)
			xrd.Spec.Versions[0].Schema.OpenAPIV3Schema.Raw = without(t, xrd.Spec.Versions[0].Schema.OpenAPIV3Schema.Raw, i)
			a, err := serve(xrd)
			if err != nil {
				return // Without this limit, another rule is too expensive.
			}
			for _, cases := range []map[string]rejection{rejections(), namesOfBinaries()} {
				for _, tc := range cases {
					if _, got := a.create(t, view(tc.spec)); !cmp.Equal(got, []string{tc.want}) {
						return
					}
				}
			}
			t.Errorf("no test fails without %s", rule)
		})
	}
}

// rules returns the rules that can be removed from the schema of the spec.
func rules(t *testing.T) []string {
	t.Helper()
	var found []string
	raw := readXRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema.Raw
	edit(t, raw, func(rule string) bool { found = append(found, rule); return false })
	if len(found) < 20 {
		t.Fatalf("found only %d rules: %v", len(found), found)
	}

	return found
}

func without(t *testing.T, raw []byte, i int) []byte {
	t.Helper()

	return edit(t, raw, func(string) bool { i--; return i == -1 })
}

// edit removes from the schema of the spec the rules for which drop returns true.
func edit(t *testing.T, raw []byte, drop func(rule string) bool) []byte {
	t.Helper()
	schema := map[string]any{}
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	editProps(schema["properties"].(map[string]any)["spec"].(map[string]any), "spec", drop)
	out, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}

	return out
}

func editProps(props map[string]any, path string, drop func(rule string) bool) {
	for _, bound := range []string{"required", "minimum", "maximum", "maxLength", "maxProperties", "minItems", "maxItems", "enum"} {
		if _, ok := props[bound]; ok && drop(path+" "+bound) {
			delete(props, bound)
		}
	}
	rules, _ := props["x-kubernetes-validations"].([]any)
	kept := make([]any, 0, len(rules))
	for _, r := range rules {
		if !drop(fmt.Sprintf("%s %s", path, r.(map[string]any)["message"])) {
			kept = append(kept, r)
		}
	}
	if len(rules) > 0 {
		props["x-kubernetes-validations"] = kept
	}
	for _, of := range []string{"additionalProperties", "items"} {
		if items, ok := props[of].(map[string]any); ok {
			editProps(items, path+"[]", drop)
		}
	}
	children, _ := props["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(children)) {
		editProps(children[name].(map[string]any), path+"."+name, drop)
	}
}
