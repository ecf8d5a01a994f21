// Package e2e tests on a real control plane that the function keeps every guarantee of
// a controller written in Go.
package e2e

import (
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/crossplane-contrib/function-markdownview/test/e2e/controlplane"
)

// TestMain starts a real node in Linux namespaces of its own, and runs the tests there.
func TestMain(m *testing.M) {
	if os.Getenv("NODE") == "real" && os.Getenv("E2E_KUBECONFIG") == "" {
		if _, err := controlplane.Isolate(0); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// TestGuarantees runs a test for each guarantee. Tests that do not affect others run in
// parallel. Tests that kill, upgrade or measure run one by one afterwards.
func TestGuarantees(t *testing.T) {
	c := start(t)

	together := func(tests ...func(*kit)) func(*testing.T) {
		return func(t *testing.T) {
			for _, test := range tests {
				t.Run(nameOf(test), func(t *testing.T) {
					t.Parallel()
					test(c.kit(t))
				})
			}
		}
	}
	t.Run("Together", together(
		Create,
		CreateStatus,
		Update,
		UpdateText,
		Drift,
		DriftOfAll,
		DriftOfOthers,
		Delete,
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
		FromConfigMap,
		OpenShift,
		Pipeline,
		Metrics,
		Monitoring,
		Permissions,
		Served,
		FromLarge,
		FromImage,
		FromOCIRepository,
		Server,
		Fresh,
		Orphaned,
		Browser,
		Look,
		Search,
		Diagrams,
		Terminating,
		FunctionPods,
		Explained,
		OwnPrograms,
		Policy,
		Authors,
	))
	// These start so many pods that the others would have to wait for theirs.
	t.Run("Changing", together(
		ManyChanges,
		ManyChangesBroken,
		ManyInputs,
		SteadyChanges,
	))
	t.Run("Alone", func(t *testing.T) {
		for _, test := range []func(*kit){
			Reachable, // Requires that Crossplane has no permission for HTTPRoutes yet.
			Gateway,
			Quiet,
			Updates,
			Accepted,
			Deaths,
			Upgrade,
			Load,
			Drain,
			Uninterrupted,
			LiveReload,
			OwnRegistry, // Removes the packages.
		} {
			t.Run(nameOf(test), func(t *testing.T) { test(c.kit(t)) })
		}
	})
}

// nameOf returns the name of a test function, without its package.
func nameOf(test func(*kit)) string {
	name := runtime.FuncForPC(reflect.ValueOf(test).Pointer()).Name()
	return name[strings.LastIndex(name, ".")+1:]
}
