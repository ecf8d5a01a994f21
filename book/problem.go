package book

import "github.com/crossplane-contrib/function-markdownview/book/internal/problem"

// A Problem is an error or a warning about a book.
type Problem = problem.Problem

// Problems are the first problems of a book, and the number of the others.
type Problems = problem.Problems

// A report collects the problems of a book.
type report struct {
	errors, warnings Problems
}
