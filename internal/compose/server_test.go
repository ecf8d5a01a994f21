package compose

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLiteral checks that a web server gets its arguments as they are written. The golden
// responses have the pods of a web server.
func TestLiteral(t *testing.T) {
	args := []string{"plain", "$(cat /port)", "$$", "$", "${X}", "$$(X)"}
	want := []string{"plain", "$$(cat /port)", "$$$$", "$$", "$${X}", "$$$$(X)"}
	if diff := cmp.Diff(want, literal(args)); diff != "" {
		t.Errorf("Kubernetes must expand the result to the original text: -want, +got:\n%s", diff)
	}
}
