package fn

import "testing"

const digest = "@sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

func TestAllowed(t *testing.T) {
	cases := map[string]struct {
		reason   string
		patterns []string
		image    string
		want     bool
	}{
		"Exact":              {reason: "A pattern matches itself", patterns: []string{"docker.io/peaceiris/mdbook:v0.5.0"}, image: "docker.io/peaceiris/mdbook:v0.5.0", want: true},
		"ShortSpelling":      {reason: "A short spelling is the same image", patterns: []string{"docker.io/peaceiris/mdbook"}, image: "peaceiris/mdbook", want: true},
		"OldHost":            {reason: "index.docker.io is docker.io", patterns: []string{"docker.io/peaceiris/mdbook"}, image: "index.docker.io/peaceiris/mdbook", want: true},
		"Library":            {reason: "A name alone is in library", patterns: []string{"docker.io/library/*"}, image: "mdbook", want: true},
		"LibraryIsNotOthers": {reason: "A name alone is not in another folder", patterns: []string{"docker.io/peaceiris/*"}, image: "mdbook", want: false},
		"OddHost":            {reason: "A host in another spelling is another host", patterns: []string{"docker.io/peaceiris/mdbook"}, image: "docker.io:443/peaceiris/mdbook", want: false},
		"UpperCaseHost":      {reason: "So is one in upper case", patterns: []string{"docker.io/peaceiris/mdbook"}, image: "DOCKER.IO/peaceiris/mdbook", want: false},
		"HostAsFolder":       {reason: "A host is not matched further right", patterns: []string{"docker.io/peaceiris/mdbook"}, image: "evil.example/docker.io/peaceiris/mdbook", want: false},
		"StarOneFolder":      {reason: "A star stands for one folder", patterns: []string{"registry.example.com/*/mdbook"}, image: "registry.example.com/books/mdbook:v1", want: true},
		"StarNotSlash":       {reason: "A star does not cross a slash", patterns: []string{"registry.example.com/*"}, image: "registry.example.com/a/b", want: false},
		"StarNotHost":        {reason: "A star does not add a host", patterns: []string{"*/peaceiris/mdbook"}, image: "evil.example/x/peaceiris/mdbook", want: false},
		"StarHost":           {reason: "A star may stand for a host", patterns: []string{"*.example.com/mdbook"}, image: "eu.example.com/mdbook", want: true},
		"Suffix":             {reason: "A pattern does not match a longer name", patterns: []string{"docker.io/peaceiris/mdbook"}, image: "peaceiris/mdbook-evil", want: false},
		"NoTagAnyTag":        {reason: "Without tag any tag is allowed", patterns: []string{"docker.io/peaceiris/mdbook"}, image: "peaceiris/mdbook:v9", want: true},
		"NoTagAnyDigest":     {reason: "And any digest", patterns: []string{"docker.io/peaceiris/mdbook"}, image: "peaceiris/mdbook" + digest, want: true},
		"TagOther":           {reason: "With a tag no other is allowed", patterns: []string{"docker.io/peaceiris/mdbook:v1"}, image: "peaceiris/mdbook:v2", want: false},
		"TagNone":            {reason: "No tag means latest", patterns: []string{"docker.io/peaceiris/mdbook:v1"}, image: "peaceiris/mdbook", want: false},
		"TagLatest":          {reason: "No tag means latest", patterns: []string{"docker.io/peaceiris/mdbook:latest"}, image: "peaceiris/mdbook", want: true},
		"Pinned":             {reason: "Beside a digest the tag of a pattern is decoration too", patterns: []string{"docker.io/peaceiris/mdbook:v1" + digest}, image: "peaceiris/mdbook:v1" + digest, want: true},
		"PinnedOther":        {reason: "Only that digest is allowed", patterns: []string{"docker.io/peaceiris/mdbook:v1" + digest}, image: "peaceiris/mdbook:v1", want: false},
		"TagWithDigest":      {reason: "The digest is what runs, whatever tag stands before it", patterns: []string{"docker.io/peaceiris/mdbook:v1"}, image: "peaceiris/mdbook:v1" + digest, want: false},
		"TagStar":            {reason: "A star may stand in a tag", patterns: []string{"docker.io/peaceiris/mdbook:v1.*"}, image: "peaceiris/mdbook:v1.2", want: true},
		"Digest":             {reason: "A pattern may be a digest", patterns: []string{"docker.io/peaceiris/mdbook" + digest}, image: "peaceiris/mdbook:v1" + digest, want: true},
		"DigestOther":        {reason: "And allows only that", patterns: []string{"docker.io/peaceiris/mdbook" + digest}, image: "peaceiris/mdbook:v1", want: false},
		"Port":               {reason: "A port is not a tag", patterns: []string{"registry.example.com:5000/mdbook"}, image: "registry.example.com:5000/mdbook:v1", want: true},
		"Second":             {reason: "Any pattern will do", patterns: []string{"docker.io/a/b", "docker.io/c/d"}, image: "c/d", want: true},
		"None":               {reason: "An empty list allows none", patterns: []string{}, image: "c/d", want: false},
		"Nonsense":           {reason: "What is no reference matches nothing", patterns: []string{"*/*/*"}, image: "A b", want: false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := allowed(tc.image, tc.patterns); got != tc.want {
				t.Errorf("\n%s\nallowed(%q, %q): want %t, got %t", tc.reason, tc.image, tc.patterns, tc.want, got)
			}
		})
	}
}

func TestQualified(t *testing.T) {
	for pattern, want := range map[string]bool{
		"docker.io/a":      true,
		"localhost/a":      true,
		"registry:5000/a":  true,
		"*/a":              true,
		"*.example.com/a":  true,
		"peaceiris/mdbook": false,
		"xyz/mdbook":       false,
		"mdbook":           false,
		"*":                false,
		"":                 false,
	} {
		if got := qualified(pattern); got != want {
			t.Errorf("Only what starts with a registry is fully qualified: %q: want %t, got %t", pattern, want, got)
		}
	}
}
