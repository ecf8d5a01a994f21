package fn

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// A problem is an error that keeps a MarkdownView from being composed. Its reason shows
// who can fix it.
type problem struct {
	reason string
	*field.Error
}

type problems []problem

// reasonOrder lists the reasons of problems. If problems have several reasons, the
// first of them is reported.
var reasonOrder = [...]string{ReasonInvalidSpec, ReasonConfigMapNotFound, ReasonInvalidInput, ReasonPipelineConflict, ReasonResourceConflict}

func problemsOf(reason string, errs field.ErrorList) problems {
	out := make(problems, len(errs))
	for i, err := range errs {
		out[i] = problem{reason, err}
	}

	return out
}

func (p problems) reason() string {
	for _, reason := range reasonOrder {
		if slices.ContainsFunc(p, func(p problem) bool { return p.reason == reason }) {
			return reason
		}
	}

	return ""
}

// explain returns all problems in one line, in the order of their fields.
func (p problems) explain() string {
	// A longer message would not fit into an event.
	const most = 20

	lines := make([]string, 0, len(p))
	for _, problem := range p {
		lines = append(lines, line(problem.Error.Error()))
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	if len(lines) > most {
		lines = append(lines[:most], "and more")
	}

	return strings.Join(lines, "; ")
}
