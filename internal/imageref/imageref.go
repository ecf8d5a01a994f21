// Package imageref validates references and patterns of images.
package imageref

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/distribution/reference"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/internal/report"
)

var (
	// patternRegistry matches the registry of a pattern. A "*" anywhere else would
	// match unrelated registries: "docker.io*" matches docker.io.evil.example,
	// "*example.com" matches evilexample.com, and "10.0.0.*" matches 10.0.0.evil.example.
	// A name that ends in a number is an IP address, which has no subdomains.
	patternRegistry = regexp.MustCompile(`^(\*|\[[\da-fA-F:]+\]|[\w.-]+|\*\.[\da-zA-Z.-]*[a-zA-Z][\da-zA-Z-]*)(:(\*|\d+))?$`)
	// patternVersion matches the tag or the digest of a pattern.
	patternVersion = regexp.MustCompile(`^(:[\w*][\w.*-]*|@[a-z0-9:*]+)?$`)
)

// Allowed returns whether an image matches one of the patterns. It compares the
// fully qualified reference, as a container runtime reads it, so that
// "mdbook", "library/mdbook" and "index.docker.io/library/mdbook" are the same.
func Allowed(image string, patterns []string) bool {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return false
	}

	return slices.ContainsFunc(patterns, func(p string) bool { return matches(reference.TagNameOnly(named), p) })
}

func matches(image reference.Named, pattern string) bool {
	name, version := splitPattern(pattern)

	// The pattern is valid, so Match returns no error. A bracket is part of an IPv6
	// address.
	if ok, _ := path.Match(strings.ReplaceAll(name, "[", `\[`), image.Name()); !ok {
		return false
	}
	if version == "" {
		return true
	}

	// If a reference has a tag and a digest, container runtimes ignore the tag: a
	// pattern with a tag does not match it.
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

// splitPattern returns the name of a pattern, and its tag with the leading ":" or its
// digest with the leading "@". It ignores a tag next to a digest.
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

// exampleOf returns an image name that matches the name of a pattern, if there is one.
func exampleOf(name string) string {
	if rest, ok := strings.CutPrefix(name, "*/"); ok {
		name = "registry.example/" + rest
	}

	return strings.ReplaceAll(name, "*", "1")
}

// registriesLike returns the valid patterns for registries that are similar to an
// invalid one.
func registriesLike(registry string) string {
	host, _, _ := strings.Cut(registry, ":")
	if host = strings.Trim(host, "*."); !patternRegistry.MatchString("*."+host) || ValidatePattern(host+"/a/b", nil) != nil {
		host = "registry.example.com"
	}

	return fmt.Sprintf("%[1]s, *.%[1]s, %[1]s:* or *", host)
}

// inFull returns the full name for the short name of an image in a pattern.
func inFull(name string) string {
	for _, host := range []string{"docker.io/", "index.docker.io/"} {
		name = strings.TrimPrefix(name, host)
	}
	if !strings.Contains(name, "/") {
		name = "library/" + name
	}

	return "docker.io/" + name
}

// Validate returns an error for what is not a reference of an image.
func Validate(image string, at *field.Path) field.ErrorList {
	if _, err := reference.ParseNormalizedNamed(image); err != nil {
		return field.ErrorList{field.Invalid(at, report.Short(image), "write an image reference such as docker.io/peaceiris/mdbook:v0.5.0")}
	}

	return nil
}

// ValidatePattern returns an error for a pattern that does not begin with the full name
// of an image. Such a pattern matches nothing, or unintended registries.
func ValidatePattern(pattern string, at *field.Path) field.ErrorList {
	name, version := splitPattern(pattern)
	registry, _, _ := strings.Cut(name, "/")
	example := exampleOf(name)
	named, err := reference.ParseNormalizedNamed(example)
	switch {
	case err != nil || !patternVersion.MatchString(version):
		return field.ErrorList{field.Invalid(at, report.Short(pattern), `must be an image reference in which "*" stands for any text without "/"`)}
	case named.Name() != example:
		return field.ErrorList{field.Invalid(at, report.Short(pattern), "must be the full name of an image, with its registry: write "+report.Short(inFull(name)+version))}
	case !patternRegistry.MatchString(registry):
		return field.ErrorList{field.Invalid(at, report.Short(pattern),
			`can have "*" in its registry only in place of the whole registry, its first label or its port: write the registry as `+registriesLike(registry))}
	default:
		return nil
	}
}
