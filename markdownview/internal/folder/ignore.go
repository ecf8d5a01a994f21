package folder

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ignoreFiles are the files that list what is not in a book, as Git reads them. The rules
// of the later one take precedence.
var ignoreFiles = [...]string{".gitignore", ".markdownignore"}

// A rule is a line of an ignore file. https://git-scm.com/docs/gitignore describes them.
//
// The rules are written here, over a library for patterns: go-git has them too, but brings
// twenty modules, and go-gitignore differs from Git. The tests compare them with Git.
type rule struct {
	base    string // The folder of the ignore file, with a slash, or empty.
	pattern string
	folders bool // Whether it matches folders alone.
	keeps   bool // Whether it keeps what earlier rules ignore.
}

type rules []rule

// braces are alternatives in patterns of the library, and characters in those of Git.
var braces = strings.NewReplacer(`\{`, `\{`, `\}`, `\}`, "{", `\{`, "}", `\}`)

// add adds the rules of an ignore file in a folder.
func (r *rules) add(base, text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
			line = line[:len(line)-1]
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		n := rule{base: base}
		line, n.keeps = strings.CutPrefix(line, "!")
		line, n.folders = strings.CutSuffix(line, "/")
		if line == "" {
			continue
		}
		if !strings.Contains(line, "/") {
			line = "**/" + line
		}
		if strings.HasSuffix(line, "/**") {
			line += "/*" // Everything in a folder, without the folder.
		}
		n.pattern = braces.Replace(strings.TrimPrefix(line, "/"))
		*r = append(*r, n)
	}
}

// ignored returns whether the rules ignore a file or a folder. Its folders are not ignored.
func (r rules) ignored(name string, folder bool) bool {
	for i := len(r) - 1; i >= 0; i-- {
		below, ok := strings.CutPrefix(name, r[i].base)
		if !ok || r[i].folders && !folder {
			continue
		}
		// Git ignores a pattern that is not valid, too.
		if matches, err := doublestar.Match(r[i].pattern, below); err == nil && matches {
			return !r[i].keeps
		}
	}

	return false
}
