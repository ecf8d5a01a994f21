package view_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

func TestFollow(t *testing.T) {
	const (
		fetched = `{metadata: {generation: 1}, spec: {url: "oci://registry.example.com/book"}, status: {observedGeneration: 1,
			artifact: {revision: "latest@sha256:new"}, conditions: [{type: Ready, status: "True"}]}}`
		changed   = `{metadata: {generation: 2}}`
		first     = `{spec: {}, status: {artifact: {revision: ""}, conditions: [{type: Ready, status: Unknown}]}}`
		suspended = `{metadata: {generation: 2}, spec: {suspend: true}, status: {artifact: {revision: ""}}}`
		failing   = `{status: {conditions: [{type: Ready, status: "False", message: "no\nsignature"}]}}`
		digest    = `{status: {artifact: {revision: "sha256:new"}}}`
		current   = "registry.example.com/book@sha256:new"
		old       = "registry.example.com/book@sha256:old"
		moved     = "registry.example.com/moved@sha256:new"
		guide     = "OCIRepository guide in namespace docs"
		waits     = guide + " waits for Flux, which has not fetched its image yet"
	)
	for name, tc := range map[string]struct {
		reason, repository, change, mounted, image, problem string
		pending                                             bool
	}{
		"Absent":         {"Pods keep their image", "", "", old, old, "create " + guide + ", or name another one: it does not exist", false},
		"Fetched":        {"The tag has moved", fetched, `{}`, old, current, "", false},
		"Digest":         {"A revision can be a digest", fetched, digest, "", current, "", false},
		"Failing":        {"The artifact stays", fetched, failing, old, current, guide + " is not ready: no signature", false},
		"First":          {"Flux is fetching the first image", fetched, first, "", "", waits, true},
		"Again":          {"Flux is fetching again, and pods have an image", fetched, first, old, old, "", true},
		"Changed":        {"The artifact can be that of an earlier URL", fetched, changed, old, old, waits, false},
		"ChangedMounted": {"The pods mount the digest of the artifact", fetched, changed, moved, moved, "", false},
		"Suspended":      {"Flux never fetched it", fetched, suspended, "", "", "resume " + guide + ": it is suspended", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := view.RepositorySource{Name: "guide"}
			s.Follow(viewtest.Decode[view.OCIRepository](t, tc.repository, tc.change), tc.mounted, "docs")
			want := view.RepositorySource{Name: "guide", Image: view.ImageSource{Reference: tc.image}, Problem: tc.problem, Pending: tc.pending}
			if diff := cmp.Diff(want, s); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
