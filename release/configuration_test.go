package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestInstalledName compares installedName with results of ToDNSLabel of Crossplane.
func TestInstalledName(t *testing.T) {
	a := strings.Repeat("a", 53)
	for repository, want := range map[string]string{
		"crossplane-contrib/function-markdownview": "crossplane-contrib-function-markdownview",
		"function-markdownview":                    "function-markdownview",
		"my.team/a_b/function-markdownview":        "my-team-ab-function-markdownview",
		a[:41] + "/function-markdownview":          a[:41] + "-function-markdownview",
		a + "/function-markdownview":               a + "-function", // 63 characters, without a dash at the end.
	} {
		if got := installedName(repository); got != want {
			t.Errorf("installedName(%q): want %q, got %q", repository, want, got)
		}
	}
}

// TestConfigurationDependsOnItsVersion checks on which function a configuration depends, and
// which function its Composition calls.
func TestConfigurationDependsOnItsVersion(t *testing.T) {
	const published, publishedName = "xpkg.crossplane.io/crossplane-contrib", "crossplane-contrib-function-markdownview"
	cases := map[string]struct {
		reason   string
		registry string
		version  string
		want     string
	}{
		"Release":            {reason: "A release depends on the function of the same version, not on a newer one.", registry: published, version: "v0.1.1", want: published + "/function-markdownview v0.1.1 " + publishedName},
		"Commit":             {reason: "A commit without a version keeps the dependency of the sources.", registry: published, version: "2b1c3d4e-dirty", want: published + "/function-markdownview >=v0.1.0 " + publishedName},
		"CommitAfterRelease": {reason: "The version of a commit after a release is not published.", registry: published, version: "v0.1.0-3-g2b1c3d4", want: published + "/function-markdownview >=v0.1.0 " + publishedName},
		"OwnRegistry":        {reason: "In a user's own registry, the function is pushed with the configuration.", registry: "registry.example.com/team", version: "v0.1.0-rc.1", want: "registry.example.com/team/function-markdownview v0.1.0-rc.1 team-function-markdownview"},
		"NoVersion":          {reason: "Crossplane could not resolve a version that is not semantic.", registry: "registry.example.com/team", version: "latest", want: `cannot depend on version "latest" of the function: invalid semantic version`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := configurationCmd{Registry: tc.registry, Version: tc.version, Source: "../package/configuration", Target: t.TempDir()}
			err := c.Run()
			var object struct {
				Spec struct {
					DependsOn []struct{ Package, Version string }
					Pipeline  []struct{ FunctionRef struct{ Name string } }
				}
			}
			read(t, filepath.Join(c.Target, "crossplane.yaml"), &object)
			read(t, filepath.Join(c.Target, "composition.yaml"), &object)
			dependency := object.Spec.DependsOn[0]
			got := dependency.Package + " " + dependency.Version + " " + object.Spec.Pipeline[0].FunctionRef.Name
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nRun(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
