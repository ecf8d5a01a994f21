package check

import (
	"encoding/base64"
	"unicode/utf8"

	"github.com/crossplane-contrib/function-markdownview/book"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/markdownview/internal/render"
)

// filesOf returns files by name for package book, with a generated SUMMARY.md if auto.
func filesOf(content map[string][]byte, auto bool) book.Files {
	files := book.Files{Markdowns: map[string]string{}}
	for name, b := range content {
		if utf8.Valid(b) {
			files.Markdowns[name] = string(b)
		} else {
			files.Binaries = append(files.Binaries, name)
		}
	}
	if _, ok := content[view.SummaryName]; !ok && auto {
		files.Markdowns[view.SummaryName] = book.Summary(files)
	}

	return files
}

// rejected returns the files of a MarkdownView that the function rejects.
func rejected(c *render.Call) map[string][]byte {
	content := map[string][]byte{}
	add := func(folder string, object map[string]any, texts, binaries string) {
		for _, field := range []string{texts, binaries} {
			values, _ := object[field].(map[string]any)
			for name, value := range values {
				text, _ := value.(string)
				content[folder+name] = []byte(text)
				if b, err := base64.StdEncoding.DecodeString(text); err == nil && field == binaries {
					content[folder+name] = b
				}
			}
		}
	}
	spec := specOf(c)
	add("", spec, "markdowns", "binaries")
	from, _ := spec["markdownsFrom"].([]any)
	for _, entry := range from {
		e, _ := entry.(map[string]any)
		cm, _ := e["configMap"].(map[string]any)
		name, _ := cm["name"].(string)
		path, _ := e["path"].(string)
		if path != "" {
			path += "/"
		}
		for _, r := range c.Request.GetRequiredResources()["configmap/"+name].GetItems() {
			add(path, r.GetResource().AsMap(), "data", "binaryData")
		}
	}

	return content
}

func specOf(c *render.Call) map[string]any {
	spec, _ := c.Request.GetObserved().GetComposite().GetResource().AsMap()["spec"].(map[string]any)

	return spec
}
