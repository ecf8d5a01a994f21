// Package files has the files of a book: where they come from, under which keys a
// ConfigMap stores them, at which paths pods mount them, and whether mdBook can build them.
package files

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/book"
	"github.com/crossplane-contrib/function-markdownview/book/filename"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

// Metadata returns the metadata of a composed resource. If the XR is namespaced, it has
// no namespace: Crossplane sets that of the XR.
func Metadata(v view.View, name string, annotations map[string]string) metav1.ObjectMeta {
	m := metav1.ObjectMeta{
		Name:        name,
		Labels:      view.Union(v.Input.Labels, v.Selector()),
		Annotations: view.Union(v.Input.Annotations, annotations),
	}
	if v.Metadata.Namespace == "" {
		m.Namespace = v.Namespace()
	}

	return m
}

// A ConfigMap is a ConfigMap whose binary files stay in base64, as in the
// request and the response: decoding and encoding a megabyte would take most of the
// time of a call.
type ConfigMap struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Immutable  *bool             `json:"immutable,omitempty"`
	Data       map[string]string `json:"data"`
	BinaryData map[string]string `json:"binaryData"`
}

// NewConfigMap returns the ConfigMap of a view without the files of the book. A template
// is merged over it before the files are added, because the merge encodes everything as
// JSON.
func NewConfigMap(v view.View) *corev1.ConfigMap {
	cm := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: Metadata(v, v.ConfigMapName(), nil),
	}
	if v.Immutable() {
		cm.Immutable = ptr.To(true)
	}

	return cm
}

// MaxBytes is what a ConfigMap can hold.
const MaxBytes = 1 << 20

// Files holds the files of a book as a ConfigMap stores them and pods mount them: those
// of the XR, and those that a template adds.
type Files struct {
	Spec view.Spec
	// shared holds the files of other ConfigMaps. Pods mount them from there, unless
	// they are copied.
	shared []view.SharedFiles
	// static is whether a web server serves the pages, and copied is whether data and
	// binaryData have the files of other ConfigMaps, too.
	static, copied bool
	// Extra is a ConfigMap with only the files of a template.
	Extra *corev1.ConfigMap

	// Data and binaryData hold the files by key. The values of binaryData are base64.
	Data, BinaryData map[string]string
	// Items maps keys to file names in a volume. It is empty if the key of every file
	// is its name: the volume then shows a new file without a change of the pod
	// template.
	Items []corev1.KeyToPath
	// Keys holds the keys of the files of the XR.
	Keys map[string]bool

	// summary is the generated SUMMARY.md, if there is one.
	summary string
}

// Of returns the files of a view. extra has those that a template adds.
func Of(v view.View, extra *corev1.ConfigMap) *Files {
	s := v.Spec.Spec
	n := len(s.Markdowns) + len(s.Binaries) + 1
	f := &Files{Spec: s, shared: v.Shared(), static: v.Input.Server != nil, Extra: extra, Data: make(map[string]string, n), BinaryData: map[string]string{}, Keys: make(map[string]bool, n)}
	maps.Copy(f.Data, extra.Data)
	for name, b := range extra.BinaryData {
		f.BinaryData[name] = base64.StdEncoding.EncodeToString(b)
	}
	nested := false
	for name, text := range s.Markdowns {
		key := filename.Key(name)
		f.addText(key, text)
		f.Keys[key] = true
		nested = nested || key != name
	}
	for name, text := range s.Binaries {
		key := filename.Key(name)
		f.BinaryData[key] = canonical(text)
		f.Keys[key] = true
		nested = nested || key != name
	}
	if f.GeneratesSummary() {
		f.Keys[view.SummaryName] = true
	}
	if nested {
		f.Items = f.allItems()
	}

	return f
}

// addText adds a text file. Text that is not plain is stored in binaryData, as
// base64. Pods see the same file.
func (f *Files) addText(key, text string) {
	if view.Plain(text) {
		f.Data[key] = text
	} else {
		f.BinaryData[key] = base64.StdEncoding.EncodeToString([]byte(text))
	}
}

// allItems returns an item for every file: a volume with items has no other files.
func (f *Files) allItems() []corev1.KeyToPath {
	items := make([]corev1.KeyToPath, 0, len(f.Data)+len(f.BinaryData))
	add := func(name, key string) { items = append(items, corev1.KeyToPath{Key: key, Path: name}) }
	for name := range f.Spec.Markdowns {
		add(name, filename.Key(name))
	}
	for name := range f.Spec.Binaries {
		add(name, filename.Key(name))
	}
	if f.GeneratesSummary() {
		add(view.SummaryName, view.SummaryName)
	}
	for name := range f.Extra.Data {
		add(name, name)
	}
	for name := range f.Extra.BinaryData {
		add(name, name)
	}
	for _, s := range f.shared {
		for _, key := range s.Keys() {
			if f.copied {
				add(s.File(key), filename.Key(s.File(key)))
			}
		}
	}
	slices.SortFunc(items, func(a, b corev1.KeyToPath) int { return strings.Compare(a.Path, b.Path) })

	return items
}

// WithCopies returns the files with copies of those of other ConfigMaps, which pods then
// read from our ConfigMap. It returns f if they do not fit in it.
//
// Only pods of a web server need copies: they build the book once, and the other
// ConfigMaps can change before a pod reads them. mdBook builds the book again.
func (f *Files) WithCopies() *Files {
	if !f.static || len(f.shared) == 0 {
		return f
	}
	size := sizeOf(f.Data, f.BinaryData)
	for _, s := range f.shared {
		size += sizeOf(s.Data, s.BinaryData)
	}
	if size > MaxBytes {
		return f
	}
	c := *f
	c.copied, c.Data, c.BinaryData = true, maps.Clone(f.Data), maps.Clone(f.BinaryData)
	nested := len(f.Items) > 0
	for _, s := range f.shared {
		for _, key := range s.Keys() {
			name := filename.Key(s.File(key))
			_, text := c.Data[name]
			_, binary := c.BinaryData[name]
			if text || binary {
				return f // Two files have the same key.
			}
			if text, ok := s.Data[key]; ok {
				c.addText(name, text)
			} else {
				c.BinaryData[name] = s.BinaryData[key]
			}
			nested = nested || name != s.File(key)
		}
	}
	if nested {
		c.Items = c.allItems()
	}

	return &c
}

// ConfigMap returns the ConfigMap that holds the files.
func (f *Files) ConfigMap() *ConfigMap {
	return &ConfigMap{
		TypeMeta:   f.Extra.TypeMeta,
		ObjectMeta: f.Extra.ObjectMeta,
		Immutable:  f.Extra.Immutable,
		Data:       f.Data,
		BinaryData: f.BinaryData,
	}
}

// Book returns the files to check, without a generated SUMMARY.md. How a file is stored
// says nothing about its content: Helm's b64enc writes text to binaryData, and pods mount
// the same bytes. So UTF-8 text is text everywhere.
func (f *Files) Book() book.Files {
	b := book.Files{Markdowns: view.Union(f.Extra.Data, f.Spec.Markdowns), Shared: map[string]bool{}, Redirects: f.Spec.Book.Redirects}
	add := func(name string, content []byte, err error) {
		if _, twice := b.Markdowns[name]; err == nil && !twice && utf8.Valid(content) {
			b.Markdowns[name] = string(content)
		} else {
			b.Binaries = append(b.Binaries, name)
		}
	}
	for name, text := range f.Spec.Binaries {
		content, err := base64.StdEncoding.DecodeString(text)
		add(name, content, err)
	}
	for name, content := range f.Extra.BinaryData {
		add(name, content, nil)
	}
	for _, s := range f.shared {
		for key, text := range s.Data {
			b.Markdowns[s.File(key)] = text
			b.Shared[s.File(key)] = true
		}
		for key, text := range s.BinaryData {
			content, err := base64.StdEncoding.DecodeString(text)
			add(s.File(key), content, err)
			b.Shared[s.File(key)] = true
		}
	}

	return b
}

// GeneratesSummary returns whether SUMMARY.md is generated.
func (f *Files) GeneratesSummary() bool {
	if _, ok := f.Spec.Markdowns[view.SummaryName]; ok || f.Spec.Summary != view.SummaryAuto {
		return false
	}

	return !slices.ContainsFunc(f.shared, func(s view.SharedFiles) bool {
		_, text := s.Data[view.SummaryName]
		_, binary := s.BinaryData[view.SummaryName]

		return s.Path == "" && (text || binary)
	})
}

// SetSummary adds a generated SUMMARY.md.
func (f *Files) SetSummary(text string) {
	f.summary = text
	delete(f.Data, view.SummaryName)
	f.addText(view.SummaryName, text)
}

// Check reads all files. It returns the errors, which keep mdBook from building the
// book, and the problems of a book that mdBook serves.
func (f *Files) Check() (field.ErrorList, book.Problems) {
	if f.Spec.BookImage() != nil {
		return nil, book.Problems{}
	}
	errs := f.validateShared()
	for name, text := range f.Spec.Binaries {
		if _, err := base64.StdEncoding.DecodeString(text); err != nil && len(errs) <= view.MaxFiles {
			errs = append(errs, field.Invalid(field.NewPath("spec", "binaries").Key(report.Short(name)), field.OmitValueType{}, "must be text in base64"))
		}
	}
	b, at := f.Book(), field.NewPath("spec", "markdowns")
	if len(f.shared) > 0 {
		at = field.NewPath("spec")
	}
	if f.GeneratesSummary() {
		b.Markdowns[view.SummaryName] = f.summary
		if Size(f.Spec)+len(f.summary) > MaxBytes {
			errs = append(errs, field.Forbidden(at, "shorten the files or split the book: together with the generated SUMMARY.md they have more than 1 MiB (1048576 bytes)"))
		}
	}
	if slices.Contains(b.Binaries, view.SummaryName) {
		return append(errs, field.Invalid(at, field.OmitValueType{}, "save SUMMARY.md as UTF-8 text: mdBook cannot read it")), book.Problems{}
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

// Validate returns the errors that can be found without reading the files. If
// there are too many files, or they are too large, none is read: rejecting a
// book must not cost more than composing it.
func Validate(s view.Spec, at *field.Path) field.ErrorList {
	const addSummary = "add SUMMARY.md, which lists the chapters"
	markdowns, binaries := at.Child("markdowns"), at.Child("binaries")
	all := len(s.Markdowns) + len(s.Binaries)
	switch {
	case len(s.Markdowns)+len(s.MarkdownsFrom) == 0:
		return field.ErrorList{field.Required(markdowns, addSummary)}
	case len(s.Markdowns) > view.MaxFiles:
		return field.ErrorList{field.TooMany(markdowns, len(s.Markdowns), view.MaxFiles)}
	case all > view.MaxFiles:
		return field.ErrorList{field.Forbidden(binaries, fmt.Sprintf("split the book: spec.markdowns and spec.binaries together have %d files, and a book has at most %d", all, view.MaxFiles))}
	}

	var errs field.ErrorList
	// A ConfigMap of spec.markdownsFrom may have SUMMARY.md.
	if _, ok := s.Markdowns[view.SummaryName]; !ok && s.Summary != view.SummaryAuto && len(s.MarkdownsFrom) == 0 {
		errs = append(errs, field.Required(markdowns, addSummary))
	}
	if _, ok := s.Binaries[view.SummaryName]; ok {
		errs = append(errs, field.Forbidden(binaries, "move SUMMARY.md to markdowns, as text"))
	}
	switch {
	case sizeOf(s.Markdowns, nil) > MaxBytes:
		errs = append(errs, field.Forbidden(markdowns, "shorten the files or split the book: the text has more than 1 MiB (1048576 bytes)"))
	case Size(s) > MaxBytes:
		errs = append(errs, field.Forbidden(binaries, "shorten the files or split the book: markdowns and binaries together have more than 1 MiB (1048576 bytes)"))
	}

	return errs
}

// Size returns the size of all files in bytes, those of binaries without base64.
func Size(s view.Spec) int { return sizeOf(s.Markdowns, s.Binaries) }

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
