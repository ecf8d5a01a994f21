package fn_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/test/cluster"
)

// repository returns an OCIRepository of Flux that has fetched a revision, with the condition
// Ready. An empty revision means that there is none yet.
func repository(revision, ready, message string) object {
	status := object{"observedGeneration": 1.0, "conditions": []any{cluster.Condition("Ready", ready, "Reason", message)}}
	if revision != "" {
		// The digest of an artifact is that of the file in which Flux stores it.
		status["artifact"] = object{"revision": revision, "digest": "sha256:" + strings.Repeat("00", 32)}
	}

	return object{
		"metadata": object{"generation": 1.0}, "status": status,
		"spec": object{"url": "oci://registry.example.com/team/book"},
	}
}

// TestRepositoryLife simulates an OCIRepository as Flux's source-controller changes it.
func TestRepositoryLife(t *testing.T) {
	t.Parallel()

	const (
		one     = "sha256:" + "1111111111111111111111111111111111111111111111111111111111111111"
		two     = "sha256:" + "2222222222222222222222222222222222222222222222222222222222222222"
		book    = "registry.example.com/team/book@"
		subject = "OCIRepository handbook in namespace docs"
		name    = "spec.markdownsFrom[0].ociRepository.name: "
		waits   = "OCIRepositoryNotReady: " + name + `Invalid value: "handbook": `
		allowed = "registry.example.com/team/*"
		denied  = "InvalidSpec: " + name + "Forbidden: name an OCIRepository with a URL that matches " + allowed
		stays   = "OCIRepositoryNotReady: The book stays at " + book + two + ": "
		fine    = "AsExpected: No errors found"
		absent  = "create " + subject + ", or name another one: it does not exist"
		unready = subject + " is not ready: "
		resume  = "resume " + subject + ": it is suspended"
		stored  = "stored artifact"
		builds  = "building artifact"
		missing = "no signature"
	)
	c := newCluster(t, viewOf(object{"markdownsFrom": []any{object{"ociRepository": object{"name": "handbook"}}}}),
		inputWith(object{"allowedBookImages": []any{allowed}}))
	c.Repositories = map[string]object{}
	set := func(revision, ready, message string) func() {
		return func() { c.Repositories["handbook"] = repository(revision, ready, message) }
	}
	// changed sets an OCIRepository whose spec has changed since Flux observed it.
	changed := func(revision, ready, message string, fields object) func() {
		return func() {
			set(revision, ready, message)()
			mergeInto(c.Repositories["handbook"], object{"metadata": object{"generation": 2.0}, "spec": fields})
		}
	}
	foreign := func() {
		set("latest@"+one, "True", stored)()
		child(c.Repositories["handbook"], "spec")["url"] = "oci://registry.example.com/docs/book"
	}
	remove := func() {
		delete(c.Repositories, "handbook")
		c.Edit(func(spec object) { spec["replicas"] = 3.0 })
	}
	url, suspend := object{"url": "oci://registry.example.com/team/other"}, object{"suspend": true}
	for _, step := range []struct {
		reason string
		change func()
		// image is what the pods mount in the end, and degraded the condition.
		image, degraded string
	}{
		{"It is absent, and no pod serves another image", func() {}, "", waits + absent},
		{"The Input does not allow its image", foreign, "", denied},
		{"Flux has fetched it", set("latest@"+one, "True", stored), book + one, fine},
		{"Flux sees that the tag moves", set("latest@"+one, "Unknown", builds), book + one, fine},
		{"The tag has moved", set("latest@"+two, "True", stored), book + two, fine},
		{"A push has no signature", set("latest@"+two, "False", "no\nsignature"), book + two, stays + unready + missing},
		{"Flux tries again", set("latest@"+two, "Unknown", builds), book + two, stays + unready + missing},
		{"It has another URL, which Flux has not fetched", changed("latest@"+two, "True", "", url), book + two, fine},
		{"Flux cannot fetch it", changed("latest@"+two, "False", "denied", url), book + two, stays + unready + "denied"},
		{"It is suspended", changed("latest@"+two, "True", "", suspend), book + two, fine},
		{"It is deleted, and another change rolls out", remove, book + two, stays + absent},
		{"It is created again", set("", "Unknown", "reconciliation in progress"), book + two, stays + absent},
		{"It is suspended before it was fetched again", changed("", "True", "", suspend), book + two, stays + resume},
		{"Flux has fetched it again, by digest", set(one, "True", stored), book + one, fine},
	} {
		step.change()
		p := c.Settle()
		if image := imageOf(c.Objects["deployment"]); image != step.image {
			t.Errorf("%s: the pods mount: want %q, got %q", step.reason, step.image, image)
		}
		if diff := cmp.Diff(step.degraded, p.Condition("Degraded")); diff != "" {
			t.Errorf("%s: Degraded: -want, +got:\n%s", step.reason, diff)
		}
		if step.image != "" && !p.Ready() {
			t.Errorf("%s: not ready at the end: %v", step.reason, p)
		}
	}
}
