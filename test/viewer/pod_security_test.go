package viewer_test

import (
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// The judge is the one in the API server.
func TestPodSecurity(t *testing.T) {
	t.Parallel()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	judge := func(template corev1.PodTemplateSpec) policy.AggregateCheckResult {
		return policy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &template.ObjectMeta, &template.Spec))
	}

	files, err := filepath.Glob("../../example/rendered/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 4 {
		t.Fatalf("want the files of \"make render\", got %v", files)
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := judge(rendered(t, name).Deployment.Spec.Template); !got.Allowed {
				t.Errorf("not allowed: %s: %s", got.ForbiddenReason(), got.ForbiddenDetail())
			}
		})
	}
}
