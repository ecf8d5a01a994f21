package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const configurationSources = "../package/configuration"

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
	type want struct {
		Package, Version, FunctionRef string
	}
	cases := map[string]struct {
		reason   string
		registry string
		version  string
		want     want
	}{
		"Release":            {reason: "A release depends on the function of the same version, not on a newer one.", registry: published, version: "v0.1.1", want: want{published + "/function-markdownview", "v0.1.1", publishedName}},
		"Commit":             {reason: "A commit without a version keeps the dependency of the sources.", registry: published, version: "2b1c3d4e-dirty", want: want{published + "/function-markdownview", ">=v0.1.0", publishedName}},
		"CommitAfterRelease": {reason: "The version of a commit after a release is not published.", registry: published, version: "v0.1.0-3-g2b1c3d4", want: want{published + "/function-markdownview", ">=v0.1.0", publishedName}},
		"OwnRegistry":        {reason: "In a user's own registry, the function is pushed with the configuration.", registry: "registry.example.com/team", version: "v0.1.0-rc.1", want: want{"registry.example.com/team/function-markdownview", "v0.1.0-rc.1", "team-function-markdownview"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := configurationCmd{Registry: tc.registry, Version: tc.version, Source: configurationSources, Target: t.TempDir()}
			if err := c.Run(); err != nil {
				t.Fatal(err)
			}
			var meta struct {
				Spec struct {
					DependsOn []struct{ Package, Version string }
				}
			}
			var composition struct {
				Spec struct {
					Pipeline []struct{ FunctionRef struct{ Name string } }
				}
			}
			read(t, filepath.Join(c.Target, "crossplane.yaml"), &meta)
			read(t, filepath.Join(c.Target, "composition.yaml"), &composition)
			dependency := meta.Spec.DependsOn[0]
			got := want{Package: dependency.Package, Version: dependency.Version, FunctionRef: composition.Spec.Pipeline[0].FunctionRef.Name}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nRun(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestConfigurationNeedsSemanticVersion checks that a version that is not semantic is an
// error: Crossplane could not resolve it.
func TestConfigurationNeedsSemanticVersion(t *testing.T) {
	c := configurationCmd{Registry: "registry.example.com/team", Version: "latest", Source: configurationSources, Target: t.TempDir()}
	if err := c.Run(); err == nil || err.Error() != `cannot depend on version "latest" of the function: invalid semantic version` {
		t.Errorf("Run(): got error %v", err)
	}
}
