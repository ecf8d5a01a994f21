package book

import (
	"cmp"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/crossplane-contrib/function-markdownview/book/internal/markdown"
)

// RedirectURL returns a target of a redirect as a URL relative to the page that redirects,
// so that it leads to the same page below any address. "/" is the folder of the first page,
// and no number of ".." leads out of the book. URLs with a scheme stay.
func RedirectURL(page, target string) string {
	if markdown.HasScheme(target) {
		return target
	}
	name, rest := redirected(page, target)

	return cmp.Or(strings.Repeat("../", strings.Count(page, "/")-1), "./") + name + rest
}

// redirected returns the path below the output that a redirect leads to, which may end with
// a slash or be empty, and the query and fragment of its target.
func redirected(page, target string) (name, rest string) {
	if i := strings.IndexAny(target, "#?"); i >= 0 {
		target, rest = target[:i], target[i:]
	}
	folder := strings.HasSuffix(target, "/")
	if !strings.HasPrefix(target, "/") {
		target = path.Join("/", path.Dir(page), target)
	}
	name = path.Clean(target)[1:]
	if folder && name != "" {
		name += "/"
	}

	return name, rest
}

// checkRedirects reports redirects that would replace a page or a file, or that lead
// nowhere.
func (o *output) checkRedirects(x *index, r *report) {
	folders := map[string]bool{}
	for _, name := range x.names {
		for folder := path.Dir(name); folder != "."; folder = path.Dir(folder) {
			folders[folder] = true
		}
	}
	pages := slices.Sorted(maps.Keys(x.Redirects))
	for _, from := range pages {
		page := strings.TrimPrefix(from, "/")
		chapter, isPage := o.pages[page]
		switch {
		case isPage:
			r.errors.Addf("", 0, "remove the redirect of \"%s\" or chapter \"%s\": the redirect hides its page", from, chapter)
		case o.copies[page] || folders[page]:
			r.errors.Addf("", 0, "remove the redirect of \"%s\", or the file or folder of this name: the redirect hides it", from)
		case ownFiles[page]:
			r.errors.Addf("", 0, "remove the redirect of \"%s\": it hides a page that mdBook writes", from)
		}
		for folder := path.Dir(page); folder != "."; folder = path.Dir(folder) {
			if _, redirects := x.Redirects["/"+folder]; redirects || o.serves(folder) {
				r.errors.Addf("", 0, "remove the redirect of \"%s\", or the page or file \"%s\": a folder of the redirect has its name", from, folder)
			}
		}
		o.warnRedirect(x, from, r)
	}
	// A link of a chapter may lead to a redirect.
	for _, from := range pages {
		o.copies[strings.TrimPrefix(from, "/")] = true
	}
}

// warnRedirect reports a redirect that leads nowhere.
func (o *output) warnRedirect(x *index, from string, r *report) {
	target := x.Redirects[from]
	if markdown.HasScheme(target) {
		return
	}
	name, _ := redirected(from, target)
	if decoded, err := url.PathUnescape(name); err == nil {
		name = decoded
	}
	_, again := x.Redirects["/"+name]
	switch {
	case again:
		r.warnings.Addf("", 0, "in the redirect of \"%[1]s\", name the page that \"%[2]s\" leads to: \"%[2]s\" is a redirect too", from, "/"+name)
	case !o.serves(name) && !o.serves(path.Join(name, "index.html")):
		r.warnings.Addf("", 0, "fix the redirect of \"%s\", which leads nowhere, or add \"%s\" to the book", from, "/"+name)
	}
}

// serves returns whether the output has a file.
func (o *output) serves(name string) bool {
	_, ok := o.pages[name]

	return ok || o.copies[name] || ownFiles[name]
}
