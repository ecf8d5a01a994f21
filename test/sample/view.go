package sample

import "strings"

// View returns a MarkdownView that the XRD admits, as a user writes it, and
// whose texts fit into a ConfigMap.
func (s *Source) View() map[string]any {
	return map[string]any{
		"apiVersion": "markdownview.fn.crossplane.io/v1alpha1",
		"kind":       "MarkdownView",
		"metadata": map[string]any{
			"name":      s.Name(),
			"namespace": s.Namespace(),
		},
		"spec": s.Spec(),
	}
}

// Name returns a legal name of an XR: a DNS subdomain. Most are near a limit of
// the names and labels that are made from it.
func (s *Source) Name() string {
	const (
		inner = "abcxyz0189-."
		edge  = "abcxyz0189"
	)
	n := Pick(s, 8, 1, 2, 3, 20, 44, 45, 51, 52, 53, 55, 56, 57, 62, 63, 64, 65, 200, 252, 253)
	if n == 1 {
		return s.word(edge, 1)
	}

	name := s.word(edge, 1) + s.word(inner, n-2) + s.word(edge, 1)
	// Neither side of a dot may be a dot or a dash.
	for _, bad := range []string{"..", "-.", ".-"} {
		for strings.Contains(name, bad) {
			name = strings.ReplaceAll(name, bad, "aa")
		}
	}

	return name
}

// Namespace returns a legal name of a namespace: a DNS label.
func (s *Source) Namespace() string {
	return Pick(s, "default", "a", "0", "team-docs", "9-lives", strings.Repeat("n", 63))
}

// Spec returns a spec that the XRD admits.
func (s *Source) Spec() map[string]any {
	spec := map[string]any{"markdowns": s.markdowns()}
	if n := s.Below(6); n > 0 {
		spec["replicas"] = float64(n)
	}
	if s.Maybe(2) {
		spec["viewerImage"] = s.Image()
	}
	if s.Maybe(2) {
		spec["resources"] = s.Resources()
	}

	return spec
}

func (s *Source) markdowns() map[string]any {
	files := map[string]any{"SUMMARY.md": "# Summary\n\n- [Page](page.md)\n"}
	for range s.Below(6) {
		files[s.FileName()] = s.Text()
	}
	if s.Maybe(8) {
		files["SUMMARY.md"] = s.Text()
	}
	if s.Maybe(64) {
		files["large.md"] = s.large(files)
	}

	return files
}

// large returns a text that fills a ConfigMap but for the little that a template
// adds.
func (s *Source) large(beside map[string]any) string {
	size := 1<<20 - 64
	for name, text := range beside {
		if name != "large.md" {
			size -= len(text.(string))
		}
	}

	text := Pick(s, "a", "\n", "\"", "一")

	return strings.Repeat(text, size/len(text))
}

// FileName returns a legal key of a ConfigMap.
func (s *Source) FileName() string {
	const chars = "abcXYZ019-_."
	name := Pick(s,
		"page.md", "a", ".hidden", "-", "_", "UPPER.MD", "two.dots.md", "no-extension", "ca.crt", "0", "true", "null",
		strings.Repeat("l", 253), "")
	if name == "" {
		name = "f" + s.word(chars, s.Below(40))
	}

	return name
}

// Text returns a text of any valid UTF-8.
func (s *Source) Text() string {
	b := strings.Builder{}
	for range s.Below(5) {
		b.WriteString(Pick(s,
			"# Title\n\nText.\n",
			"",
			"\n",
			"\n\n  leading blanks",
			"trailing blanks  \t \n\n\n",
			"CR LF\r\nand CR\r",
			"\ttab\t",
			"\u0085next line",
			"\u2028line\u2029paragraph",
			"\ufeffbyte order mark",
			"\u202eright to left\u202c",
			"👩‍👩‍👧‍👦 🏳️‍🌈",
			"一ページ目のコンテンツです。",
			"\x00\x01\x1f\x7f",
			"\ufffd\uffff\U0010ffff",
			"e\u0301 is not \u00e9",
			"null", "true", "0", "0x10", "1e3", "~", "{}", "[]", "---\n", "...\n", "%TAG", "&a *a", "!!str", "key: value\n", "- item\n", "| \n> \n",
			"{{ .Values }} ${VAR} $(VAR) `code` \\n \\u0041 \\",
			"\"double\" 'single'",
			"<script>&amp;</script>",
			strings.Repeat("long line ", 200),
		))
	}
	if s.Maybe(4) {
		b.WriteString(strings.ToValidUTF8(string(s.take(s.Below(64))), "\ufffd"))
	}

	return b.String()
}

// Image returns a legal image reference.
func (s *Source) Image() string {
	return Pick(s,
		"docker.io/peaceiris/mdbook:v0.5.0",
		"peaceiris/mdbook:latest",
		"mdbook",
		"mdbook:0.5",
		"localhost/mdbook",
		"localhost:5000/mdbook",
		"registry.example.com/team/sub/mdbook:v1.2.3-rc.1_x",
		"registry.example.com:443/mdbook@sha256:"+strings.Repeat("0a", 32),
		"ghcr.io/o/mdbook:tag@sha256:"+strings.Repeat("f", 64),
		"127.0.0.1:5000/a__b/c-d.e:T",
		"example.com/"+strings.Repeat("p", 200)+":"+strings.Repeat("t", 128),
	)
}

// Resources returns requests and limits of which no request is above its limit.
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
