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

	"golang.org/x/sync/errgroup"

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

	// Tests start in this order. More than eight at a time would cause more events than
	// Crossplane keeps: it writes about 15 per second, and drops others when 1,000 wait.
	together := func(tests ...func(*kit)) func(*testing.T) {
		return func(t *testing.T) {
			running := errgroup.Group{}
			running.SetLimit(8)
			for _, test := range tests {
				running.Go(func() error {
					t.Run(nameOf(test), func(t *testing.T) { test(c.kit(t)) })
					return nil
				})
			}
			_ = running.Wait()
		}
	}
	// The longest come first.
	t.Run("Together", together(
		Server,
		DriftOfAll,
		BadInput,
		AutoscaledDeployment,
		Fresh,
		FromLarge,
		Served,
		FromOCIRepository,
		FromImage,
		StuckRollout,
		Diagrams,
		Look,
		Search,
		Browser,
		FromConfigMap,
		Update,
		Authors,
		Create,
		CreateStatus,
		Drift,
		DriftOfOthers,
		Delete,
		PausedRollout,
		Scale,
		Tools,
		TutorialsKind,
		ClusterScoped,
		Claim,
		Nested,
		Pipeline,
		Metrics,
		Monitoring,
		Permissions,
		Orphaned,
		Terminating,
		FunctionPods,
		Explained,
		OwnPrograms,
		Policy,
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
