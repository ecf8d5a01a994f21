package fn

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/distribution/reference"
)

// patternChars are those of an image reference, and "*".
var patternChars = regexp.MustCompile(`^[a-zA-Z0-9._:@/*-]+$`)

// allowed returns whether an image matches one of the patterns. It compares the
// fully qualified reference, as a container runtime reads it, so that
// "mdbook", "library/mdbook" and "index.docker.io/library/mdbook" are the same.
func allowed(image string, patterns []string) bool {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return false
	}

	return slices.ContainsFunc(patterns, func(p string) bool { return matches(reference.TagNameOnly(named), p) })
}

func matches(image reference.Named, pattern string) bool {
	name, version := splitPattern(pattern)

	// The pattern has been validated, so an error cannot occur; were there one,
	// the image would not match.
	if ok, _ := path.Match(name, image.Name()); !ok {
		return false
	}
	if version == "" {
		return true
	}

	// Where a reference has both, the digest is what is run, and the tag is
	// decoration: a pattern with a tag does not match it.
	actual := ""
	switch i := image.(type) {
	case reference.Canonical:
		actual = "@" + i.Digest().String()
	case reference.Tagged:
		actual = ":" + i.Tag()
	}
	ok, _ := path.Match(version, actual)

	return ok
}

// splitPattern returns the name of a pattern, and its tag with the leading ":"
// or its digest with the leading "@". Beside a digest a tag is decoration here
// as well.
func splitPattern(pattern string) (name, version string) {
	name, digest, _ := strings.Cut(pattern, "@")
	if i := strings.LastIndex(name, ":"); i > strings.LastIndex(name, "/") {
		name, version = name[:i], name[i:]
	}
	if digest != "" {
		return name, "@" + digest
	}

	return name, version
}

// qualified returns whether a pattern starts with a registry, as every fully
// qualified reference does.
func qualified(pattern string) bool {
	host, _, ok := strings.Cut(pattern, "/")

	return ok && (strings.ContainsAny(host, ".:") || host == "localhost" || host == "*")
}
