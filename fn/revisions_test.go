package fn_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// TestRevisions compares the revisions of the examples, and of the golden requests, with
// testdata/revisions.json. A revision is in the pod template, so a difference means that
// a new version of the function restarts the pods of such books.
func TestRevisions(t *testing.T) {
	const ours = "../package/configuration/composition.yaml"
	got := map[string]string{}
	for name, files := range map[string]struct{ xr, composition, shared string }{
		"example/xr.yaml":          {xr: "xr.yaml", composition: ours},
		"example/nested/xr.yaml":   {xr: "nested/xr.yaml", composition: ours},
		"example/from/xr.yaml":     {xr: "from/xr.yaml", composition: ours, shared: "from/configmap.yaml"},
		"example/from/image.yaml":  {xr: "from/image.yaml", composition: "production/composition.yaml"},
		"example/platform/xr.yaml": {xr: "platform/xr.yaml", composition: "platform/composition.yaml"},
		"example/production":       {xr: "xr.yaml", composition: "production/composition.yaml"},
		"example/tutorial/xr.yaml": {xr: "tutorial/xr.yaml", composition: "tutorial/composition.yaml"},
	} {
		input, _ := at(listAt(readExample(t, files.composition), "spec", "pipeline")[0], "input").(object)
		c := newCluster(t, readExample(t, files.xr), input)
		if files.shared != "" {
			shared := readExample(t, files.shared)
			c.Shared = map[string]object{metadata(shared)["name"].(string): {"data": shared["data"]}}
		}
		got[name] = revisionOf(run(t, c.Request()).GetDesired().GetResources()["deployment"].GetResource().AsMap())
	}
	for name, req := range goldenRequests(t) {
		if d := run(t, req).GetDesired().GetResources()["deployment"].GetResource(); d != nil {
			got[name] = revisionOf(d.AsMap())
		}
	}

	path := filepath.Join("testdata", "revisions.json")
	if *update {
		b, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			t.Fatalf("cannot encode revisions: %v", err)
		}
		if err := os.WriteFile(path, append(b, '\n'), 0o644); err != nil {
			t.Fatalf("cannot write a golden file: %v", err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("cannot read the golden revisions: %v", err)
	}
	want := map[string]string{}
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatalf("cannot decode %s: %v", path, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pods of these books restart with this version: if they must, say so in CHANGELOG.md, "+
			"and run go test ./fn -run TestRevisions -update: -want, +got:\n%s", diff)
	}
}

// readExample returns the object in a file of the folder example.
func readExample(t *testing.T, path string) object {
	t.Helper()

	b, err := os.ReadFile(filepath.Join("..", "example", path))
	if err != nil {
		t.Fatalf("cannot read an example: %v", err)
	}
	out := object{}
	if err := yaml.Unmarshal(b, &out); err != nil {
		t.Fatalf("cannot decode %s: %v", path, err)
	}

	return out
}
