package fn_test

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/test/cluster"
)

// shelf returns the ConfigMaps of the tests in this file.
func shelf() map[string]object {
	binary := func(files object) object { return object{"binaryData": files} }
	large := func(size int) object {
		size -= len("- [A](guide/a.md)\n")

		return object{
			"data":       object{"a.md": strings.Repeat("x", size/2)},
			"binaryData": object{"b": base64.StdEncoding.EncodeToString(make([]byte, size-size/2))},
		}
	}

	return map[string]object{
		"unequal": data(object{"SUMMARY.md": "- [P](p.md)\n", "p.md": "", "q.md": ""}),
		"summary": data(object{"SUMMARY.md": "- [A](guide/a.md)\n"}),
		"guide":   data(object{"a.md": "# A\n"}),
		"image":   data(object{"a.md": "![](../img/x.png)\n"}),
		"img":     {"data": object{"odd.txt": "\ufffe\r\n"}, "binaryData": object{"x.png": "iVBORw0KGgo="}},
		"a.md":    binary(object{"a.md": "iVBORw0KGgo="}),
		// - [Ä](a.md) and [B](b.md): Helm's b64enc writes text to binaryData.
		"base64": binary(object{"SUMMARY.md": "LSBbw4RdKGEubWQpCg==", "a.md": "W0JdKGIubWQpCg=="}),
		"utf16":  binary(object{"SUMMARY.md": "/v8ALQ=="}),
		// The keys of files in folders.
		"keys":   binary(object{"guide_a.md-ec79dbeff9f4e5ad912a": "", "other_b.txt-4acf811392ed3a570558": ""}),
		"other":  data(object{"b.txt": ""}),
		"1000":   data(manyFiles(1000, ".md", "")),
		"5000":   data(manyFiles(5000, ".md", "")),
		"mib":    large(1 << 20),
		"larger": large(1<<20 + 1),
	}
}

func manyFiles(n int, kind, text string) object {
	files := object{}
	for i := range n {
		files[fmt.Sprint(i, kind)] = text
	}

	return files
}

// specFrom returns a spec with files, and with ConfigMaps: "guide@a" is guide in folder a.
func specFrom(files object, configMaps ...string) object {
	spec, sources := object{}, []any{}
	if files != nil {
		spec["markdowns"] = files
	}
	for _, configMap := range configMaps {
		name, path, _ := strings.Cut(configMap, "@")
		sources = append(sources, from(name, path))
	}
	spec["markdownsFrom"] = sources

	return spec
}

// auto returns a spec with a generated SUMMARY.md.
func auto(spec object) object {
	spec["summary"] = "Auto"

	return spec
}

// TestMarkdownsFrom checks books that have files of other ConfigMaps. Packages validate and files
// have more errors.
func TestMarkdownsFrom(t *testing.T) {
	t.Parallel()

	const (
		incomplete = "BookComplete False Incomplete: The book has problems: "
		dead       = incomplete + `a.md line 1: fix the link to "b.md", which leads nowhere, or add b.md to the book`
		complete   = "BookComplete True Complete: No problems found in the book"
		invalid    = "Degraded True InvalidSpec: spec"
	)
	guide := object{"SUMMARY.md": "- [A](guide/a.md)\n"}
	plain := object{"SUMMARY.md": "- [A](a.md)\n"}
	with := func(files, more object) object {
		all := maps.Clone(files)
		maps.Copy(all, more)

		return all
	}
	static, immutable := inputWith(object{"server": object{}}), inputWith(object{"immutableConfigMaps": true})
	for name, tc := range map[string]struct {
		reason      string
		spec, input object
		// mounted lists the ConfigMaps that are mounted beside our own. checkLaws compares the files.
		// want is the beginning of one of the conditions.
		mounted, want string
	}{
		"Across": {
			"ConfigMaps refer to each other",
			specFrom(nil, "summary", "image@guide", "img@img"), nil, "summary image img", complete,
		},
		"Base64": {"binaryData can have text", specFrom(nil, "base64"), nil, "base64", dead},
		"NotUTF8": {
			"SUMMARY.md is in another encoding", specFrom(nil, "utf16"), nil, "",
			invalid + ": Invalid value: save SUMMARY.md as UTF-8 text: mdBook cannot read it",
		},
		"Auto": {
			"SUMMARY.md is generated from all sources",
			auto(specFrom(nil, "guide@a", "guide@b")), nil, "guide guide", complete,
		},
		"AutoPresent": {
			"SUMMARY.md of a ConfigMap is used, not generated", auto(specFrom(nil, "unequal")), nil, "unequal",
			incomplete + `add file "q.md" to SUMMARY.md, or remove it: it has no page`,
		},
		"NoSummary": {
			"No source has SUMMARY.md", specFrom(nil, "guide@guide"), nil, "",
			invalid + ": Invalid value: add SUMMARY.md, which lists the chapters",
		},
		"CollidingConfigMaps": {
			"A file is in two ConfigMaps", auto(specFrom(nil, "guide", "a.md")), nil, "",
			invalid + `.markdownsFrom[1]: Invalid value: remove file "a.md" here or from ConfigMap guide: it is in both` +
				`; spec: Invalid value: remove one of the two files named "a.md"`,
		},
		"KeysApart": {
			"A file in one ConfigMap can have the name that is the key of a file in another",
			specFrom(with(guide, object{"guide/a.md": "[B](../other/b.txt)"}), "keys", "other@other"), nil,
			"keys other", complete,
		},
		"KeysTogether": {
			"Two files in one ConfigMap cannot have the same key",
			specFrom(with(book("text"), object{"guide/a.txt": "", "guide_a.txt-1f58ab141c9800f398af": ""}), "guide@more"),
			nil, "",
			invalid + `: Invalid value: rename file "guide/a.txt" or "guide_a.txt-1f58ab141c9800f398af": both have the key ` +
				`"guide_a.txt-1f58ab141c9800f398af" in the ConfigMap`,
		},
		"Folders": {
			"A file has the name of a folder", specFrom(with(guide, object{"guide": ""}), "guide@guide"), nil, "",
			invalid + `: Invalid value: rename file "guide" or the folder of "guide/a.md": both have this name`,
		},
		"Many": {
			"A book has at most 1,000 files in total", auto(specFrom(nil, "1000", "guide@guide")), nil, "",
			invalid + ".markdownsFrom: Forbidden: split the book: it has 1001 files, and a book has at most 1000",
		},
		"TooMany": {
			"A ConfigMap with more keys than the function reads is an error", specFrom(plain, "5000@many"), nil, "",
			invalid + ".markdownsFrom[5000].data: Too many: 5000: must have at most 4096 items",
		},
		"FarTooMany": {
			"If a book has too many files, none is read",
			with(specFrom(plain, "1000@a", "1000@b"), object{"binaries": manyFiles(500, ".png", "?")}), nil, "",
			invalid + ".markdownsFrom: Forbidden: split the book: it has 2501 files, and a book has at most 1000",
		},
		"Immutable": {
			"immutableConfigMaps is about the text of the spec",
			specFrom(guide, "guide@guide"), immutable, "guide", complete,
		},
		"Copies": {
			"Images, texts that YAML would change, and names that are no keys are copied for a web server",
			auto(specFrom(nil, "guide", "guide@ガイド", "img@img")), static, "", complete,
		},
		"CopiesMost":   {"A ConfigMap holds 1 MiB", specFrom(guide, "mib@guide"), static, "", complete},
		"CopiesLarger": {"Larger books are mounted", specFrom(guide, "larger@guide"), static, "larger", complete},
		"CopiesKeys": {
			"Files whose keys would be the same are mounted",
			specFrom(with(guide, object{"guide/a.md": ""}), "keys"), static, "keys", complete,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rsp := checkLaws(t, sharing(t, tc.spec, tc.input, shelf()).Request())
			if got := "\n" + strings.Join(reported(rsp), "\n"); !strings.Contains(got, "\n"+tc.want) {
				t.Errorf("%s\nwant %s\ngot %s", tc.reason, tc.want, got)
			}
			var mounted []string
			volume := cluster.VolumeIn(rsp.GetDesired().GetResources()["deployment"].GetResource().AsMap())
			for _, source := range listAt(volume, "projected", "sources") {
				mounted = append(mounted, textAt(source, "configMap", "name"))
			}
			if got := strings.Join(mounted[min(1, len(mounted)):], " "); got != tc.mounted {
				t.Errorf("%s: want ConfigMaps %q, got %q", tc.reason, tc.mounted, got)
			}
		})
	}
}

// TestMarkdownsFromLife simulates a MarkdownView whose content moves from ConfigMaps to
// an image and back.
func TestMarkdownsFromLife(t *testing.T) {
	t.Parallel()

	c := sharing(t, object{"markdowns": object{"SUMMARY.md": "- [A](guide/a.md)\n"}, "replicas": 2.0},
		inputWith(object{"allowedBookImages": []any{"*/book"}}), map[string]object{})
	guide := func(files object) func() { return func() { c.Shared["guide"] = data(files) } }
	lose := func() { delete(c.Shared, "guide") }
	label := func() { c.Shared["guide"]["metadata"] = object{"labels": object{"a": "b"}} }
	spec := func(markdowns any, sources ...any) func() {
		return func() {
			c.Edit(func(spec object) {
				delete(spec, "markdowns")
				delete(spec, "markdownsFrom")
				mergeInto(spec, object{"markdowns": markdowns, "markdownsFrom": sources})
				maps.DeleteFunc(spec, func(_ string, v any) bool { return v == nil })
			})
		}
	}
	all, without := []string{"configmap", "deployment", "service"}, []string{"deployment", "service"}
	before := ""
	for _, step := range []struct {
		reason string
		change func()
		rolls  bool
		// fails is the reason of the fatal result, if there is one. Such a result changes
		// nothing.
		fails   string
		objects []string
	}{
		{
			"Created with a missing ConfigMap", spec(object{"SUMMARY.md": "- [A](guide/a.md)\n"}, from("guide", "guide")),
			false, "ConfigMapNotFound", nil,
		},
		{"The ConfigMap is created", guide(object{"a.md": "one"}), true, "", all},
		{"The ConfigMap changes", guide(object{"a.md": "two"}), true, "", all},
		{"The labels of the ConfigMap change", label, false, "", all},
		{"The ConfigMap is deleted, and the resources stay", lose, false, "ConfigMapNotFound", all},
		{"The ConfigMap lacks a chapter, and the resources stay", guide(object{"b.md": "two"}), false, "InvalidSpec", all},
		{"The ConfigMap has its earlier content again", guide(object{"a.md": "two"}), false, "", all},
		{"An image holds the book, and no pod reads our ConfigMap", spec(nil, image(":v1")), true, "", without},
		{"Another tag starts a rollout", spec(nil, image(":v2")), true, "", without},
		{"The text is in the spec again", spec(book("text")), true, "", all},
	} {
		step.change()
		p := c.Settle()
		got := ""
		if len(p.Events) > 0 && p.Events[len(p.Events)-1] != "Available" {
			got = p.Events[len(p.Events)-1]
		}
		if diff := cmp.Diff(step.fails, got); diff != "" {
			t.Fatalf("%s: failure: -want, +got:\n%s", step.reason, diff)
		}
		if diff := cmp.Diff(step.objects, slices.Sorted(maps.Keys(c.Objects))); diff != "" {
			t.Errorf("%s: objects: -want, +got:\n%s", step.reason, diff)
		}
		revision := revisionOf(c.Objects["deployment"])
		if (revision != before) != step.rolls {
			t.Errorf("%s: a rollout: want %t, got %q after %q", step.reason, step.rolls, revision, before)
		}
		if before = revision; step.fails == "" && !p.Ready() {
			t.Errorf("%s: not ready at the end: %v", step.reason, p)
		}
	}
}

// TestImageVolumeRemoved checks the message for a cluster that has no image volumes: its
// API server removes the volume and its mounts, and accepts the rest.
func TestImageVolumeRemoved(t *testing.T) {
	c := sharing(t, object{"markdownsFrom": []any{image(":v1")}},
		inputWith(object{"allowedBookImages": []any{"*/book"}}), nil)
	c.Settle()
	const want = "ApplyFailed: Use markdowns or ConfigMaps, or upgrade to Kubernetes 1.35 or later: " +
		"this cluster removed the image volume from Deployment viewer-sample"
	delete(at(c.Objects["deployment"], "spec", "template", "spec").(object), "volumes")
	rsp := checkLaws(t, c.Request())
	if got := degraded(rsp); got != want {
		t.Errorf("want %s, got %s", want, got)
	}
	if got := rsp.GetDesired().GetResources()["deployment"].GetReady(); got != fnv1.Ready_READY_FALSE {
		t.Errorf("the Deployment is %v", got)
	}
}

// TestCopiesCollide checks that a file that is in two places is an error of a book with
// copies, too, even if it has the same text in both, so that the revision stays.
func TestCopiesCollide(t *testing.T) {
	c := sharing(t, specFrom(object{"SUMMARY.md": "- [A](guide/a.md)\n", "guide/a.md": "text"}, "guide@guide"),
		inputWith(object{"server": object{}}), map[string]object{"guide": data(object{})})
	c.Settle()
	c.Shared["guide"] = data(object{"a.md": "text"})
	const want = `spec.markdownsFrom[0]: Invalid value: remove file "guide/a.md" here or from spec.markdowns: it is in both`
	if got := degraded(checkLaws(t, c.Request())); got != "InvalidSpec: "+want {
		t.Errorf("want %s, got %s", want, got)
	}
}
