package report

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// A Problem is an error that keeps a MarkdownView from being composed. Its reason shows
// who can fix it.
type Problem struct {
	Reason string
	*field.Error
}

// Problems are all the problems of a MarkdownView.
type Problems []Problem

// reasonOrder lists the reasons of problems. If problems have several reasons, the
// first of them is reported.
var reasonOrder = [...]string{ReasonInvalidSpec, ReasonConfigMapNotFound, ReasonOCIRepositoryNotReady, ReasonInvalidInput, ReasonPipelineConflict, ReasonResourceConflict}

// ProblemsOf returns errors as problems with a reason.
func ProblemsOf(reason string, errs field.ErrorList) Problems {
	out := make(Problems, len(errs))
	for i, err := range errs {
		out[i] = Problem{reason, err}
	}

	return out
}

// Reason returns the first of the reasons.
func (p Problems) Reason() string {
	for _, reason := range reasonOrder {
		if slices.ContainsFunc(p, func(p Problem) bool { return p.Reason == reason }) {
			return reason
		}
	}

	return ""
}

// Explain returns all problems in one line, in the order of their fields.
func (p Problems) Explain() string {
	// A longer message would not fit into an event.
	const most = 20

	lines := make([]string, 0, len(p))
	for _, problem := range p {
		lines = append(lines, Line(problem.Error.Error()))
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	if len(lines) > most {
		lines = append(lines[:most], "and more")
	}

	return strings.Join(lines, "; ")
}

// A Result is the severity (fatal, warning or normal) and the reason of a result.
type Result struct{ Severity, Reason string }
