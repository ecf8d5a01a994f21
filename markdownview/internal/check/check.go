// Package check finds the problems of books: what the function would report, and links,
// images and anchors that lead nowhere.
package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"

	"github.com/crossplane-contrib/function-markdownview/book"
	reports "github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/markdownview/internal/folder"
	"github.com/crossplane-contrib/function-markdownview/markdownview/internal/proof"
	"github.com/crossplane-contrib/function-markdownview/markdownview/internal/render"
)

// Check returns the findings of folders and files. It calls progress for each file.
func Check(ctx context.Context, paths []string, policy render.Policy, progress func(format string, args ...any)) (findings []Finding, err error) {
	all := map[string]render.Source{}
	var texts []string
	for _, path := range paths {
		s := render.Load(path, policy)
		if s.Problem != "" {
			return nil, errors.New(s.Problem)
		}
		all[path], texts = s, append(texts, s.XR)
	}
	resources := strings.Join(texts, "\n---\n")
	for _, path := range paths {
		k := &checker{Source: all[path], files: all, progress: progress}
		if all[path].Stamp != "" {
			err = k.checkFolder(ctx)
		} else {
			err = k.checkFile(ctx, resources)
		}
		if err != nil {
			return nil, err
		}
		findings = append(findings, k.findings...)
	}
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})

	return findings, nil
}

// A checker checks a folder or a file.
type checker struct {
	render.Source

	files    map[string]render.Source // All files of the command, by path.
	progress func(format string, args ...any)
	place    place
	findings []Finding
}

// checkFolder checks a folder as the MarkdownView and the ConfigMaps that pack writes. The
// function does not read a book in an image.
func (k *checker) checkFolder(ctx context.Context) error {
	f, err := folder.List(k.Path, k.progress)
	if err != nil {
		return err
	}
	content, err := f.Read()
	if err != nil {
		return err
	}
	k.place = inFolder{f}
	packed, err := f.Pack(content, folder.View{Name: folder.NameOf(k.Path)})
	if errors.Is(err, folder.ErrImage) {
		fmt.Fprintf(os.Stderr, "%s does not fit into a MarkdownView: it is checked as a book in an image\n", k.Path)
		k.add(nil, filesOf(content, false))

		return nil
	}
	if err != nil {
		return err
	}
	k.XR = packed.YAML
	c, err := k.Call(ctx, 0, k.XR)
	if err != nil {
		return err
	}
	k.add(c, filesOf(content, true))

	return nil
}

// checkFile checks the MarkdownViews of a file. A file with only ConfigMaps is for those of
// other files.
func (k *checker) checkFile(ctx context.Context, resources string) error {
	views, others := 0, false
	if _, err := render.Find(k.XR, func(o render.Object) bool {
		if o.IsView() {
			views++
		}
		others = others || o.Kind == "ConfigMap"

		return false
	}); !errors.Is(err, render.ErrNotFound) {
		return fmt.Errorf("cannot read %s: %w", k.Path, err)
	}
	if views == 0 && !others {
		return fmt.Errorf("add a MarkdownView to %s, or name another file or a folder", k.Path)
	}
	for n := range views {
		c, err := k.Call(ctx, n, resources)
		if err != nil {
			return err
		}
		k.place = newInYAML(k.Path, n, k.files)
		files := filesOf(rejected(c), specOf(c)["summary"] == view.SummaryAuto)
		if b, err := c.Volume(); err == nil {
			files = filesOf(b.Files, false)
		}
		k.add(c, files)
	}

	return nil
}

// add adds the findings of a call, or of a book in an image without one.
func (k *checker) add(c *render.Call, files book.Files) {
	problems, warnings := book.Check(files)
	if c == nil {
		k.addProblems(problems.Lines(), problems.First, "", LevelError, reports.ReasonInvalidSpec)
		k.addProblems(warnings.Lines(), warnings.First, "", LevelWarning, reports.ReasonIncomplete)
	} else {
		k.addConditions(c, problems.First, warnings.First)
	}
	if len(problems.First) > 0 {
		return
	}
	said := map[Finding]bool{}
	for _, f := range k.findings {
		f.Level, f.Rule = "", ""
		said[f] = true
	}
	for _, p := range proof.Read(files, k.progress) {
		file, line := k.place.file(p.File, p.Line)
		if !said[Finding{File: file, Line: line, Message: p.Message}] {
			k.findings = append(k.findings, Finding{file, line, LevelWarning, p.Kind, p.Message})
		}
	}
}

// incomplete is how the message of BookComplete begins.
const incomplete = "The book has problems: "

// addConditions adds what the function reports.
func (k *checker) addConditions(c *render.Call, problems, warnings []book.Problem) {
	degraded := false
	for _, condition := range c.Response.GetConditions() {
		message, reason := condition.GetMessage(), condition.GetReason()
		switch status := condition.GetStatus(); {
		case condition.GetType() == reports.TypeDegraded && status == fnv1.Status_STATUS_CONDITION_TRUE:
			degraded = true
			prefix := "spec.markdowns: Invalid value: "
			if len(c.Request.GetRequiredResources()) > 0 {
				prefix = "spec: Invalid value: "
			}
			k.addProblems(pieces(message, prefix, problems), problems, prefix, LevelError, reason)
		case condition.GetType() == reports.TypeBookComplete && status == fnv1.Status_STATUS_CONDITION_FALSE:
			k.addProblems(pieces(strings.TrimPrefix(message, incomplete), "", warnings), warnings, "", LevelWarning, reason)
		}
	}
	for _, r := range c.Response.GetResults() {
		if r.GetSeverity() == fnv1.Severity_SEVERITY_FATAL && !degraded {
			k.findings = append(k.findings, Finding{File: k.Path, Level: LevelError, Rule: r.GetReason(), Message: r.GetMessage()})
		}
	}
}

// addProblems adds the texts of problems, of which those of the book are known.
func (k *checker) addProblems(texts []string, known []book.Problem, prefix, level, rule string) {
	for _, text := range texts {
		f := Finding{Level: level, Rule: rule, Message: text}
		field, _, _ := strings.Cut(text, ": ")
		f.File, f.Line = k.place.field(field)
		if strings.HasPrefix(field, "input") {
			f.File, f.Line = cmp.Or(k.Composition, k.Input, f.File), 0
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
