package preview

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// include matches the start of an include in a line, and captures its target. An include
// that another file includes in part can begin in an earlier line, so a line can begin with
// "#include". It matches white space as mdBook does:
// https://github.com/rust-lang/mdBook/blob/v0.5.0/crates/mdbook-driver/src/builtin_preprocessors/links.rs (LINK)
var include = regexp.MustCompile(`(^|\\?\{\{)[\s\v\x{85}\p{Z}]*#(?:include|rustdoc_include|playground|playpen)(?:[\s\v\x{85}\p{Z}]+([^\s\v\x{85}\p{Z}}]*)|$)`)

// checkIncludes returns an error for each include that leaves the book. In a pod, such an include
// can read only the container. Here it could read every file of the user.
func checkIncludes(files map[string][]byte) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text := string(files[name])
		if !strings.Contains(text, "{{") {
			continue
		}
		for n, line := range strings.Split(text, "\n") {
			for _, m := range include.FindAllStringSubmatchIndex(line, -1) {
				if rest := line[m[3]:]; strings.HasPrefix(line[m[2]:m[3]], `\`) && strings.HasPrefix(rest, "#") && strings.Contains(rest, "}}") {
					continue // It is escaped.
				}
				target := line[max(m[4], 0):max(m[5], 0)]
				file, _, _ := strings.Cut(target, ":")
				switch {
				case target == "":
					errs = append(errs, fmt.Errorf("%s line %d: write the include and its file on one line", name, n+1))
				case leaves(name, file), leaves(name, target):
					errs = append(errs, fmt.Errorf("%s line %d: remove the include of %q, which is outside of the book", name, n+1, file))
				}
			}
		}
	}

	return errors.Join(errs...)
}

// leaves returns whether a target in a file of the book is outside of the book.
func leaves(name, target string) bool {
	return strings.HasPrefix(target, "/") || strings.Contains(target, `\`) || strings.HasPrefix(path.Join(path.Dir(name), target)+"/", "../")
}
