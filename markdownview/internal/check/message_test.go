package check

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/book"
)

func TestPieces(t *testing.T) {
	cases := map[string]struct {
		reason, message, prefix string
		known                   []book.Problem
		want                    []string
	}{
		"Fields": {reason: "A field begins each problem.", message: "spec.replicas: must be 1; input.image: wrong; and 3 more", want: []string{"spec.replicas: must be 1", "input.image: wrong", "and 3 more"}},
		"Text":   {reason: "A semicolon can be in the text of a problem.", message: "spec.book: write a; or b; spec.x: c", want: []string{"spec.book: write a; or b", "spec.x: c"}},
		"Known":  {reason: "A name of a book can look like a field.", message: "spec: a.md line 1: x; spec.y: z; spec.replicas: w", prefix: "spec: ", known: []book.Problem{{File: "a.md", Line: 1, Message: "x; spec.y: z"}}, want: []string{"spec: a.md line 1: x; spec.y: z", "spec.replicas: w"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, pieces(tc.message, tc.prefix, tc.known)); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.reason, diff)
			}
		})
	}
}
