// Package e2e shows on a real control plane that the function keeps every
// guarantee that a hand-written controller gives.
package e2e

import (
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// TestGuarantees runs a test for each guarantee. Those that leave the others
// alone run together; then those that kill, upgrade or measure run one by one.
func TestGuarantees(t *testing.T) {
	c := start(t)

	t.Run("Together", func(t *testing.T) {
		for _, test := range []func(*kit){
			Create,
			CreateStatus,
			Update,
			UpdateText,
			Drift,
			DriftOfAll,
			DriftOfOthers,
			Delete,
			Admission,
			AdmissionOfTutorial,
			BadInput,
			StuckRollout,
			PausedRollout,
			Scale,
			Tools,
			TutorialsKind,
			AutoscaledDeployment,
			ClusterScoped,
			Claim,
			Nested,
			OpenShift,
			Pipeline,
			Metrics,
			Permissions,
		} {
			t.Run(nameOf(test), func(t *testing.T) {
				t.Parallel()
				test(c.kit(t))
			})
		}
	})
	t.Run("Alone", func(t *testing.T) {
		alone := []func(*kit){
			Quiet,
			Accepted,
			FunctionDies,
			CrossplaneDies,
			Upgrade,
			Load,
		}
		if c.loopback != nil {
			// That of another cluster is not ours to kill.
			alone = append(alone, APIServerDies)
		}
		for _, test := range alone {
			t.Run(nameOf(test), func(t *testing.T) { test(c.kit(t)) })
		}
	})
}

// nameOf a test function, without its package.
func nameOf(test func(*kit)) string {
	name := runtime.FuncForPC(reflect.ValueOf(test).Pointer()).Name()
	return name[strings.LastIndex(name, ".")+1:]
}
