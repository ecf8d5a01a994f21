package fn

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/book"
)

// The values of spec.summary.
const (
	// summaryRequired means that SUMMARY.md must be among the files.
	summaryRequired = "Required"
	// summaryAuto means that the function generates SUMMARY.md if it is absent.
	summaryAuto = "Auto"
)

// files holds the files of a book as a ConfigMap stores them and pods mount them: those
// of the XR, and those that a template adds.
type files struct {
	spec spec
	// shared holds the files of other ConfigMaps. Pods mount them from there, unless
	// they are copied.
	shared []sharedFiles
	// static is whether a web server serves the pages, and copied is whether data and
	// binaryData have the files of other ConfigMaps, too.
	static, copied bool
	// extra is a ConfigMap with only the files of a template.
	extra *corev1.ConfigMap

	// data and binaryData hold the files by key. The values of binaryData are base64.
	data, binaryData map[string]string
	// items maps keys to file names in a volume. It is empty if the key of every file
	// is its name: the volume then shows a new file without a change of the pod
	// template.
	items []corev1.KeyToPath
	// keys holds the keys of the files of the XR.
	keys map[string]bool

	// summary is the generated SUMMARY.md, if there is one.
	summary string
}

func filesOf(v view, extra *corev1.ConfigMap) *files {
	s := v.Spec.spec
	n := len(s.Markdowns) + len(s.Binaries) + 1
	f := &files{spec: s, shared: v.shared(), static: v.input.Server != nil, extra: extra, data: make(map[string]string, n), binaryData: map[string]string{}, keys: make(map[string]bool, n)}
	maps.Copy(f.data, extra.Data)
	for name, b := range extra.BinaryData {
		f.binaryData[name] = base64.StdEncoding.EncodeToString(b)
	}
	nested := false
	for name, text := range s.Markdowns {
		key := book.Key(name)
		f.addText(key, text)
		f.keys[key] = true
		nested = nested || key != name
	}
	for name, text := range s.Binaries {
		key := book.Key(name)
		f.binaryData[key] = canonical(text)
		f.keys[key] = true
		nested = nested || key != name
	}
	if f.generatesSummary() {
		f.keys[summary] = true
	}
	if nested {
		f.items = f.allItems()
	}

	return f
}

// addText adds a text file. A text that is not plain is stored in binaryData, as
// base64. Pods see the same file.
func (f *files) addText(key, text string) {
	if plain(text) {
		f.data[key] = text
	} else {
		f.binaryData[key] = base64.StdEncoding.EncodeToString([]byte(text))
	}
}

// allItems returns an item for every file: a volume with items has no other files.
func (f *files) allItems() []corev1.KeyToPath {
	items := make([]corev1.KeyToPath, 0, len(f.data)+len(f.binaryData))
	add := func(name, key string) { items = append(items, corev1.KeyToPath{Key: key, Path: name}) }
	for name := range f.spec.Markdowns {
		add(name, book.Key(name))
	}
	for name := range f.spec.Binaries {
		add(name, book.Key(name))
	}
	if f.generatesSummary() {
		add(summary, summary)
	}
	for name := range f.extra.Data {
		add(name, name)
	}
	for name := range f.extra.BinaryData {
		add(name, name)
	}
	for _, s := range f.shared {
		for _, key := range s.keys() {
			if f.copied {
				add(s.file(key), book.Key(s.file(key)))
			}
		}
	}
	slices.SortFunc(items, func(a, b corev1.KeyToPath) int { return strings.Compare(a.Path, b.Path) })

	return items
}

// withCopies returns the files with copies of those of other ConfigMaps, which pods then
// read from our ConfigMap. It returns f if they do not fit in it.
//
// Only pods of a web server need copies: they build the book once, and the other
// ConfigMaps can change before a pod reads them. mdBook builds the book again.
func (f *files) withCopies() *files {
	if !f.static || len(f.shared) == 0 {
		return f
	}
	size := sizeOf(f.data, f.binaryData)
	for _, s := range f.shared {
		size += sizeOf(s.Data, s.BinaryData)
	}
	if size > maxBytes {
		return f
	}
	c := *f
	c.copied, c.data, c.binaryData = true, maps.Clone(f.data), maps.Clone(f.binaryData)
	nested := len(f.items) > 0
	for _, s := range f.shared {
		for _, key := range s.keys() {
			name := book.Key(s.file(key))
			_, text := c.data[name]
			_, binary := c.binaryData[name]
			if text || binary {
				return f // Two files have the same key.
			}
			if text, ok := s.Data[key]; ok {
				c.addText(name, text)
			} else {
				c.binaryData[name] = s.BinaryData[key]
			}
			nested = nested || name != s.file(key)
		}
	}
	if nested {
		c.items = c.allItems()
	}

	return &c
}

// mounted returns the files of other ConfigMaps that pods mount from there.
func (f *files) mounted() []sharedFiles {
	if f.copied {
		return nil
	}

	return f.shared
}

// configMap returns the ConfigMap that holds the files.
func (f *files) configMap() *composedConfigMap {
	return &composedConfigMap{
		TypeMeta:   f.extra.TypeMeta,
		ObjectMeta: f.extra.ObjectMeta,
		Immutable:  f.extra.Immutable,
		Data:       f.data,
		BinaryData: f.binaryData,
	}
}

// book returns the files to check, without a generated SUMMARY.md. How a file is stored
// says nothing about its content: Helm's b64enc writes text to binaryData, and pods mount
// the same bytes. So UTF-8 text is text everywhere.
func (f *files) book() book.Files {
	b := book.Files{Markdowns: union(f.extra.Data, f.spec.Markdowns), Shared: map[string]bool{}}
	add := func(name string, content []byte, err error) {
		if _, twice := b.Markdowns[name]; err == nil && !twice && utf8.Valid(content) {
			b.Markdowns[name] = string(content)
		} else {
			b.Binaries = append(b.Binaries, name)
		}
	}
	for name, text := range f.spec.Binaries {
		content, err := base64.StdEncoding.DecodeString(text)
		add(name, content, err)
	}
	for name, content := range f.extra.BinaryData {
		add(name, content, nil)
	}
	for _, s := range f.shared {
		for key, text := range s.Data {
			b.Markdowns[s.file(key)] = text
			b.Shared[s.file(key)] = true
		}
		for key, text := range s.BinaryData {
			content, err := base64.StdEncoding.DecodeString(text)
			add(s.file(key), content, err)
			b.Shared[s.file(key)] = true
		}
	}

	return b
}

// generatesSummary returns whether SUMMARY.md is generated.
func (f *files) generatesSummary() bool {
	if _, ok := f.spec.Markdowns[summary]; ok || f.spec.Summary != summaryAuto {
		return false
	}

	return !slices.ContainsFunc(f.shared, func(s sharedFiles) bool {
		_, text := s.Data[summary]
		_, binary := s.BinaryData[summary]

		return s.path == "" && (text || binary)
	})
}

// setSummary adds a generated SUMMARY.md.
func (f *files) setSummary(text string) {
	f.summary = text
	delete(f.data, summary)
	f.addText(summary, text)
}

// check reads all files. It returns the errors, which keep mdBook from building the
// book, and the problems of a book that mdBook serves.
func (f *files) check() (field.ErrorList, book.Problems) {
	if f.spec.bookImage() != nil {
		return nil, book.Problems{}
	}
	errs := f.validateShared()
	for name, text := range f.spec.Binaries {
		if _, err := base64.StdEncoding.DecodeString(text); err != nil && len(errs) <= maxFiles {
			errs = append(errs, field.Invalid(field.NewPath("spec", "binaries").Key(short(name)), field.OmitValueType{}, "must be text in base64"))
		}
	}
	b, at := f.book(), field.NewPath("spec", "markdowns")
	if len(f.shared) > 0 {
		at = field.NewPath("spec")
	}
	if f.generatesSummary() {
		b.Markdowns[summary] = f.summary
		if f.spec.size()+len(f.summary) > maxBytes {
			errs = append(errs, field.Forbidden(at, "holds more than 1 MiB (1048576 bytes) together with the generated SUMMARY.md: shorten the files or split the book"))
		}
	}
	if slices.Contains(b.Binaries, summary) {
		return append(errs, field.Invalid(at, field.OmitValueType{}, "SUMMARY.md is not UTF-8 text: save it as UTF-8")), book.Problems{}
	}
	problems, warnings := book.Check(b)
	for _, problem := range problems.First {
		errs = append(errs, field.Invalid(at, field.OmitValueType{}, problem.String()))
	}
	if problems.More > 0 {
		errs = append(errs, field.Invalid(at, field.OmitValueType{}, fmt.Sprintf("the book has %d more errors", problems.More)))
	}

	return errs, warnings
}

// validateFiles returns the errors that can be found without reading the files. If
// there are too many files, or they are too large, none is read: rejecting a
// book must not cost more than composing it.
func (s spec) validateFiles(at *field.Path) field.ErrorList {
	markdowns, binaries := at.Child("markdowns"), at.Child("binaries")
	all := len(s.Markdowns) + len(s.Binaries)
	switch {
	case len(s.Markdowns)+len(s.MarkdownsFrom) == 0:
		return field.ErrorList{field.Required(markdowns, messageEmpty)}
	case len(s.Markdowns) > maxFiles:
		return field.ErrorList{field.TooMany(markdowns, len(s.Markdowns), maxFiles)}
	case all > maxFiles:
		return field.ErrorList{field.Forbidden(binaries, fmt.Sprintf("spec.markdowns and spec.binaries together have %d files, and a book has at most %d: split the book", all, maxFiles))}
	}

	var errs field.ErrorList
	// A ConfigMap of spec.markdownsFrom may have SUMMARY.md.
	if _, ok := s.Markdowns[summary]; !ok && s.Summary != summaryAuto && len(s.MarkdownsFrom) == 0 {
		errs = append(errs, field.Required(markdowns, messageSummary))
	}
	if _, ok := s.Binaries[summary]; ok {
		errs = append(errs, field.Forbidden(binaries, messageBinary))
	}
	switch {
	case s.textSize() > maxBytes:
		errs = append(errs, field.Forbidden(markdowns, messageSize))
	case s.size() > maxBytes:
		errs = append(errs, field.Forbidden(binaries, messageSizes))
	}

	return errs
}

func (s spec) textSize() int { return sizeOf(s.Markdowns, nil) }

// size returns the size of all files in bytes, those of binaries without base64.
func (s spec) size() int { return sizeOf(s.Markdowns, s.Binaries) }

// sizeOf returns the size in bytes of the files of a ConfigMap, those of binaryData
// without base64.
func sizeOf(data, binaryData map[string]string) int {
	size := 0
	for _, text := range data {
		size += len(text)
	}
	for _, text := range binaryData {
		n := len(text) - strings.Count(text, "\n") - strings.Count(text, "\r")
		size += n/4*3 - strings.Count(text[max(0, len(text)-4):], "=")
	}

	return size
}

// canonical returns base64 text as the API server writes it: without line breaks, and
// with zero bits after the last byte. It does not validate the text.
func canonical(text string) string {
	if strings.IndexByte(text, '\n') >= 0 || strings.IndexByte(text, '\r') >= 0 {
		text = strings.NewReplacer("\r", "", "\n", "").Replace(text)
	}
	last := text[max(0, len(text)-4):]
	b, err := base64.StdEncoding.DecodeString(last)
	if again := base64.StdEncoding.EncodeToString(b); err == nil && again != last {
		text = text[:len(text)-len(last)] + again
	}

	return text
}
