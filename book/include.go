package book

import (
	"iter"
	"strings"
)

const space = " \t\r\n"

// includeKinds are the kinds of includes of mdBook:
// https://rust-lang.github.io/mdBook/format/mdbook.html#including-files
var includeKinds = set("#include", "#rustdoc_include", "#playground", "#playpen", "#template")

// maxKind is longer than every kind of include.
const maxKind = 20

// includes returns the offset and the name of each file that text includes. mdBook
// includes files before it parses Markdown, also in code and in comments.
func includes(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		stop, eol := -1, -1 // The next "}" and the next line feed.
		for at := 0; ; {
			i := strings.Index(text[at:], "{{")
			if i < 0 {
				return
			}
			for at += i + 2; at < len(text) && text[at] == '{'; at++ {
				continue
			}
			if stop = next(text, at, stop, '}'); stop == len(text) {
				return
			}
			if eol = next(text, at, eol, '\n'); !strings.HasPrefix(text[stop:], "}}") {
				continue
			}
			if at > 2 && text[at-3] == '\\' && text[at] == '#' && stop < eol {
				at += strings.LastIndex(text[at:eol], "}}") // mdBook escapes up to there.
				continue
			}
			from, target := includeTarget(text, at, stop)
			if target == "" {
				continue
			}
			if !yield(from, target) {
				return
			}
			at = stop
		}
	}
}

// includeTarget returns the offset and the name of the file of an include between two
// offsets. The name is empty if it is no include.
func includeTarget(text string, at, stop int) (from int, target string) {
	from = skip(text, at)
	kind := text[from:max(from, min(stop, from+maxKind))]
	end := strings.IndexAny(kind, space)
	if end < 0 || !includeKinds[kind[:end]] {
		return from, ""
	}
	from = skip(text, from+end)
	target, _, _ = strings.Cut(text[min(from, stop):stop], ":")
	if end := strings.IndexAny(target, space); end >= 0 {
		target = target[:end]
	}

	return from, target
}

// next returns the offset of the next character from at on. last is what it returned
// before.
func next(text string, at, last int, c byte) int {
	if last >= at {
		return last
	}
	if i := strings.IndexByte(text[at:], c); i >= 0 {
		return at + i
	}

	return len(text)
}

// skip returns the offset of the next character that is not a space.
func skip(text string, at int) int {
	return len(text) - len(strings.TrimLeft(text[at:], space))
}
