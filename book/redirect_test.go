package book

import "testing"

// TestRedirectURL checks URLs of redirects. The problems are in testdata/cases.yaml.
func TestRedirectURL(t *testing.T) {
	for _, tc := range []struct{ page, target, want string }{
		{"/a.html", "/b.html", "./b.html"},
		{"/a.html", "/", "./"},
		{"/x/y/a.html", "/b.html?c#d", "../../b.html?c#d"},
		{"/x/a.html", "b.html", "../x/b.html"},
		{"/x/a.html", "../../../b/", "../b/"},
		{"/x/a.html", "https://example.com/b", "https://example.com/b"},
	} {
		if got := RedirectURL(tc.page, tc.target); got != tc.want {
			t.Errorf("RedirectURL(%q, %q): want %q, got %q", tc.page, tc.target, tc.want, got)
		}
	}
}
