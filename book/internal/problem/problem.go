// Package problem describes the errors and warnings of a book.
package problem

import (
	"fmt"
	"strings"

	"github.com/crossplane-contrib/function-markdownview/internal/text"
)

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
		return fmt.Sprintf("%s: %s", Display(p.File), p.Message)
	default:
		return fmt.Sprintf("%s line %d: %s", Display(p.File), p.Line, p.Message)
	}
}

// Most is how many problems are described. A book can have a million.
const Most = 20

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

// Add adds a problem. It calls describe, which may be expensive, only for the first
// problems.
func (p *Problems) Add(describe func() Problem) {
	if len(p.First) == Most {
		p.More++
		return
	}
	p.First = append(p.First, describe())
}

// Addf adds a problem that is cheap to describe.
func (p *Problems) Addf(file string, line int, format string, args ...any) {
	p.Add(func() Problem { return New(file, line, format, args...) })
}

// New returns a problem. Long names among the arguments are shortened.
func New(file string, line int, format string, args ...any) Problem {
	for i, arg := range args {
		if name, ok := arg.(string); ok {
			args[i] = Display(name)
		}
	}

	return Problem{File: file, Line: line, Message: fmt.Sprintf(format, args...)}
}

// maxDisplay is how many bytes of a name are shown.
const maxDisplay = 200

// Display shortens a long name, and escapes characters that cannot be shown.
func Display(name string) string {
	quoted := fmt.Sprintf("%q", text.Cut(name, maxDisplay))

	return strings.ReplaceAll(strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`), `\\`, `\`)
}
