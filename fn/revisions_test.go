package fn_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRevisions compares the revisions of the examples, and of the golden requests, with
// testdata/revisions.json. A revision is in the pod template, so a difference means that
// a new version of the function restarts the pods of such books.
func TestRevisions(t *testing.T) {
	const ours = "package/configuration/composition.yaml"
	got := object{}
	for name, files := range map[string]struct{ xr, composition, shared string }{
		"example/xr.yaml":          {xr: "example/xr.yaml", composition: ours},
		"example/nested/xr.yaml":   {xr: "example/nested/xr.yaml", composition: ours},
		"example/from/xr.yaml":     {xr: "example/from/xr.yaml", composition: ours, shared: "example/from/configmap.yaml"},
		"example/from/image.yaml":  {xr: "example/from/image.yaml", composition: "example/production/composition.yaml"},
		"example/platform/xr.yaml": {xr: "example/platform/xr.yaml", composition: "example/platform/composition.yaml"},
		"example/production":       {xr: "example/xr.yaml", composition: "example/production/composition.yaml"},
		"example/tutorial/xr.yaml": {xr: "example/tutorial/xr.yaml", composition: "example/tutorial/composition.yaml"},
	} {
		input, _ := at(listAt(readYAML(t, files.composition), "spec", "pipeline")[0], "input").(object)
		c := newCluster(t, readYAML(t, files.xr), input)
		if files.shared != "" {
			shared := readYAML(t, files.shared)
			c.Shared = map[string]object{metadata(shared)["name"].(string): {"data": shared["data"]}}
		}
		got[name] = revisionOf(run(t, c.Request()).GetDesired().GetResources()["deployment"].GetResource().AsMap())
	}
	for name, req := range goldenRequests(t) {
		if d := run(t, req).GetDesired().GetResources()["deployment"].GetResource(); d != nil {
			got[name] = revisionOf(d.AsMap())
		}
	}

	if *update {
		b, err := json.Marshal(got)
		writeGolden(t, "testdata/revisions.json", b, err)
	}
	want := readYAML(t, "fn/testdata/revisions.json")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pods of these books restart with this version: if they must, say so in CHANGELOG.md, "+
			"and run go test ./fn -run TestRevisions -update: -want, +got:\n%s", diff)
	}
}
