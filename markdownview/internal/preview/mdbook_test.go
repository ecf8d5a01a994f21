package preview

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEnvironment checks that mdBook, which shows a book of somebody else, does not get the
// variables of this machine.
func TestEnvironment(t *testing.T) {
	t.Setenv("PATH", "/bin")
	t.Setenv("HOME", "/home/me")
	t.Setenv("TOKEN", "secret")
	t.Setenv("MDBOOK_BOOK__SRC", "/home/me")
	want := []string{"MDBOOK_LOG=warn", "RUST_LOG=warn", "PATH=/bin", "HOME=/home/me", `MDBOOK_BOOK__TITLE="A"`}
	if diff := cmp.Diff(want, environment([]string{`MDBOOK_BOOK__TITLE="A"`, "LD_PRELOAD=/x"})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
