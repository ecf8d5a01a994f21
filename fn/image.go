package fn

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/distribution/reference"
)

var (
	// patternRegistry is the registry of a pattern. A "*" anywhere else in it would
	// match registries of other people: "docker.io*" matches docker.io.evil.example,
	// "*example.com" evilexample.com, and "10.0.0.*" 10.0.0.evil.example. A name
	// that ends in a number is an IP address, which has no subdomains.
	patternRegistry = regexp.MustCompile(`^(\*|\[[\da-fA-F:]+\]|[\w.-]+|\*\.[\da-zA-Z.-]*[a-zA-Z][\da-zA-Z-]*)(:(\*|\d+))?$`)
	// patternVersion is the tag or the digest of a pattern.
	patternVersion = regexp.MustCompile(`^(:[\w*][\w.*-]*|@[a-z0-9:*]+)?$`)
)

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
	// the image would not match. A bracket is part of an IPv6 address.
	if ok, _ := path.Match(strings.ReplaceAll(name, "[", `\[`), image.Name()); !ok {
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
// or its digest with the leading "@". Next to a digest a tag is decoration here
// as well.
func splitPattern(pattern string) (name, version string) {
	name, digest, pinned := strings.Cut(pattern, "@")
	if i := strings.LastIndex(name, ":"); i > strings.LastIndex(name, "/") {
		name, version = name[:i], name[i:]
	}
	if pinned {
		return name, "@" + digest
	}

	return name, version
}

// qualified returns an image with its registry, so that no setting of a node says
// which one is meant.
func qualified(image string) string {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return image
	}

	return named.String()
}

// exampleOf returns the name of an image that matches the name of a pattern, if
// any does.
func exampleOf(name string) string {
	if rest, ok := strings.CutPrefix(name, "*/"); ok {
		name = "registry.example/" + rest
	}

	return strings.ReplaceAll(name, "*", "1")
}

// registriesLike returns how the registries can be written that a pattern may
// mean by one with a "*" in a place where it is not allowed.
func registriesLike(registry string) string {
	host, _, _ := strings.Cut(registry, ":")
	if host = strings.Trim(host, "*."); !patternRegistry.MatchString("*."+host) || validatePattern(host+"/a/b", nil) != nil {
		host = "registry.example.com"
	}

	return fmt.Sprintf("%[1]s, *.%[1]s, %[1]s:* or *", host)
}

// inFull returns the name of a pattern as it must be written to match what a
// short spelling of it names.
func inFull(name string) string {
	for _, host := range []string{"docker.io/", "index.docker.io/"} {
		name = strings.TrimPrefix(name, host)
	}
	if !strings.Contains(name, "/") {
		name = "library/" + name
	}

	return "docker.io/" + name
}
