package fn_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// repository returns an OCIRepository of Flux that has fetched a revision, with the condition
// Ready. An empty revision means that there is none yet.
func repository(revision, ready, message string) object {
	status := object{"observedGeneration": 1.0, "conditions": []any{object{"type": "Ready", "status": ready, "reason": "Reason", "message": message}}}
	if revision != "" {
		// The digest of an artifact is that of the file in which Flux stores it.
		status["artifact"] = object{"revision": revision, "digest": "sha256:" + strings.Repeat("00", 32)}
	}

	return object{"metadata": object{"generation": 1.0}, "spec": object{"url": "oci://registry.example.com/team/book"}, "status": status}
}

// following returns a cluster with a MarkdownView that follows the OCIRepository handbook.
func following(t *testing.T) *cluster {
	t.Helper()

	c := newCluster(t, viewOf(object{"markdownsFrom": []any{object{"ociRepository": object{"name": "handbook"}}}}),
		inputWith(object{"allowedBookImages": []any{"registry.example.com/team/*"}}))
	c.repositories = map[string]object{}

	return c
}

// TestRepositoryLife simulates an OCIRepository as Flux's source-controller changes it.
func TestRepositoryLife(t *testing.T) {
	t.Parallel()

	const (
		one   = "sha256:" + "1111111111111111111111111111111111111111111111111111111111111111"
		two   = "sha256:" + "2222222222222222222222222222222222222222222222222222222222222222"
		book  = "registry.example.com/team/book@"
		waits = `spec.markdownsFrom[0].ociRepository.name: Invalid value: "handbook": `
		stays = "OCIRepositoryNotReady The book stays at " + book + two + ": "
		its   = "OCIRepository handbook in namespace docs "
		gone  = "create OCIRepository handbook in namespace docs, or name another one: it does not exist"
		still = "resume OCIRepository handbook in namespace docs: it is suspended"
		fine  = "AsExpected No errors found"
	)
	c := following(t)
	set := func(r object) func() { return func() { c.repositories["handbook"] = r } }
	changed := func(r object, fields object) func() {
		return func() {
			metadata(r)["generation"] = 2.0
			mergeInto(r["spec"].(object), fields)
			set(r)()
		}
	}
	url := object{"url": "oci://registry.example.com/team/other"}
	for _, step := range []struct {
		reason string
		change func()
		// image is what the pods mount in the end, degraded the reason and the message
		// of the condition.
		image, degraded string
	}{
		{"It is absent, and no pod serves another image", func() {}, "", "OCIRepositoryNotReady " + waits + gone},
		{"Flux has not seen it", set(object{"spec": object{"url": "oci://registry.example.com/team/book"}}), "", "OCIRepositoryNotReady " + waits + its + "waits for Flux, which has not fetched its image yet"},
		{"Flux is fetching it", set(repository("", "Unknown", "building artifact")), "", "OCIRepositoryNotReady " + waits + its + "waits for Flux, which has not fetched its image yet"},
		{"Flux cannot fetch it", set(repository("", "False", "no such tag")), "", "OCIRepositoryNotReady " + waits + its + "is not ready: no such tag"},
		{"It is suspended before it was fetched", changed(repository("", "True", ""), object{"suspend": true}), "", "OCIRepositoryNotReady " + waits + still},
		{"Flux has fetched it", set(repository("latest@"+one, "True", "stored artifact")), book + one, fine},
		{"Flux sees that the tag moves", set(repository("latest@"+one, "Unknown", "building artifact")), book + one, fine},
		{"The tag has moved", set(repository("latest@"+two, "True", "stored artifact")), book + two, fine},
		{"The signature of a push is missing", set(repository("latest@"+two, "False", "no matching\nsignatures")), book + two, stays + its + "is not ready: no matching signatures"},
		{"Flux tries again", set(repository("latest@"+two, "Unknown", "building artifact")), book + two, stays + its + "is not ready: no matching signatures"},
		{"It has another URL, which Flux has not fetched", changed(repository("latest@"+two, "True", ""), url), book + two, fine},
		{"Flux cannot fetch the other URL", changed(repository("latest@"+two, "False", "unauthorized"), url), book + two, stays + its + "is not ready: unauthorized"},
		{"It is suspended", changed(repository("latest@"+two, "True", ""), object{"suspend": true}), book + two, fine},
		{"It is deleted", func() { delete(c.repositories, "handbook") }, book + two, stays + gone},
		{"It is created again", set(repository("", "Unknown", "reconciliation in progress")), book + two, stays + gone},
		{"It is suspended before it was fetched again", changed(repository("", "True", ""), object{"suspend": true}), book + two, stays + still},
		{"Flux has fetched it again, by digest", set(repository(one, "True", "stored artifact")), book + one, fine},
	} {
		step.change()
		p := c.settle()
		if image := imageOf(c.request().GetObserved().GetResources()["deployment"]); image != step.image {
			t.Errorf("%s: the pods mount: want %q, got %q", step.reason, step.image, image)
		}
		degraded := c.request()
		got := fmt.Sprint(run(t, degraded).GetConditions()[1].GetReason(), " ", run(t, degraded).GetConditions()[1].GetMessage())
		if diff := cmp.Diff(step.degraded, got); diff != "" {
			t.Errorf("%s: Degraded: -want, +got:\n%s", step.reason, diff)
		}
		if step.image != "" && !p.ready[len(p.ready)-1] {
			t.Errorf("%s: not ready at the end: %v", step.reason, p)
		}
	}
}

// TestRepositoryWhileWaiting checks that other changes roll out while an OCIRepository is
// waited for.
func TestRepositoryWhileWaiting(t *testing.T) {
	t.Parallel()

	c := following(t)
	c.repositories["handbook"] = repository("latest@sha256:"+strings.Repeat("1e", 32), "True", "stored artifact")
	c.settle()
	delete(c.repositories, "handbook")
	c.edit(func(spec object) { spec["replicas"] = 3.0 })
	if p := c.settle(); !p.ready[len(p.ready)-1] || child(c.objects["deployment"], "spec")["replicas"] != 3.0 {
		t.Errorf("want 3 replicas, got %v, ready %v", child(c.objects["deployment"], "spec")["replicas"], p.ready)
	}
}

// TestRepositoryPolicy checks which images of an OCIRepository are rejected.
func TestRepositoryPolicy(t *testing.T) {
	t.Parallel()

	digest := "sha256:" + strings.Repeat("1e", 32)
	for url, tc := range map[string]struct {
		reason  string
		allowed []any
		want    string
	}{
		"oci://registry.example.com/team/book": {
			reason: "Another repository is allowed", allowed: []any{"registry.example.com/docs/*"},
			want: `spec.markdownsFrom[0].ociRepository.name: Forbidden: name an OCIRepository with a URL that matches registry.example.com/docs/*`,
		},
		"oci://registry.example.com/docs/book": {
			reason: "None is allowed", allowed: []any{},
			want: `spec.markdownsFrom[0].ociRepository.name: Forbidden: use markdowns or ConfigMaps: the Input's allowedBookImages allows no image`,
		},
		"oci://registry.example.com/A": {
			reason: "A URL that is no image", allowed: []any{"*/a"},
			want: `spec.markdownsFrom[0].ociRepository.name: Invalid value: "registry.example.com/A@sha256:1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e…": write an image reference such as docker.io/peaceiris/mdbook:v0.5.0`,
		},
	} {
		c := following(t)
		c.input["allowedBookImages"] = tc.allowed
		r := repository("latest@"+digest, "True", "stored artifact")
		child(r, "spec")["url"] = url
		c.repositories["handbook"] = r
		got := checkLaws(t, c.request()).GetConditions()[1].GetMessage()
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
		}
	}
}
