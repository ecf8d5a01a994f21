package fn_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"
)

// from returns an entry of spec.markdownsFrom for a ConfigMap.
func from(name, path string) object {
	return object{"configMap": object{"name": name}, "path": path}
}

// sharing returns a cluster with a MarkdownView and with the ConfigMaps that its spec
// can name.
func sharing(t *testing.T, spec, input object, configMaps map[string]object) *cluster {
	t.Helper()

	c := newCluster(t, viewOf(spec), input)
	c.shared = configMaps

	return c
}

func data(files object) object { return object{"data": files} }

// TestMarkdownsFrom checks books that have files of other ConfigMaps or are in an
// image.
func TestMarkdownsFrom(t *testing.T) {
	t.Parallel()

	guide := map[string]object{"guide": data(object{"a.md": "# A\n"})}
	withGuide := object{"SUMMARY.md": "- [A](guide/a.md)\n"}
	const incomplete = "BookComplete Incomplete: "
	const complete = "BookComplete Complete: No problems found in the book"
	cases := map[string]struct {
		reason     string
		spec       object
		input      object
		configMaps map[string]object
		// want is one of the conditions.
		want string
	}{
		"Folder": {
			reason: "SUMMARY.md lists the files of a ConfigMap in their folder",
			spec:   object{"markdowns": withGuide, "markdownsFrom": []any{from("guide", "guide")}}, configMaps: guide,
			want: complete,
		},
		"Alone": {
			reason: "All files can be in ConfigMaps",
			spec:   object{"markdownsFrom": []any{from("book", "")}}, configMaps: map[string]object{"book": data(book("text"))},
			want: complete,
		},
		"Across": {
			reason: "SUMMARY.md of one ConfigMap lists the files of another, and binaryData has files too",
			spec:   object{"markdownsFrom": []any{from("one", ""), from("guide", "guide"), from("img", "img")}},
			configMaps: map[string]object{
				"one": data(withGuide), "guide": data(object{"a.md": "![](../img/x.png)\n"}), "img": {"binaryData": object{"x.png": "iVBORw0KGgo="}},
			},
			want: complete,
		},
		"Base64": {
			reason:     "binaryData can have text: Helm's b64enc writes it",
			spec:       object{"markdownsFrom": []any{from("book", "")}},
			configMaps: map[string]object{"book": {"binaryData": object{"SUMMARY.md": "LSBbw4RdKGEubWQpCg==", "a.md": "W0JdKGIubWQpCg=="}}}, // - [Ä](a.md), [B](b.md)
			want:       incomplete + `The book has problems: a.md line 1: change the link to "b.md", or add b.md to the book: it leads nowhere`,
		},
		"Base64OfView": {
			reason: "spec.binaries can have text",
			spec:   object{"markdowns": object{"SUMMARY.md": "- [A](a.md)\n"}, "binaries": object{"a.md": "W0JdKGIubWQpCg=="}}, // [B](b.md)
			want:   incomplete + `The book has problems: a.md line 1: change the link to "b.md", or add b.md to the book: it leads nowhere`,
		},
		"Base64OfTemplate": {
			reason: "binaryData of a template can have text",
			spec:   object{"markdowns": object{"SUMMARY.md": "- [A](a.md)\n"}}, input: inputWith(object{"templates": object{"configMap": object{"binaryData": object{"a.md": "W0JdKGIubWQpCg=="}}}}), // [B](b.md)
			want: incomplete + `The book has problems: a.md line 1: change the link to "b.md", or add b.md to the book: it leads nowhere`,
		},
		"Base64Auto": {
			reason:     "SUMMARY.md is generated from text in binaryData",
			spec:       object{"summary": "Auto", "markdownsFrom": []any{from("book", "")}},
			configMaps: map[string]object{"book": {"binaryData": object{"a.md": "W0JdKGIubWQpCg=="}}}, // [B](b.md)
			want:       incomplete + `The book has problems: a.md line 1: change the link to "b.md", or add b.md to the book: it leads nowhere`,
		},
		"NotUTF8": {
			reason: "SUMMARY.md is in another encoding",
			spec:   object{"markdownsFrom": []any{from("book", "")}}, configMaps: map[string]object{"book": {"binaryData": object{"SUMMARY.md": "/v8ALQ=="}}},
			want: `Degraded InvalidSpec: spec: Invalid value: save SUMMARY.md as UTF-8 text: mdBook cannot read it`,
		},
		"Auto": {
			reason: "SUMMARY.md is generated from the files of all sources",
			spec:   object{"summary": "Auto", "markdownsFrom": []any{from("guide", "guide")}}, configMaps: guide,
			want: complete,
		},
		"AutoPresent": {
			reason: "SUMMARY.md of a ConfigMap is used, not generated",
			spec:   object{"summary": "Auto", "markdownsFrom": []any{from("book", "")}}, configMaps: map[string]object{"book": data(object{"SUMMARY.md": "- [P](p.md)\n", "p.md": "", "q.md": ""})},
			want: incomplete + `The book has problems: add file "q.md" to SUMMARY.md, or remove it: it has no page`,
		},
		"Twice": {
			reason: "One ConfigMap can be in two folders",
			spec:   object{"summary": "Auto", "markdownsFrom": []any{from("guide", "a"), from("guide", "b")}}, configMaps: guide,
			want: complete,
		},
		"Immutable": {
			reason: "Only our own ConfigMap is immutable",
			spec:   object{"markdowns": withGuide, "markdownsFrom": []any{from("guide", "guide")}}, configMaps: guide, input: inputWith(object{"immutableConfigMaps": true}),
			want: complete,
		},
		"Missing": {
			reason: "The message names a missing ConfigMap and the fix",
			spec:   object{"markdowns": withGuide, "markdownsFrom": []any{from("guide", "guide")}},
			want:   `Degraded ConfigMapNotFound: spec.markdownsFrom[0].configMap.name: Not found: "guide": create this ConfigMap in namespace docs, or remove it from the list`,
		},
		"NoSummary": {
			reason: "No source has SUMMARY.md",
			spec:   object{"markdownsFrom": []any{from("guide", "guide")}}, configMaps: guide,
			want: `Degraded InvalidSpec: spec: Invalid value: add SUMMARY.md, which lists the chapters in lines such as "- [Title](file.md)"`,
		},
		"Colliding": {
			reason: "A file of the MarkdownView is in a ConfigMap too",
			spec:   object{"markdowns": object{"SUMMARY.md": "- [A](guide/a.md)\n", "guide/a.md": ""}, "markdownsFrom": []any{from("guide", "guide")}}, configMaps: guide,
			want: `Degraded InvalidSpec: spec.markdownsFrom[0]: Invalid value: remove file "guide/a.md" here or from spec.markdowns: it is in both`,
		},
		"CollidingConfigMaps": {
			reason: "A file is in two ConfigMaps",
			spec:   object{"summary": "Auto", "markdownsFrom": []any{from("guide", ""), from("other", "")}},
			configMaps: map[string]object{
				"guide": data(object{"a.md": "# A\n"}), "other": {"binaryData": object{"a.md": "iVBORw0KGgo="}},
			},
			want: `Degraded InvalidSpec: spec.markdownsFrom[1]: Invalid value: remove file "a.md" here or from ConfigMap guide: it is in both; spec: Invalid value: remove one of the two files named "a.md"`,
		},
		"KeysApart": {
			reason: "A file in one ConfigMap can have the name that is the key of a file in another",
			spec:   object{"markdowns": object{"SUMMARY.md": "- [A](guide/a.md)\n- [B](other/b.md)\n", "guide/a.md": ""}, "markdownsFrom": []any{from("keys", ""), from("other", "other")}},
			configMaps: map[string]object{
				"keys": {"binaryData": object{"guide_a.md-ec79dbeff9f4e5ad912a": "", "other_b.md-8635c491402802139d20": ""}}, "other": data(object{"b.md": ""}),
			},
			want: complete,
		},
		"KeysTogether": {
			reason: "Two files in one ConfigMap cannot have the same key",
			spec:   object{"markdowns": object{"SUMMARY.md": "- [A](a.md)\n", "a.md": "", "guide/a.txt": "", "guide_a.txt-1f58ab141c9800f398af": ""}, "markdownsFrom": []any{from("guide", "more")}}, configMaps: guide,
			want: `Degraded InvalidSpec: spec: Invalid value: rename file "guide/a.txt" or "guide_a.txt-1f58ab141c9800f398af": both have the key "guide_a.txt-1f58ab141c9800f398af" in the ConfigMap`,
		},
		"Folders": {
			reason: "A file has the name of a folder",
			spec:   object{"markdowns": object{"SUMMARY.md": "- [A](guide/a.md)\n", "guide": ""}, "markdownsFrom": []any{from("guide", "guide")}}, configMaps: guide,
			want: `Degraded InvalidSpec: spec: Invalid value: rename file "guide" or the folder of "guide/a.md": both have this name`,
		},
		"Many": {
			reason: "A book has at most 1,000 files in total",
			spec:   object{"summary": "Auto", "markdownsFrom": []any{from("many", ""), from("guide", "guide")}}, configMaps: map[string]object{"guide": guide["guide"], "many": data(manyFiles(1000))},
			want: `Degraded InvalidSpec: spec.markdownsFrom: Forbidden: split the book: it has 1001 files, and a book has at most 1000`,
		},
		"TooMany": {
			reason: "A ConfigMap with more keys than the function reads is an error",
			spec:   object{"markdowns": book("text"), "markdownsFrom": []any{from("many", "many")}}, configMaps: map[string]object{"many": data(manyFiles(5000))},
			want: `Degraded InvalidSpec: spec.markdownsFrom[many].data: Too many: 5000: must have at most 4096 items`,
		},
		"TooManySources": {
			reason: "More sources would make the request too large",
			spec:   object{"markdowns": book("text"), "markdownsFrom": slices.Repeat([]any{from("empty", "")}, 9)}, configMaps: map[string]object{"empty": data(object{})},
			want: "Degraded InvalidSpec: spec.markdownsFrom: Too many: 9: must have at most 8 items",
		},
		"NoCharacter": {
			reason: "A path with a character that the API server cannot read is rejected",
			spec:   object{"markdowns": book("text"), "markdownsFrom": []any{from("guide", "a\uffff")}}, configMaps: guide,
			want: "Degraded InvalidSpec: spec.markdownsFrom[0].path: Invalid value: \"a\\uffff\": must not contain control characters; spec: Invalid value: file name \"a\\uffff/a.md\" must not contain control characters",
		},
		"FarTooMany": {
			reason: "If a book has too many files, none is read",
			spec:   object{"markdowns": book("text"), "binaries": invalidFiles(500), "markdownsFrom": []any{from("one", ""), from("two", "")}}, configMaps: map[string]object{"one": data(manyFiles(990)), "two": data(manyFiles(990))},
			want: "Degraded InvalidSpec: spec.markdownsFrom: Forbidden: split the book: it has 2482 files, and a book has at most 1000",
		},
		"Odd": {
			reason: "All errors of the list are reported at once",
			spec: object{"markdowns": book("text"), "markdownsFrom": []any{
				object{}, from("A", "../x"), object{"path": "x", "image": object{"reference": "A", "pullPolicy": "Sometimes"}},
			}},
			want: strings.Join([]string{
				`Degraded InvalidSpec: spec.markdownsFrom: Forbidden: remove markdowns, binaries and the other entries, or the image: an image has the whole book`,
				`spec.markdownsFrom[0]: Required value: set exactly one of configMap, image and ociRepository`,
				`spec.markdownsFrom[1].configMap.name: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
				`spec.markdownsFrom[1].configMap.name: Not found: "A": create this ConfigMap in namespace docs, or remove it from the list`,
				`spec.markdownsFrom[1].path: Invalid value: "../x": must not begin with ".."`,
				`spec.markdownsFrom[2].image.pullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"`,
				`spec.markdownsFrom[2].image.reference: Invalid value: "A": write an image reference such as docker.io/peaceiris/mdbook:v0.5.0`,
				`spec.markdownsFrom[2].path: Forbidden: remove path: an image has the whole book`,
			}, "; "),
		},
		"ImageNotAllowed": {
			reason: "Without allowedBookImages no image is allowed",
			spec:   object{"markdownsFrom": []any{object{"image": object{"reference": "registry.example.com/book:v1"}}}},
			want:   `Degraded InvalidSpec: spec.markdownsFrom[0].image.reference: Forbidden: use markdowns or ConfigMaps: the Input's allowedBookImages allows no image`,
		},
		"OtherImageAllowed": {
			reason: "An image must match a pattern, and allowedImages is for other images",
			spec:   object{"markdownsFrom": []any{object{"image": object{"reference": "registry.example.com/book:v1"}}}},
			input:  inputWith(object{"allowedImages": []any{"*/book"}, "allowedBookImages": []any{"registry.example.com/team/*"}}),
			want:   `Degraded InvalidSpec: spec.markdownsFrom[0].image.reference: Forbidden: name an image that matches registry.example.com/team/*`,
		},
		"ImageAndSummary": {
			reason: "The function cannot generate SUMMARY.md for an image",
			spec:   object{"summary": "Auto", "markdownsFrom": []any{object{"image": object{"reference": "registry.example.com/book:v1"}}}},
			input:  inputWith(object{"allowedBookImages": []any{"*/book"}}),
			want:   `Degraded InvalidSpec: spec.summary: Forbidden: remove summary, and add SUMMARY.md to the image: the function cannot read an image`,
		},
		"ImageAndTemplate": {
			reason: "A template cannot add files to an image",
			spec:   object{"markdownsFrom": []any{object{"image": object{"reference": "registry.example.com/book:v1"}}}},
			input:  inputWith(object{"allowedBookImages": []any{"*/book"}, "templates": object{"configMap": data(object{"theme.css": ""})}}),
			want:   `Degraded InvalidSpec: spec.markdownsFrom[0].image: Forbidden: use markdowns or ConfigMaps: the Input's templates.configMap adds files to every book, and nothing can be added to an image`,
		},
		"Tag": {
			reason: "The message explains that a new image with the same tag does not roll out",
			spec:   object{"markdownsFrom": []any{object{"image": object{"reference": "registry.example.com/book:v1"}}}},
			input:  inputWith(object{"allowedBookImages": []any{"*/book"}}),
			want:   `BookComplete NotChecked: The function does not read image registry.example.com/book:v1, which holds the book. Name a digest: a new image with the same tag is not rolled out`,
		},
		"Digest": {
			reason: "A digest never changes, so the message needs no advice",
			spec:   object{"markdownsFrom": []any{object{"image": object{"reference": "registry.example.com/book@sha256:" + strings.Repeat("1e", 32)}}}},
			input:  inputWith(object{"allowedBookImages": []any{"*/book"}}),
			want:   `BookComplete NotChecked: The function does not read image registry.example.com/book@sha256:` + strings.Repeat("1e", 32) + `, which holds the book`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rsp := checkLaws(t, sharing(t, tc.spec, tc.input, tc.configMaps).request())
			var got []string
			for _, c := range rsp.GetConditions() {
				got = append(got, fmt.Sprintf("%s %s: %s", c.GetType(), c.GetReason(), c.GetMessage()))
			}
			if !slices.Contains(got, tc.want) {
				t.Errorf("\n%s\nwant %s\ngot  %s", tc.reason, tc.want, strings.Join(got, "\n     "))
			}
		})
	}
}

func manyFiles(n int) object {
	files := object{}
	for i := range n {
		files[fmt.Sprintf("%d.md", i)] = ""
	}

	return files
}

func invalidFiles(n int) object {
	files := object{}
	for i := range n {
		files[fmt.Sprintf("%d.png", i)] = "?"
	}

	return files
}

// TestSent checks requests whose required resources do not include the ConfigMap that the
// function required.
func TestSent(t *testing.T) {
	c := sharing(t, object{"markdowns": book("text"), "markdownsFrom": []any{from("guide", "guide")}}, nil, map[string]object{"guide": data(object{"a.md": ""})})
	// Crossplane before v2.2 does not report its capabilities.
	old := c.request()
	old.Meta.Capabilities = nil
	with := func(path ...string) *fnv1.RunFunctionRequest {
		req := c.request()
		in := req.RequiredResources["configmap/guide"].Items[0].Resource
		for ; len(path) > 2; path = path[1:] {
			in = in.Fields[path[0]].GetStructValue()
		}
		in.Fields[path[0]] = structpb.NewStringValue(path[1])

		return req
	}
	none := c.request()
	none.RequiredResources["configmap/guide"] = nil
	first := c.request()
	first.RequiredResources = nil
	const waits = "Crossplane has not sent the ConfigMaps of spec.markdownsFrom yet"

	for _, tc := range []struct {
		reason string
		req    *fnv1.RunFunctionRequest
		want   string
	}{
		{"An older Crossplane", old, "spec.markdownsFrom: Forbidden: upgrade Crossplane to v2.2 or later: this version does not send resources to functions"},
		{"No ConfigMap", none, `spec.markdownsFrom[0].configMap.name: Not found: "guide": create this ConfigMap in namespace docs, or remove it from the list`},
		{"The first call", first, waits},
		// Crossplane sends this for a requirement of the Composition, until the function
		// has required the ConfigMap.
		{"A ConfigMap of another namespace", with("metadata", "namespace", "kube-system"), waits},
		{"Another ConfigMap", with("metadata", "name", "other"), waits},
		{"A Secret of the same name", with("kind", "Secret"), waits},
		{"A ConfigMap of another API", with("apiVersion", "example.com/v1"), waits},
	} {
		rsp := checkLaws(t, tc.req)
		if diff := cmp.Diff(tc.want, rsp.GetConditions()[1].GetMessage()); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
		}
		if len(rsp.GetDesired().GetResources()) > 0 {
			t.Errorf("%s: want no composed resources, got %v", tc.reason, rsp.GetDesired().GetResources())
		}
	}
}

// TestMarkdownsFromLife simulates a MarkdownView whose content moves from ConfigMaps to
// an image and back.
func TestMarkdownsFromLife(t *testing.T) {
	t.Parallel()

	input := inputWith(object{"allowedBookImages": []any{"*/book"}})
	c := sharing(t, object{"markdowns": object{"SUMMARY.md": "- [A](guide/a.md)\n"}, "replicas": 2.0}, input, map[string]object{"guide": data(object{"a.md": "one"})})
	set := func(name string, value any) func() {
		return func() { c.edit(func(spec object) { spec[name] = value }) }
	}
	image := func(tag string) func() {
		return func() {
			c.edit(func(spec object) {
				delete(spec, "markdowns")
				spec["markdownsFrom"] = []any{object{"image": object{"reference": "registry.example.com/book" + tag}}}
			})
		}
	}
	before, objects := "", []string(nil)
	for _, step := range []struct {
		reason string
		change func()
		rolls  bool
		// fails is the reason of the fatal result, if there is one. Such a result changes
		// nothing.
		fails   string
		objects []string
	}{
		{reason: "Created with a missing ConfigMap", change: func() { delete(c.shared, "guide"); set("markdownsFrom", []any{from("guide", "guide")})() }, fails: "ConfigMapNotFound"},
		{reason: "The ConfigMap is created", change: func() { c.shared["guide"] = data(object{"a.md": "one"}) }, rolls: true, objects: []string{"configmap", "deployment", "service"}},
		{reason: "The ConfigMap changes", change: func() { c.shared["guide"] = data(object{"a.md": "two"}) }, rolls: true, objects: []string{"configmap", "deployment", "service"}},
		{reason: "The labels of the ConfigMap change", change: func() { c.shared["guide"]["metadata"] = object{"labels": object{"a": "b"}} }, objects: []string{"configmap", "deployment", "service"}},
		{reason: "The ConfigMap is deleted, and the composed resources stay", change: func() { delete(c.shared, "guide") }, fails: "ConfigMapNotFound", objects: []string{"configmap", "deployment", "service"}},
		{reason: "The ConfigMap lacks a chapter, and the composed resources stay", change: func() { c.shared["guide"] = data(object{"b.md": "two"}) }, fails: "InvalidSpec", objects: []string{"configmap", "deployment", "service"}},
		{reason: "The ConfigMap has its earlier content again", change: func() { c.shared["guide"] = data(object{"a.md": "two"}) }, objects: []string{"configmap", "deployment", "service"}},
		{reason: "An image holds the book, and our ConfigMap is deleted when no pod reads it", change: image(":v1"), rolls: true, objects: []string{"deployment", "service"}},
		{reason: "Another tag starts a rollout", change: image(":v2"), rolls: true, objects: []string{"deployment", "service"}},
		{reason: "The text is in the spec again", change: func() {
			c.edit(func(spec object) {
				delete(spec, "markdownsFrom")
				spec["markdowns"] = book("text")
			})
		}, rolls: true, objects: []string{"configmap", "deployment", "service"}},
	} {
		step.change()
		p := c.settle()
		got := ""
		if len(p.events) > 0 && p.events[len(p.events)-1] != "Available" {
			got = p.events[len(p.events)-1]
		}
		if diff := cmp.Diff(step.fails, got); diff != "" {
			t.Fatalf("%s: failure: -want, +got:\n%s", step.reason, diff)
		}
		objects = nil
		for key := range c.objects {
			objects = append(objects, key)
		}
		slices.Sort(objects)
		if diff := cmp.Diff(step.objects, objects); diff != "" {
			t.Errorf("%s: objects: -want, +got:\n%s", step.reason, diff)
		}
		revision := ""
		if d, ok := c.objects["deployment"]; ok {
			revision = revisionOf(d)
		}
		if (revision != before) != step.rolls {
			t.Errorf("%s: a rollout: want %t, got %q after %q", step.reason, step.rolls, revision, before)
		}
		if before = revision; step.fails == "" && !p.ready[len(p.ready)-1] {
			t.Errorf("%s: not ready at the end: %v", step.reason, p)
		}
	}
}

// TestImageVolumeRemoved checks the message for a cluster that has no image volumes: its
// API server removes the volume and its mounts, and accepts the rest.
func TestImageVolumeRemoved(t *testing.T) {
	c := sharing(t, object{"markdownsFrom": []any{object{"image": object{"reference": "registry.example.com/book:v1"}}}},
		inputWith(object{"allowedBookImages": []any{"*/book"}}), nil)
	c.settle()
	const want = "Use markdowns or ConfigMaps, or upgrade to Kubernetes 1.35 or later: this cluster removed the image volume from Deployment viewer-sample"
	for _, removed := range []bool{false, true} {
		if removed {
			delete(child(child(child(c.objects["deployment"], "spec"), "template"), "spec"), "volumes")
		}
		rsp := checkLaws(t, c.request())
		if got := rsp.GetConditions()[1]; (got.GetMessage() == want) != removed || (got.GetReason() == "ApplyFailed") != removed {
			t.Errorf("removed %t: got %v", removed, got)
		}
		if got := rsp.GetDesired().GetResources()["deployment"].GetReady(); (got == fnv1.Ready_READY_TRUE) == removed {
			t.Errorf("removed %t: got %v", removed, got)
		}
	}
}

// TestCopies checks from which ConfigMaps pods read a book. checkLaws compares the files.
func TestCopies(t *testing.T) {
	t.Parallel()

	static := inputWith(object{"server": object{}})
	guide := map[string]object{"guide": data(object{"a.md": "# A\n"})}
	withGuide := object{"SUMMARY.md": "- [A](guide/a.md)\n"}
	large := func(size int) map[string]object {
		size -= len(withGuide["SUMMARY.md"].(string))
		return map[string]object{"guide": {"data": object{"a.md": strings.Repeat("x", size/2)}, "binaryData": object{"b": base64.StdEncoding.EncodeToString(make([]byte, size-size/2))}}}
	}
	withoutHash := func(name string) string { before, _, _ := strings.Cut(name, "."); return before }
	cases := map[string]struct {
		reason     string
		spec       object
		input      object
		configMaps map[string]object
		// want lists the ConfigMaps, without the hash of an immutable one.
		want []string
	}{
		"Copied": {
			reason: "A web server builds the book once, so the files must be those of the revision",
			spec:   object{"markdowns": withGuide, "markdownsFrom": []any{from("guide", "guide")}}, input: static, configMaps: guide,
			want: []string{"markdowns-sample"},
		},
		"Reloaded": {
			reason: "mdBook builds a changed book again",
			spec:   object{"markdowns": withGuide, "markdownsFrom": []any{from("guide", "guide")}}, configMaps: guide,
			want: []string{"markdowns-sample", "guide"},
		},
		"ImmutableAndReloaded": {
			reason: "immutableConfigMaps is about the text of the spec",
			spec:   object{"markdowns": withGuide, "markdownsFrom": []any{from("guide", "guide")}}, configMaps: guide, input: inputWith(object{"immutableConfigMaps": true}),
			want: []string{"markdowns-sample", "guide"},
		},
		"All": {
			reason: "Texts, images, texts that YAML would change, and names that are no keys are copied",
			spec:   object{"summary": "Auto", "markdownsFrom": []any{from("guide", ""), from("guide", "ガイド"), from("img", "img")}}, input: static,
			configMaps: map[string]object{"guide": guide["guide"], "img": {"data": object{"odd.txt": "\ufffe\r\n"}, "binaryData": object{"x.png": "iVBORw0KGgo="}}},
			want:       []string{"markdowns-sample"},
		},
		"Largest": {
			reason: "A ConfigMap holds 1 MiB",
			spec:   object{"markdowns": withGuide, "markdownsFrom": []any{from("guide", "guide")}}, input: static, configMaps: large(1 << 20),
			want: []string{"markdowns-sample"},
		},
		"TooLarge": {
			reason: "Larger books are mounted",
			spec:   object{"markdowns": withGuide, "markdownsFrom": []any{from("guide", "guide")}}, input: static, configMaps: large(1<<20 + 1),
			want: []string{"markdowns-sample", "guide"},
		},
		"Keys": {
			reason: "Files whose keys would be the same are mounted",
			spec:   object{"markdowns": object{"SUMMARY.md": "- [A](guide/a.md)\n", "guide/a.md": ""}, "markdownsFrom": []any{from("keys", "")}}, input: static,
			configMaps: map[string]object{"keys": {"binaryData": object{"guide_a.md-ec79dbeff9f4e5ad912a": ""}}},
			want:       []string{"markdowns-sample", "keys"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := volumeOf(t, checkLaws(t, sharing(t, tc.spec, tc.input, tc.configMaps).request()))
			var got []string
			if v.ConfigMap != nil {
				got = append(got, withoutHash(v.ConfigMap.Name))
			}
			if v.Projected != nil {
				for _, source := range v.Projected.Sources {
					got = append(got, withoutHash(source.ConfigMap.Name))
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nConfigMaps: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestCopiesCollide checks that a file that is in two places is an error of a book with
// copies, too, even if it has the same text in both.
func TestCopiesCollide(t *testing.T) {
	t.Parallel()

	c := sharing(t, object{"markdowns": object{"SUMMARY.md": "- [A](guide/a.md)\n", "guide/a.md": "text"}, "markdownsFrom": []any{from("guide", "guide")}},
		inputWith(object{"server": object{}}), map[string]object{"guide": data(object{})})
	c.settle()
	c.shared["guide"] = data(object{"a.md": "text"})
	const want = `spec.markdownsFrom[0]: Invalid value: remove file "guide/a.md" here or from spec.markdowns: it is in both`
	if got := checkLaws(t, c.request()).GetConditions()[1].GetMessage(); got != want {
		t.Errorf("Degraded: want %s, got %s", want, got)
	}
}
