// Package filename has the rules for the names of the files of a book.
package filename

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxLength is the length of the longest name in bytes. It leaves room for the folder of the volume within the 4,096 bytes of
	// PATH_MAX.
	MaxLength = 1024
	// maxSegment is NAME_MAX of Linux.
	maxSegment = 255
	// maxDepth is how many segments a path can have. mdBook nests a list to the same
	// depth.
	maxDepth = 32
)

// Validate returns an error if a file of a book cannot have the name. Names are
// paths relative to the folder of SUMMARY.md.
func Validate(name string) error {
	switch {
	case name == "":
		return errors.New("must not be empty")
	case len(name) > MaxLength:
		return fmt.Errorf("must be at most %d bytes long", MaxLength)
	case !utf8.ValidString(name):
		return errors.New("must be valid UTF-8")
	case strings.ContainsFunc(name, isControl):
		return errors.New("must not contain control characters")
	case strings.Contains(name, `\`):
		return errors.New(`must not contain a backslash: write "/" between folders`)
	case strings.HasPrefix(name, "/"):
		return errors.New(`must be relative: remove the leading "/"`)
	case strings.HasSuffix(name, "/"):
		return errors.New(`must be the name of a file: remove the trailing "/"`)
	// https://github.com/kubernetes/kubernetes/blob/v1.36.0/pkg/apis/core/validation/validation.go
	// (validateLocalNonReservedPath): names of files of the volume itself begin with "..".
	case strings.HasPrefix(name, ".."):
		return errors.New(`must not begin with ".."`)
	case strings.Count(name, "/") >= maxDepth:
		return fmt.Errorf("must be at most %d folders deep", maxDepth-1)
	}
	for segment := range strings.SplitSeq(name, "/") {
		switch {
		case segment == "":
			return errors.New(`must not contain "//"`)
		case segment == ".", segment == "..":
			return fmt.Errorf("must not contain %q as the name of a folder or file", segment)
		case len(segment) > maxSegment:
			return fmt.Errorf("must not contain a folder or file name longer than %d bytes", maxSegment)
		}
	}

	return nil
}

// isControl returns whether a character is not allowed in a name: a control character,
// or one of two others that the API server rejects, because it reads applied objects as
// YAML.
func isControl(r rune) bool { return unicode.IsControl(r) || r == '\ufffe' || r == '\uffff' }

// maxKey is DNS1123SubdomainMaxLength, the maximum length of a key of a ConfigMap.
const maxKey = 253

var invalidKey = regexp.MustCompile(`[^-._a-zA-Z0-9]+`)

// IsKey returns whether a name is a valid key of a ConfigMap.
func IsKey(name string) bool {
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '.' && c != '_' {
			return false
		}
	}

	return name != "" && name != "." && len(name) <= maxKey && !strings.HasPrefix(name, "..")
}

// Key returns the key of a file in a ConfigMap. A name that is a valid key is its own
// key. Others get a key that is partly readable, such as
// guide_intro.md-0123456789abcdef0123. Keys are part of the API: running pods would not
// find a file whose key changes.
func Key(name string) string {
	if IsKey(name) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	hash := "-" + hex.EncodeToString(sum[:10])
	readable := strings.TrimLeft(invalidKey.ReplaceAllString(name, "_"), ".")

	return readable[:min(len(readable), maxKey-len(hash))] + hash
}
