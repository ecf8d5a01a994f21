package imageref

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/distribution/reference"
	"github.com/google/go-cmp/cmp"
)

const digest = "@sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

func TestAllowed(t *testing.T) {
	for name, tc := range map[string]struct {
		reason   string
		patterns []string
		image    string
		want     bool
	}{
		"Exact":              {reason: "A pattern without a star matches the same image", patterns: []string{"docker.io/peaceiris/mdbook:v0.5.0"}, image: "docker.io/peaceiris/mdbook:v0.5.0", want: true},
		"ShortSpelling":      {reason: "A short name means the same image", patterns: []string{"docker.io/peaceiris/mdbook"}, image: "peaceiris/mdbook", want: true},
		"OldHost":            {reason: "index.docker.io is docker.io", patterns: []string{"docker.io/peaceiris/mdbook"}, image: "index.docker.io/peaceiris/mdbook", want: true},
		"Library":            {reason: "A name without a folder is in library", patterns: []string{"docker.io/library/*"}, image: "mdbook", want: true},
		"LibraryIsNotOthers": {reason: "A name without a folder is not in another folder", patterns: []string{"docker.io/peaceiris/*"}, image: "mdbook", want: false},
		"UpperCaseHost":      {reason: "A host in upper case is another host", patterns: []string{"docker.io/peaceiris/mdbook"}, image: "DOCKER.IO/peaceiris/mdbook", want: false},
		"HostAsFolder":       {reason: "The host of a pattern does not match a folder", patterns: []string{"docker.io/peaceiris/mdbook"}, image: "evil.example/docker.io/peaceiris/mdbook", want: false},
		"StarOneFolder":      {reason: "A star matches one folder", patterns: []string{"registry.example.com/*/mdbook"}, image: "registry.example.com/books/mdbook:v1", want: true},
		"StarNotSlash":       {reason: "A star does not cross a slash", patterns: []string{"registry.example.com/*"}, image: "registry.example.com/a/b", want: false},
		"StarNotHost":        {reason: "A star does not match a host in front of the name", patterns: []string{"*/peaceiris/mdbook"}, image: "evil.example/x/peaceiris/mdbook", want: false},
		"StarHost":           {reason: "A star can replace a host", patterns: []string{"*.example.com/mdbook"}, image: "eu.example.com/mdbook", want: true},
		"Suffix":             {reason: "A pattern does not match a longer name", patterns: []string{"docker.io/peaceiris/mdbook"}, image: "peaceiris/mdbook-evil", want: false},
		"NoTagAnyTag":        {reason: "Without a tag, any tag is allowed", patterns: []string{"docker.io/peaceiris/mdbook"}, image: "peaceiris/mdbook:v9", want: true},
		"NoTagAnyDigest":     {reason: "Without a tag, any digest is allowed", patterns: []string{"docker.io/peaceiris/mdbook"}, image: "peaceiris/mdbook" + digest, want: true},
		"TagOther":           {reason: "With a tag, no other tag is allowed", patterns: []string{"docker.io/peaceiris/mdbook:v1"}, image: "peaceiris/mdbook:v2", want: false},
		"TagNone":            {reason: "No tag means latest", patterns: []string{"docker.io/peaceiris/mdbook:v1"}, image: "peaceiris/mdbook", want: false},
		"TagLatest":          {reason: "No tag means latest", patterns: []string{"docker.io/peaceiris/mdbook:latest"}, image: "peaceiris/mdbook", want: true},
		"Pinned":             {reason: "The tag of a pattern with a digest is ignored", patterns: []string{"docker.io/peaceiris/mdbook:v1" + digest}, image: "peaceiris/mdbook:v1" + digest, want: true},
		"PinnedOther":        {reason: "Only that digest is allowed", patterns: []string{"docker.io/peaceiris/mdbook:v1" + digest}, image: "peaceiris/mdbook:v1", want: false},
		"TagWithDigest":      {reason: "An image with a digest does not match a pattern with a tag, because the digest is what runs", patterns: []string{"docker.io/peaceiris/mdbook:v1"}, image: "peaceiris/mdbook:v1" + digest, want: false},
		"TagStar":            {reason: "A tag can have a star", patterns: []string{"docker.io/peaceiris/mdbook:v1.*"}, image: "peaceiris/mdbook:v1.2", want: true},
		"Digest":             {reason: "A pattern can have a digest", patterns: []string{"docker.io/peaceiris/mdbook" + digest}, image: "peaceiris/mdbook:v1" + digest, want: true},
		"Port":               {reason: "A port is not a tag", patterns: []string{"registry.example.com:5000/mdbook"}, image: "registry.example.com:5000/mdbook:v1", want: true},
		"IPv6":               {reason: "A bracket in a pattern is a literal character", patterns: []string{"[::1]:5000/mdbook"}, image: "[::1]:5000/mdbook", want: true},
		"IPv6IsNoClass":      {reason: "Brackets in a pattern are not a character class", patterns: []string{"[::1]:5000/mdbook"}, image: "1:5000/mdbook", want: false},
		"Second":             {reason: "One matching pattern is enough", patterns: []string{"docker.io/a/b", "docker.io/c/d"}, image: "c/d", want: true},
		"None":               {reason: "An empty list allows none", patterns: []string{}, image: "c/d", want: false},
		"Nonsense":           {reason: "An invalid reference matches nothing", patterns: []string{"*/*/*"}, image: "A b", want: false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Allowed(tc.image, tc.patterns); got != tc.want {
				t.Errorf("\n%s\nallowed(%q, %q): want %t, got %t", tc.reason, tc.image, tc.patterns, tc.want, got)
			}
		})
	}
}

// TestValidatePattern checks the messages for patterns, by pattern. A "*" in a registry must not
// match registries that the author did not mean, as docker.io* matches docker.io.evil.example.
func TestValidatePattern(t *testing.T) {
	like := func(host string) string {
		return `can have "*" in its registry only in place of the whole registry, its first label or its port: write the registry as ` +
			strings.ReplaceAll("HOST, *.HOST, HOST:* or *", "HOST", host)
	}
	const partial = "must be the full name of an image, with its registry: write "
	want := map[string]string{
		// These would match other registries.
		"docker.io*/a/b":     like("docker.io"),
		"docker.io*:443/a/b": like("docker.io"),
		"*example.com/x":     like("example.com"),
		"*eu.example.com/x":  like("eu.example.com"),
		"*.*.example.com/x":  like("example.com"),
		"10.0.0.*/x":         like("registry.example.com"),
		"*.0.0.1/x":          like("registry.example.com"),
		"docker.*/a/b":       like("registry.example.com"),
		"eu.*.example.com/x": like("registry.example.com"),
		"eu*.example.com/x":  like("registry.example.com"),
		"*.*/x":              like("registry.example.com"),
		"registry:5*/x":      like("registry.example.com"),
		"[fd00:*]:5000/x":    like("registry.example.com"),
		"[*]:5000/x":         like("registry.example.com"),
		// The first part is no registry, or docker.io has a folder.
		"**/x":                partial + "docker.io/**/x",
		"registry*/mdbook":    partial + "docker.io/registry*/mdbook",
		"peaceiris/mdbook:v1": partial + "docker.io/peaceiris/mdbook:v1",
		"xyz/*":               partial + "docker.io/xyz/*",
		"mdbook":              partial + "docker.io/library/mdbook",
		"*":                   partial + "docker.io/library/*",
		"docker.io/mdbook@*":  partial + "docker.io/library/mdbook@*",
		"docker.io/*":         partial + "docker.io/library/*",
		"index.docker.io/a/b": partial + "docker.io/a/b",
		"index.docker.io/a":   partial + "docker.io/library/a",
	}
	for _, valid := range []string{
		"docker.io/peaceiris/mdbook", "localhost/a", "registry:5000/a:v1", "registry:*/a:v1", "*/a", "*.example.com/a-*/b", "*:5000/a", "*:*/a",
		"*.example.com:*/a", "10.0.0.1:*/a", "[fd00::1]:*/a", "[fd00::1]:5000/books/*", "*.r2.example.c0m/a",
		"docker.io/a/b:v1.*", "docker.io/a/b" + digest, "docker.io/a/b:v1" + digest, "docker.io/a/b@*",
	} {
		want[valid] = ""
	}
	for _, none := range []string{
		"", "user@docker.io/a/b", "*@docker.io/a/b", "https://docker.io/a/b", "docker.io/A/b", "docker.io/a/[b-c]", "docker.io/a/b:[v]",
		"docker.io/a/?", "docker.io/a/b:", "docker.io/a/b@", "docker.io/a/b:v1@",
	} {
		want[none] = `must be an image reference in which "*" stands for any text without "/"`
	}
	for pattern, want := range want {
		got := ""
		for _, f := range ValidatePattern(pattern, nil) {
			got = f.Detail
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("ValidatePattern(%q): -want, +got:\n%s", pattern, diff)
		}
	}
}

// TestRegistryOfPattern generates random patterns, and images for them. A valid pattern
// must match no image of another registry. A message that shows how to write a pattern
// must show only valid patterns.
func TestRegistryOfPattern(t *testing.T) {
	t.Parallel()

	pieces := []string{
		"*", "*", "*.", ".*", ":*", ":5000", "docker.io", "index.docker.io", "example.com", "evil", ".evil.example", "eu.", "10.0.0.", "1", "localhost",
		"[fd00::1]", "[", "]", "@", "?", "\\", "-", "_", ".", ":", "A", "library/", "/",
	}
	r := rand.New(rand.NewPCG(1, 2))
	pick := func() string {
		var b strings.Builder
		for range 1 + r.IntN(4) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}

		return b.String()
	}
	written := regexp.MustCompile(`write (?:the registry as )?(.*)$`)

	matched, shown := 0, 0
	for range 10_000 {
		pattern := pick() + "/a"
		// An attacker chooses the text for each star.
		image := pattern
		for strings.Contains(image, "*") {
			image = strings.Replace(image, "*", strings.ReplaceAll(pick(), "*", ""), 1)
		}
		for _, f := range ValidatePattern(pattern, nil) {
			registries := written.FindStringSubmatch(f.Detail)
			if registries == nil || strings.Contains(f.Detail, "with its registry") {
				continue
			}
			for _, registry := range regexp.MustCompile(`, | or `).Split(registries[1], -1) {
				if again := ValidatePattern(registry+"/b/a", nil); again != nil {
					t.Fatalf("validatePattern(%q) shows %q, which is not valid: %v", pattern, registry, again)
				}
				shown++
			}
		}
		if ValidatePattern(pattern, nil) != nil || !Allowed(image, []string{pattern}) {
			continue
		}
		matched++
		named, err := reference.ParseNormalizedNamed(image)
		if err != nil {
			t.Fatalf("Allowed(%q, %q): no image reference", image, pattern)
		}
		registry, _, _ := strings.Cut(pattern, "/")
		if got, _, _ := strings.Cut(named.Name(), "/"); !isOf(got, registry) {
			t.Fatalf("Allowed(%q, %q): %s is another registry", image, pattern, got)
		}
	}
	if matched < 250 || shown < 250 {
		t.Errorf("%d images matched and %d registries were shown: want at least 250 of each", matched, shown)
	}
}

// isOf returns whether a registry matches the registry of a pattern.
func isOf(registry, pattern string) bool {
	like := regexp.QuoteMeta(pattern)
	for star, text := range map[string]string{`^\\\*(:|$)`: `.*$1`, `^\\\*\\\.`: `.+\.`, `:\\\*$`: `:[0-9]+`} {
		like = regexp.MustCompile(star).ReplaceAllString(like, text)
	}

	return pattern == "*:*" || regexp.MustCompile("^"+like+"$").MatchString(registry)
}
