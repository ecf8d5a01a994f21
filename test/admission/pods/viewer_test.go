package pods

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/pod-security-admission/api"
	"sigs.k8s.io/yaml"
)

func TestViewers(t *testing.T) {
	files, err := filepath.Glob("../../../example/rendered/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 4 {
		t.Fatalf("want the files of \"make render\", got %v", files)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			deployments := 0
			for document := range bytes.SplitSeq(content, []byte("\n---\n")) {
				d := &appsv1.Deployment{}
				if err := yaml.Unmarshal(document, d); err != nil || d.Kind != "Deployment" {
					continue
				}
				deployments++
				if diff := cmp.Diff([]string{}, violations(t, api.LevelRestricted, &d.Spec.Template)); diff != "" {
					t.Errorf("violations: -want, +got:\n%s", diff)
				}
			}
			if deployments != 1 {
				t.Errorf("Deployments: want 1, got %d", deployments)
			}
		})
	}
}
