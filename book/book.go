// Package book predicts what mdBook does with a set of files: which of them are
// chapters, which books mdBook cannot build or serves only in part, and which problems
// it ignores. It was written for mdBook 0.4.48 and 0.5.4, and test/book compares it with
// both.
//
// The same files give the same result. The cost is linear in the size of the files, even
// if somebody wrote them to be expensive. The package caches parsed SUMMARY.md files for
// later calls.
package book

import (
	"fmt"
	"slices"
	"strings"
)

// summaryName is the file that lists the chapters.
const summaryName = "SUMMARY.md"

// Files are the files of a book, by their path relative to the folder of SUMMARY.md.
type Files struct {
	// Markdowns are the contents of the text files, by name. They need not be Markdown.
	Markdowns map[string]string
	// Binaries are the names of the other files.
	Binaries []string
	// Shared has the names of the files that are in other ConfigMaps, so their keys
	// cannot conflict with those of the rest.
	Shared map[string]bool
}

// A Problem is an error or a warning about a book.
type Problem struct {
	// File is the name of the file that has the problem.
	File string
	// Line is the line in the file, counted from 1. 0 means the file as a whole.
	Line int
	// Message describes the problem and how to fix it.
	Message string
}

// String returns "SUMMARY.md line 7: message".
func (p Problem) String() string {
	switch {
	case p.File == "":
		return p.Message
	case p.Line == 0:
		return fmt.Sprintf("%s: %s", display(p.File), p.Message)
	default:
		return fmt.Sprintf("%s line %d: %s", display(p.File), p.Line, p.Message)
	}
}

// maxProblems is how many problems are described. A book can have a million.
const maxProblems = 20

// Problems are the first problems of a book, and the number of the others.
type Problems struct {
	First []Problem
	More  int
}

// Lines returns one line for each problem, and one for the number of the others.
func (p Problems) Lines() []string {
	var lines []string
	for _, problem := range p.First {
		lines = append(lines, problem.String())
	}
	if p.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", p.More))
	}

	return lines
}

// String returns the lines, separated by "; ".
func (p Problems) String() string { return strings.Join(p.Lines(), "; ") }

// add adds a problem. It calls describe, which may be expensive, only for the first
// problems.
func (p *Problems) add(describe func() Problem) {
	if len(p.First) == maxProblems {
		p.More++
		return
	}
	p.First = append(p.First, describe())
}

// addf adds a problem that is cheap to describe.
func (p *Problems) addf(file string, line int, format string, args ...any) {
	p.add(func() Problem { return problem(file, line, format, args...) })
}

func problem(file string, line int, format string, args ...any) Problem {
	for i, arg := range args {
		if name, ok := arg.(string); ok {
			args[i] = display(name)
		}
	}

	return Problem{File: file, Line: line, Message: fmt.Sprintf(format, args...)}
}

// maxDisplay is how many bytes of a name are shown.
const maxDisplay = 200

// display shortens a long name, and escapes characters that cannot be shown.
func display(name string) string {
	if len(name) > maxDisplay {
		name = strings.ToValidUTF8(name[:maxDisplay], "") + "…"
	}
	quoted := fmt.Sprintf("%q", name)

	return strings.ReplaceAll(strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`), `\\`, `\`)
}

// A book is the state of a check.
type book struct {
	files    Files
	names    []string // The names of all files, sorted.
	binaries map[string]bool
	chapters []chapter
	lost     map[string]bool // Files whose links in SUMMARY.md mdBook ignores.
	included map[string]bool // Files that other files include.
	// What mdBook writes: pages maps each page to its chapter, and copies has the
	// copied files.
	pages  map[string]string
	copies map[string]bool

	errors, warnings Problems
}

func newBook(files Files) *book {
	b := &book{
		files:    files,
		names:    make([]string, 0, len(files.Markdowns)+len(files.Binaries)),
		binaries: make(map[string]bool, len(files.Binaries)),
		lost:     map[string]bool{},
		included: map[string]bool{},
		pages:    make(map[string]string, len(files.Markdowns)),
		copies:   make(map[string]bool, len(files.Binaries)),
	}
	for name := range files.Markdowns {
		b.names = append(b.names, name)
	}
	for _, name := range files.Binaries {
		b.names = append(b.names, name)
		b.binaries[name] = true
	}
	slices.Sort(b.names)

	return b
}

// Check returns the problems of a book. Errors keep mdBook from building the book or
// from serving a chapter. Warnings are about parts of a book that mdBook ignores or
// does not serve as their author probably intended.
func Check(files Files) (errors, warnings Problems) {
	b := newBook(files)
	b.checkNames()
	b.checkSummary()
	b.checkOutput()
	if len(b.errors.First) == 0 {
		b.warnLinks()
		b.warnUnlisted()
	}

	return b.errors, b.warnings
}

// Chapters returns the files that are chapters, in order.
func Chapters(files Files) []string {
	b := newBook(files)
	b.checkSummary()
	names := make([]string, 0, len(b.chapters))
	for _, c := range b.chapters {
		names = append(names, c.name)
	}

	return names
}

func (b *book) has(name string) bool {
	_, ok := b.files.Markdowns[name]
	return ok || b.binaries[name]
}
