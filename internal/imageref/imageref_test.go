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
	cases := map[string]struct {
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
		"HostWithPort":       {reason: "A host with a port is another host", patterns: []string{"docker.io/peaceiris/mdbook"}, image: "docker.io:443/peaceiris/mdbook", want: false},
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
		"DigestOther":        {reason: "A pattern with a digest allows only that digest", patterns: []string{"docker.io/peaceiris/mdbook" + digest}, image: "peaceiris/mdbook:v1", want: false},
		"Port":               {reason: "A port is not a tag", patterns: []string{"registry.example.com:5000/mdbook"}, image: "registry.example.com:5000/mdbook:v1", want: true},
		"IPv6":               {reason: "A bracket in a pattern is a literal character", patterns: []string{"[::1]:5000/mdbook"}, image: "[::1]:5000/mdbook", want: true},
		"IPv6IsNoClass":      {reason: "Brackets in a pattern are not a character class", patterns: []string{"[::1]:5000/mdbook"}, image: "1:5000/mdbook", want: false},
		"Second":             {reason: "One matching pattern is enough", patterns: []string{"docker.io/a/b", "docker.io/c/d"}, image: "c/d", want: true},
		"None":               {reason: "An empty list allows none", patterns: []string{}, image: "c/d", want: false},
		"Nonsense":           {reason: "An invalid reference matches nothing", patterns: []string{"*/*/*"}, image: "A b", want: false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Allowed(tc.image, tc.patterns); got != tc.want {
				t.Errorf("\n%s\nallowed(%q, %q): want %t, got %t", tc.reason, tc.image, tc.patterns, tc.want, got)
			}
		})
	}
}

func TestValidatePattern(t *testing.T) {
	const (
		none    = `must be an image reference in which "*" stands for any text without "/"`
		partial = "must be the full name of an image, with its registry: write "
		star    = `can have "*" in its registry only in place of the whole registry, its first label or its port: write the registry as `
		general = star + "registry.example.com, *.registry.example.com, registry.example.com:* or *"
	)
	cases := map[string]struct {
		reason  string
		pattern string
		want    string
	}{
		"Host":          {reason: "The first part is a host when it has a dot", pattern: "docker.io/peaceiris/mdbook"},
		"Localhost":     {reason: "The first part is a host when it is localhost", pattern: "localhost/a"},
		"Port":          {reason: "The first part is a host when it has a port", pattern: "registry:5000/a:v1"},
		"AnyPort":       {reason: "A star can replace a port", pattern: "registry:*/a:v1"},
		"AnyHost":       {reason: "A star can replace a host", pattern: "*/a"},
		"PartOfHost":    {reason: "A star can replace the first labels of a host", pattern: "*.example.com/a-*/b"},
		"AnyHostPort":   {reason: "A star can replace the host before a port", pattern: "*:5000/a"},
		"AnyHostAny":    {reason: "Stars can replace host and port", pattern: "*:*/a"},
		"Subdomains":    {reason: "A star can replace the labels before a domain", pattern: "*.example.com:*/a"},
		"Address":       {reason: "A host can be an IP address", pattern: "10.0.0.1:*/a"},
		"IPv6AnyPort":   {reason: "A star can replace the port of an IPv6 address", pattern: "[fd00::1]:*/a"},
		"Numbered":      {reason: "A label can have digits", pattern: "*.r2.example.c0m/a"},
		"AfterHost":     {reason: "docker.io* also matches docker.io.evil.example", pattern: "docker.io*/a/b", want: star + "docker.io, *.docker.io, docker.io:* or *"},
		"AfterHostPort": {reason: "docker.io*:443 also matches docker.io.evil.example:443", pattern: "docker.io*:443/a/b", want: star + "docker.io, *.docker.io, docker.io:* or *"},
		"BeforeHost":    {reason: "*example.com also matches evilexample.com", pattern: "*example.com/x", want: star + "example.com, *.example.com, example.com:* or *"},
		"LastLabel":     {reason: "10.0.0.* also matches 10.0.0.evil.example", pattern: "10.0.0.*/x", want: general},
		"FirstNumber":   {reason: "*.0.0.1 matches addresses of other hosts", pattern: "*.0.0.1/x", want: general},
		"TopDomain":     {reason: "docker.* also matches docker.evil.example", pattern: "docker.*/a/b", want: general},
		"InnerLabel":    {reason: "eu.*.example.com looks narrower than it would be", pattern: "eu.*.example.com/x", want: general},
		"PartOfLabel":   {reason: "eu*.example.com also matches eu.evil.example.com", pattern: "eu*.example.com/x", want: general},
		"PartOfFirst":   {reason: "*eu.example.com also matches evileu.example.com", pattern: "*eu.example.com/x", want: star + "eu.example.com, *.eu.example.com, eu.example.com:* or *"},
		"TwoStars":      {reason: "*.* matches every host with a dot", pattern: "*.*/x", want: general},
		"TwoLabels":     {reason: "One star already matches several labels", pattern: "*.*.example.com/x", want: star + "example.com, *.example.com, example.com:* or *"},
		"DoubleStar":    {reason: "Two stars are not a host", pattern: "**/x", want: partial + "docker.io/**/x"},
		"PartOfPort":    {reason: "A star must replace the whole port", pattern: "registry:5*/x", want: general},
		"PartOfIPv6":    {reason: "[fd00:*] matches every address that begins with fd00", pattern: "[fd00:*]:5000/x", want: general},
		"AllOfIPv6":     {reason: "A star is not an IPv6 address", pattern: "[*]:5000/x", want: general},
		"UserInfo":      {reason: "A registry has no user", pattern: "user@docker.io/a/b", want: none},
		"UserInfoStar":  {reason: "A star is not a user of a registry", pattern: "*@docker.io/a/b", want: none},
		"Scheme":        {reason: "A registry has no scheme", pattern: "https://docker.io/a/b", want: none},
		"AnyTag":        {reason: "A tag can have a star", pattern: "docker.io/a/b:v1.*"},
		"Digest":        {reason: "A pattern can have a digest", pattern: "docker.io/a/b" + digest},
		"Both":          {reason: "A pattern can have a tag and a digest", pattern: "docker.io/a/b:v1" + digest},
		"AnyDigest":     {reason: "A star can replace a digest", pattern: "docker.io/a/b@*"},
		"IPv6":          {reason: "A host can be an IPv6 address", pattern: "[fd00::1]:5000/books/*"},
		"PartOfAnyHost": {reason: "registry* would match registries that the author did not mean", pattern: "registry*/mdbook", want: partial + "docker.io/registry*/mdbook"},
		"Short":         {reason: "A short name is expanded before it is compared", pattern: "peaceiris/mdbook:v1", want: partial + "docker.io/peaceiris/mdbook:v1"},
		"NoHost":        {reason: "A first part is not a host if it has no dot or port and is not localhost", pattern: "xyz/*", want: partial + "docker.io/xyz/*"},
		"Library":       {reason: "A name without a folder is in library", pattern: "mdbook", want: partial + "docker.io/library/mdbook"},
		"AnyOfLibrary":  {reason: "A star alone matches a name in library", pattern: "*", want: partial + "docker.io/library/*"},
		"ImpliedFolder": {reason: "A name of docker.io without a folder is in library", pattern: "docker.io/mdbook@*", want: partial + "docker.io/library/mdbook@*"},
		"AnyImplied":    {reason: "docker.io/* would match nothing, because names of docker.io have a folder", pattern: "docker.io/*", want: partial + "docker.io/library/*"},
		"OldHost":       {reason: "index.docker.io is read as docker.io", pattern: "index.docker.io/a/b", want: partial + "docker.io/a/b"},
		"OldHostAlone":  {reason: "A name of index.docker.io without a folder is in library", pattern: "index.docker.io/a", want: partial + "docker.io/library/a"},
		"Nothing":       {reason: "A pattern is not empty", pattern: "", want: none},
		"UpperCase":     {reason: "A name is in lower case", pattern: "docker.io/A/b", want: none},
		"Class":         {reason: "A star is the only wildcard", pattern: "docker.io/a/[b-c]", want: none},
		"ClassOfTag":    {reason: "A star is the only wildcard in a tag", pattern: "docker.io/a/b:[v]", want: none},
		"Question":      {reason: "There is no wildcard for one character", pattern: "docker.io/a/?", want: none},
		"NoTag":         {reason: "A tag must follow a colon", pattern: "docker.io/a/b:", want: none},
		"NoDigest":      {reason: "A digest must follow an at sign", pattern: "docker.io/a/b@", want: none},
		"NoDigestTag":   {reason: "A digest must follow an at sign after a tag", pattern: "docker.io/a/b:v1@", want: none},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, f := range ValidatePattern(tc.pattern, nil) {
				got = f.Detail
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nvalidatePattern(%q): -want, +got:\n%s", tc.reason, tc.pattern, diff)
			}
		})
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
	host, port := registry, ""
	if i := strings.LastIndex(registry, ":"); i > strings.LastIndex(registry, "]") {
		host, port = registry[:i], registry[i:]
	}
	switch {
	case pattern == "*" || pattern == "*:*": // An IPv6 address has a colon.
		return true
	case strings.HasSuffix(pattern, ":*"):
		pattern = strings.TrimSuffix(pattern, ":*") + port
		if port == "" {
			return false
		}
	}
	if pattern == "*"+port {
		return true
	}
	if domain, ok := strings.CutPrefix(pattern, "*."); ok {
		return strings.HasSuffix(host+port, "."+domain) && len(host) > len("."+domain)-len(port)
	}

	return registry == pattern
}
