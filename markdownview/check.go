package main

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"

	"github.com/crossplane-contrib/function-markdownview/book"
	reports "github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/markdownview/internal/folder"
	"github.com/crossplane-contrib/function-markdownview/markdownview/internal/proof"
)

type checkCommand struct {
	policy `embed:""`

	Paths         []string `arg:"" help:"Folders with the files of a book, and files with MarkdownViews and their ConfigMaps." name:"path"`
	Format        string   `default:"text" enum:"text,sarif" help:"text, or sarif for code hosts, which show the problems in a pull request."`
	AllowWarnings bool     `help:"Exit with 0 if there are only warnings, such as links that lead nowhere."`
}

// Help is shown by --help.
func (checkCommand) Help() string {
	return `An error is what the function rejects. A warning is about a book that it serves: the message of BookComplete, and links, images and anchors that lead nowhere. To check the rules of your platform, such as allowed images, name its Composition.

  markdownview check docs
  markdownview check book.yaml --composition composition.yaml
  markdownview check docs --format sarif > results.sarif`
}

// The levels of findings, as SARIF names them.
const (
	levelError   = "error"
	levelWarning = "warning"
)

// A finding is a problem of a book.
type finding struct {
	File    string
	Line    int // 0 means the whole file.
	Level   string
	Rule    string // A reason of a condition, or a kind of package proof.
	Message string
}

// String returns a finding as compilers print theirs.
func (f finding) String() string {
	at := f.File
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d", f.File, f.Line)
	}

	return fmt.Sprintf("%s: %s: %s (%s)", at, f.Level, f.Message, f.Rule)
}

// Run prints the findings.
func (c *checkCommand) Run() error {
	findings, err := c.check(newProgress())
	if err != nil {
		return err
	}
	if c.Format == "sarif" {
		err = writeSARIF(os.Stdout, findings)
	} else {
		err = writeText(os.Stdout, findings)
	}
	if err != nil {
		return fmt.Errorf("cannot write the problems: %w", err)
	}
	if slices.ContainsFunc(findings, func(f finding) bool { return f.Level == levelError || !c.AllowWarnings }) {
		return errFound
	}

	return nil
}

func writeText(w io.Writer, findings []finding) error {
	for _, f := range findings {
		if _, err := fmt.Fprintln(w, f); err != nil {
			return err
		}
	}

	return nil
}

// check returns the findings of all paths.
func (c *checkCommand) check(p *progress) (findings []finding, err error) {
	all := map[string]sources{}
	var texts []string
	for _, path := range c.Paths {
		s := load(path, c.policy)
		if s.problem != "" {
			return nil, errors.New(s.problem)
		}
		all[path], texts = s, append(texts, s.xr)
	}
	resources := strings.Join(texts, "\n---\n")
	for _, path := range c.Paths {
		k := &checker{sources: all[path], files: all, composition: cmp.Or(c.Composition, c.Input), progress: p}
		if all[path].stamp != "" {
			err = k.checkFolder()
		} else {
			err = k.checkFile(resources)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot check %s: %w", path, err)
		}
		findings = append(findings, k.findings...)
	}
	slices.SortStableFunc(findings, func(a, b finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})

	return findings, nil
}

// A checker checks a folder or a file.
type checker struct {
	sources

	files       map[string]sources // All files of the command, by path.
	composition string             // The file with the Input.
	progress    *progress
	place       place
	findings    []finding
}

// A place is where the texts of a book are written.
type place interface {
	// file returns the file and the line of a line of a file of the book.
	file(name string, line int) (string, int)
	// field returns the file and the line of a field of the MarkdownView.
	field(path string) (string, int)
}

// inFolder is the place of a book in a folder.
type inFolder struct{ *folder.Folder }

func (f inFolder) file(name string, line int) (string, int) {
	if !slices.ContainsFunc(f.Files, func(file folder.File) bool { return file.Name == name }) {
		return f.Path, 0 // Such as a generated SUMMARY.md.
	}

	return f.Shown(name), line
}

var fileField = regexp.MustCompile(`^spec\.(?:markdowns|binaries)\[(.+?)\]:`)

func (f inFolder) field(path string) (string, int) {
	if m := fileField.FindStringSubmatch(path + ":"); m != nil {
		return f.file(m[1], 0)
	}

	return f.Path, 0
}

// checkFolder checks a folder as the MarkdownView and the ConfigMaps that pack writes. The
// function does not read a book in an image.
func (k *checker) checkFolder() error {
	f, err := folder.List(k.path, k.progress.printf)
	if err != nil {
		return err
	}
	content, err := f.Read()
	if err != nil {
		return err
	}
	k.place = inFolder{f}
	packed, err := f.Pack(content, folder.View{Name: nameOf(k.path)})
	if errors.Is(err, folder.ErrImage) {
		fmt.Fprintf(os.Stderr, "%v: it is checked as a book in an image\n", err)
		k.add(nil, filesOf(content, false))

		return nil
	}
	if err != nil {
		return err
	}
	text, err := packed.YAML()
	if err != nil {
		return err
	}
	k.xr = string(text)
	c, err := k.call(0, k.xr)
	if err != nil {
		return err
	}
	k.add(c, filesOf(content, true))

	return nil
}

// checkFile checks the MarkdownViews of a file. A file with only ConfigMaps is for those of
// other files.
func (k *checker) checkFile(resources string) error {
	views, others := 0, false
	if _, err := find(k.xr, "", func(o object) bool {
		if o.isView() {
			views++
		}
		others = others || o.Kind == "ConfigMap"

		return false
	}); !errors.Is(err, errNotFound) {
		return fmt.Errorf("%w: name a folder, or a file with a MarkdownView", err)
	}
	if views == 0 && !others {
		return errors.New("the file has no MarkdownView: name a folder, or a file with a MarkdownView")
	}
	for n := range views {
		c, err := k.call(n, resources)
		if err != nil {
			return err
		}
		k.place = newInYAML(k.path, n, k.files)
		files := filesOf(c.files(), c.auto())
		if b, err := layout(c.mounted()); err == nil {
			files = filesOf(b.files, false)
		}
		k.add(c, files)
	}

	return nil
}

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

// files returns the files of a MarkdownView that the function rejects.
func (c *call) files() map[string][]byte {
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
	spec := c.spec()
	add("", spec, "markdowns", "binaries")
	from, _ := spec["markdownsFrom"].([]any)
	for _, entry := range from {
		name, path := sourceOf(entry)
		if path != "" {
			path += "/"
		}
		for _, r := range c.req.GetRequiredResources()["configmap/"+name].GetItems() {
			add(path, r.GetResource().AsMap(), "data", "binaryData")
		}
	}

	return content
}

func (c *call) spec() map[string]any {
	spec, _ := c.req.GetObserved().GetComposite().GetResource().AsMap()["spec"].(map[string]any)

	return spec
}

func (c *call) auto() bool { return c.spec()["summary"] == view.SummaryAuto }

// sourceOf returns the name of the ConfigMap of an entry of spec.markdownsFrom, and its folder.
func sourceOf(entry any) (name, path string) {
	e, _ := entry.(map[string]any)
	cm, _ := e["configMap"].(map[string]any)
	name, _ = cm["name"].(string)
	path, _ = e["path"].(string)

	return name, path
}

// add adds the findings of a call, or of a book in an image without one.
func (k *checker) add(c *call, files book.Files) {
	problems, warnings := book.Check(files)
	if c == nil {
		k.addProblems(problems.Lines(), problems.First, "", levelError, reports.ReasonInvalidSpec)
		k.addProblems(warnings.Lines(), warnings.First, "", levelWarning, reports.ReasonIncomplete)
	} else {
		k.addConditions(c, problems.First, warnings.First)
	}
	if len(problems.First) > 0 {
		return
	}
	said := map[finding]bool{}
	for _, f := range k.findings {
		f.Level, f.Rule = "", ""
		said[f] = true
	}
	for _, p := range proof.Read(files, k.progress.printf) {
		file, line := k.place.file(p.File, p.Line)
		if !said[finding{File: file, Line: line, Message: p.Message}] {
			k.findings = append(k.findings, finding{file, line, levelWarning, p.Kind, p.Message})
		}
	}
}

// incomplete is how the message of BookComplete begins.
const incomplete = "The book has problems: "

// addConditions adds what the function reports.
func (k *checker) addConditions(c *call, problems, warnings []book.Problem) {
	degraded := false
	for _, condition := range c.rsp.GetConditions() {
		message, reason := condition.GetMessage(), condition.GetReason()
		switch status := condition.GetStatus(); {
		case condition.GetType() == reports.TypeDegraded && status == fnv1.Status_STATUS_CONDITION_TRUE:
			degraded = true
			prefix := "spec.markdowns: Invalid value: "
			if len(c.req.GetRequiredResources()) > 0 {
				prefix = "spec: Invalid value: "
			}
			k.addProblems(pieces(message, prefix, problems), problems, prefix, levelError, reason)
		case condition.GetType() == reports.TypeBookComplete && status == fnv1.Status_STATUS_CONDITION_FALSE:
			k.addProblems(pieces(strings.TrimPrefix(message, incomplete), "", warnings), warnings, "", levelWarning, reason)
		}
	}
	for _, r := range c.rsp.GetResults() {
		if r.GetSeverity() == fnv1.Severity_SEVERITY_FATAL && !degraded {
			k.findings = append(k.findings, finding{File: k.path, Level: levelError, Rule: r.GetReason(), Message: r.GetMessage()})
		}
	}
}

// pieces splits a message of the function into its problems. Those of the book are known,
// because a text of a book can have any character.
func pieces(message, prefix string, known []book.Problem) (all []string) {
	texts := make([]string, 0, len(known))
	for _, p := range known {
		texts = append(texts, reports.Line(prefix+p.String()))
	}
	slices.SortFunc(texts, func(a, b string) int { return len(b) - len(a) })
	for _, text := range texts {
		before, after, found := strings.Cut(message, text)
		if found {
			all = append(all, text)
			message = before + "\n" + after // No other text has a line feed.
		}
	}
	for piece := range strings.SplitSeq(message, "; ") {
		switch {
		case piece == "\n", piece == "":
		case len(all) == 0, piece == "and more", startsField.MatchString(piece), startsMore.MatchString(piece):
			all = append(all, piece)
		default:
			all[len(all)-1] += "; " + piece
		}
	}

	return all
}

var (
	startsField = regexp.MustCompile(`^(?:spec|input|metadata|apiVersion|kind)\b[^ ]*:`)
	startsMore  = regexp.MustCompile(`^and [0-9]+ more`)
)

// addProblems adds the texts of problems, of which those of the book are known.
func (k *checker) addProblems(texts []string, known []book.Problem, prefix, level, rule string) {
	for _, text := range texts {
		f := finding{Level: level, Rule: rule, Message: text}
		field, _, _ := strings.Cut(text, ": ")
		f.File, f.Line = k.place.field(field)
		if strings.HasPrefix(field, "input") {
			f.File, f.Line = cmp.Or(k.composition, f.File), 0
		}
		for _, p := range known {
			if reports.Line(prefix+p.String()) != text {
				continue
			}
			if f.Message = p.Message; p.File != "" {
				f.File, f.Line = k.place.file(p.File, p.Line)
			}

			break
		}
		k.findings = append(k.findings, f)
	}
}
