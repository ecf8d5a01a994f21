package fn_test

import (
	"bytes"
	"slices"
	"sync"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/function-markdownview/fn"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// TestConcurrent answers all golden requests at once, which "make test" does with the race
// detector, and compares responses to the same request.
func TestConcurrent(t *testing.T) {
	f := fn.New(logging.NewNopLogger(), 0)
	var all sync.WaitGroup
	defer all.Wait()
	for name, req := range goldenRequests(t) {
		message := viewtest.Encode(t, req)
		for range 4 {
			all.Go(func() {
				got, err := f.Respond(message)
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				want, err := fn.New(logging.NewNopLogger(), 0).Respond(message)
				if err != nil || !bytes.Equal(slices.Concat(want.Parts...), slices.Concat(got.Parts...)) {
					t.Errorf("%s: calls at the same time have different responses (error %v)", name, err)
				}
			})
		}
	}
}
