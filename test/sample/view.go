package sample

import (
	"encoding/base64"
	"strings"
)

// View returns a MarkdownView that the XRD accepts, without defaults, and whose files
// fit into a ConfigMap.
func (s *Source) View() map[string]any {
	return map[string]any{
		"apiVersion": "markdownview.fn.crossplane.io/v1alpha1",
		"kind":       "MarkdownView",
		"metadata":   map[string]any{"name": s.Name(), "namespace": s.Namespace()},
		"spec":       s.Spec(),
	}
}

// Name returns a valid name of an XR: a DNS subdomain. The length of many names is at or
// near a limit of the names and labels that contain them.
func (s *Source) Name() string {
	const inner, edge = "abcxyz0189-.", "abcxyz0189"
	n := Pick(s, 8, 1, 2, 3, 20, 44, 45, 51, 52, 53, 55, 56, 57, 62, 63, 64, 65, 200, 252, 253)
	if n == 1 {
		return s.word(edge, 1)
	}

	name := s.word(edge, 1) + s.word(inner, n-2) + s.word(edge, 1)
	// A DNS label is not empty, and neither starts nor ends with a dash.
	for _, bad := range []string{"..", "-.", ".-"} {
		for strings.Contains(name, bad) {
			name = strings.ReplaceAll(name, bad, "aa")
		}
	}

	return name
}

// Namespace returns a valid name of a namespace: a DNS label.
func (s *Source) Namespace() string {
	return Pick(s, "default", "a", "0", "team-docs", "9-lives", strings.Repeat("n", 63))
}

// Spec returns a spec that the XRD accepts.
func (s *Source) Spec() map[string]any {
	spec := s.book()
	if n := s.Below(6); n > 0 {
		spec["replicas"] = float64(n)
	}
	if s.Maybe(2) {
		spec["viewerImage"] = s.Image()
	}
	if s.Maybe(2) {
		spec["resources"] = s.Resources()
	}
	if s.Maybe(3) {
		spec["host"] = Pick(s, "a.books.example.com", "books.example.com", "x-1.example")
	}
	switch s.Below(9) {
	case 5, 6:
		spec["markdownsFrom"] = s.configMaps()
	case 7, 8:
		delete(spec, "markdowns")
		delete(spec, "binaries")
		delete(spec, "summary")
		spec["markdownsFrom"] = []any{s.BookImage()}
	}

	return spec
}

// configMaps returns entries of markdownsFrom for the ConfigMaps of Shared.
func (s *Source) configMaps() []any {
	var from []any
	for _, name := range []string{"guide", "more.files"} {
		entry := map[string]any{"configMap": map[string]any{"name": name}}
		if path := Pick(s, "", "from/"+name, "第一章", "deep/"+strings.Repeat("d/", 29)+name); path != "" {
			entry["path"] = path
		}
		from = append(from, entry)
	}

	return from
}

// Shared returns the data and binaryData of the ConfigMaps in markdownsFrom of a view,
// by name. None of their files has the name of a file of the view.
func (s *Source) Shared() map[string]map[string]any {
	shared := map[string]map[string]any{}
	for _, name := range []string{"guide", "more.files"} {
		shared[name] = map[string]any{
			"data":       map[string]any{"shared-" + name + ".md": s.Text(), "-" + name + s.word("abc", 2): s.Text()},
			"binaryData": map[string]any{name + ".png": "iVBORw0KGgo="},
		}
	}

	return shared
}

// Repository returns the OCIRepository handbook, without its identity. Flux has fetched its
// image.
func (s *Source) Repository() map[string]any {
	generation := float64(1 + s.Below(3))
	digest := "sha256:" + strings.Repeat(Pick(s, "1e", "2f"), 32)

	return map[string]any{
		"metadata": map[string]any{"generation": generation},
		"spec":     map[string]any{"url": "oci://registry.example.com/team/book", "interval": "1m"},
		"status": map[string]any{
			"observedGeneration": generation,
			"artifact":           map[string]any{"revision": Pick(s, "latest@"+digest, "v1.2.3@"+digest, digest), "digest": "sha256:" + strings.Repeat("00", 32)},
			"conditions": []any{map[string]any{
				"type": "Ready", "status": Pick(s, "True", "Unknown", "False"), "reason": "Succeeded", "message": Pick(s, "stored artifact", "", "cannot\nfetch it"),
			}},
		},
	}
}

// BookImage returns an entry of markdownsFrom for an image with a book, or for the
// OCIRepository of Repository.
func (s *Source) BookImage() map[string]any {
	if s.Maybe(2) {
		return map[string]any{"ociRepository": map[string]any{"name": "handbook"}}
	}
	image := map[string]any{"reference": "registry.example.com/team/book" + Pick(s, ":v1", "", "@sha256:"+strings.Repeat("1e", 32))}
	if s.Maybe(2) {
		image["pullPolicy"] = Pick(s, "Always", "IfNotPresent", "Never")
	}

	return map[string]any{"image": image}
}

// book returns a spec with only the fields of the book. mdBook serves the book, but may
// leave out some of its files.
func (s *Source) book() map[string]any {
	files := map[string]any{
		"SUMMARY.md": Pick(s,
			"# Summary\n\n- [Page](page.md)\n",
			"- [Page](<page.md>)\r\n    - [Draft]()\r\n",
			"\ufeff# 目次\n\n[Page](./page.md)\n\n---\n",
			"[一](page.md)\n\n* * *\n\n# Part\n\nlazy [link](lost.md)\n",
			"- [A](page.md)\n  lost [B](page.md)\n\n[suffix](guide/a.md)\n"),
		"page.md":    s.Text(),
		"guide/a.md": "# A\n\n![logo](../img/logo.svg) [missing](../b.md)\n",
	}
	for range s.Below(6) {
		files[s.FileName()] = s.Text()
	}
	spec := map[string]any{"markdowns": files}
	if s.Maybe(3) {
		spec["binaries"] = map[string]any{
			Pick(s, "img/logo.svg", "img/深い/logo.png", "logo.PNG", ".well-known/x"): Pick(s, "", "iVBORw0KGgo=", "/+8=", "AAEC\nAwQF\r\nBgc=\n", "Zh=="),
			"bin/" + s.word("abc -_.", 3) + "x":                                     base64.StdEncoding.EncodeToString(s.take(s.Below(64))),
		}
	}
	if s.Maybe(4) {
		spec["summary"] = Pick(s, "Auto", "Required")
		if s.Maybe(2) {
			spec["summary"] = "Auto"
			delete(files, "SUMMARY.md")
		}
	}
	if s.Maybe(3) {
		spec["book"] = s.settings()
	}
	if s.Maybe(64) {
		files["large.md"] = s.large(files)
	}

	return spec
}

func (s *Source) settings() map[string]any {
	settings := map[string]any{}
	set := s.setter(settings)
	text := func() string {
		return Pick(s, "My Book", "", "123", "true", "null", `"`, "{}", "$(HOME) $$ $", "${A}", "<b>&amp;</b>", "一冊の本 👩‍👩‍👧‍👦", strings.Repeat("一", 256), `\n \`)
	}
	set("title", text())
	set("description", text())
	set("authors", Pick(s, []any{}, []any{text()}, []any{text(), "b, c"}))
	set("language", Pick(s, "en", "ja", "pt-BR", "zh-Hant-TW"))
	set("textDirection", Pick(s, "ltr", "rtl"))
	set("defaultTheme", Pick(s, "light", "rust", "coal", "navy", "ayu"))
	set("preferredDarkTheme", Pick(s, "coal", "light"))
	set("redirects", Pick(s,
		map[string]any{}, map[string]any{"/old.html": "/guide/a.html"}, map[string]any{"/deep/$(X)/古い.html": "../page.html#一", "/a b.html": "https://example.com:443/?x"}, map[string]any{"/lost.html": "lost.html"}))
	set("repositoryUrl", Pick(s, "https://example.com", "", "https://git.example.com:8443/a/$(b)?x=1&y#z"))
	set("editUrlTemplate", Pick(s, "https://example.com/{path}", "https://git.example.com/edit?file={path}&b=$main"))

	return settings
}

// large returns text that fills a ConfigMap except for 4 KiB, which are left for
// binaries, a template and a generated SUMMARY.md.
func (s *Source) large(beside map[string]any) string {
	size := 1<<20 - 4096
	for name, text := range beside {
		if name != "large.md" {
			size -= len(text.(string))
		}
	}

	text := Pick(s, "a", "\n", "\"", "一")

	return strings.Repeat(text, size/len(text))
}

// FileName returns a valid name for a file that is added to some books.
func (s *Source) FileName() string {
	name := Pick(s,
		"page.md", "a", ".hidden", "guide/README.md", "a b.md", "第一章/はじめに.md", "deep/"+strings.Repeat("d/", 29)+"x.md",
		strings.Repeat("s", 252)+".md", "folder.md/x", "img.d/logo.svg", "$(X)/'\"&<>#?%20.txt", "e\u0301/\u202e.md", "-", "_", "UPPER.MD", "two.dots.md", "no-extension", "ca.crt", "0", "true", "null",
		strings.Repeat("l", 253), "")
	if name == "" {
		name = "f" + s.word("abcXYZ019-_.", s.Below(40))
	}

	return name
}

// Text returns valid UTF-8.
func (s *Source) Text() string {
	b := strings.Builder{}
	for range s.Below(5) {
		b.WriteString(Pick(s,
			"# Title\n\nText.\n", "", "\n", "\n\n  leading blanks", "trailing blanks  \t \n\n\n", "CR LF\r\nand CR\r", "\ttab\t",
			"\u0085next line", "\u2028line\u2029paragraph", "\ufeffbyte order mark", "\u202eright to left\u202c",
			"👩‍👩‍👧‍👦 🏳️‍🌈", "一ページ目のコンテンツです。", "\x00\x01\x1f\x7f", "\ufffd\uffff\U0010ffff", "e\u0301 is not \u00e9",
			"null", "true", "0", "0x10", "1e3", "~", "{}", "[]", "---\n", "...\n", "%TAG", "&a *a", "!!str", "key: value\n", "- item\n", "| \n> \n",
			"{{ .Values }} ${VAR} $(VAR) `code` \\n \\u0041 \\",
			"\"double\" 'single'", "<script>&amp;</script>", strings.Repeat("long line ", 200)))
	}
	if s.Maybe(4) {
		b.WriteString(strings.ToValidUTF8(string(s.take(s.Below(64))), "\ufffd"))
	}

	return b.String()
}

// Image returns a valid image reference.
func (s *Source) Image() string {
	return Pick(s,
		"docker.io/peaceiris/mdbook:v0.5.0", "peaceiris/mdbook:latest", "mdbook", "mdbook:0.5", "localhost/mdbook",
		"localhost:5000/mdbook",
		"registry.example.com/team/sub/mdbook:v1.2.3-rc.1_x",
		"registry.example.com:443/mdbook@sha256:"+strings.Repeat("0a", 32),
		"ghcr.io/o/mdbook:tag@sha256:"+strings.Repeat("f", 64),
		"127.0.0.1:5000/a__b/c-d.e:T",
		"example.com/"+strings.Repeat("p", 200)+":"+strings.Repeat("t", 128),
	)
}

// Resources returns requests and limits. No request exceeds its limit.
func (s *Source) Resources() map[string]any {
	resources := map[string]any{}
	for _, list := range []string{"requests", "limits"} {
		quantities := map[string]any{}
		for _, name := range []string{"cpu", "memory", "ephemeral-storage"} {
			if s.Maybe(3) {
				quantities[name] = s.quantity(list, name)
			}
		}
		if len(quantities) > 0 || s.Maybe(4) {
			resources[list] = quantities
		}
	}

	return resources
}

func (s *Source) quantity(list, name string) any {
	switch {
	case name == "cpu" && list == "requests":
		return Pick[any](s, "10m", "0", "0.5", ".25", "1e-3", "1", float64(1), "500000u", "1000000n", "0.0001")
	case name == "cpu":
		return Pick[any](s, "2", "1.", "1E0", "1e3", "1k", float64(4), "64", "1000m")
	case list == "requests":
		return Pick[any](s, "64Mi", "0", "1", "1e6", "100M", "1000000k", "0.5Gi", float64(1048576), "100m")
	default:
		return Pick[any](s, "1Gi", "1G", "2e9", "1T", "1Ei", "9223372036854775807", "1.5Gi")
	}
}

// Folder returns the files of a folder, by name. mdBook cannot serve many of these books, or
// leaves out parts of them.
func (s *Source) Folder() map[string]string {
	spec, files := s.book(), map[string]string{}
	for name, text := range spec["markdowns"].(map[string]any) {
		files[name] = text.(string)
	}
	delete(files, "large.md") // As JSON it can be too large for an object.
	binaries, _ := spec["binaries"].(map[string]any)
	for name, text := range binaries {
		content, _ := base64.StdEncoding.DecodeString(text.(string))
		files[name] = string(content)
	}
	if !s.Maybe(3) {
		for range s.Below(25) {
			files["SUMMARY.md"] += Pick(s, "- [A](page.md)\n", "- [B](missing.md)\n", "- [C](guide/a.md \"; spec.x: y\")\n", "- [D](guide/b; c.md)\n", "text\n", "\n", "# Part\n", "- [E](/abs.md)\n", "  - [F](../x.md)\n", "\t\t- [G]()\n")
		}
		files["page.md"] += "[; and 3 more](x;y.md) [a](<c; spec.a: b>)\n"
	}

	return files
}
