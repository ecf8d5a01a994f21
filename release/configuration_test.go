package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

const configurationSources = "../package/configuration"

// TestInstalledName compares installedName with results of ToDNSLabel of Crossplane.
func TestInstalledName(t *testing.T) {
	cases := map[string]struct {
		reason     string
		repository string
		want       string
	}{
		"Upstream":   {reason: "Slashes become dashes.", repository: "crossplane-contrib/function-markdownview", want: "crossplane-contrib-function-markdownview"},
		"NoFolder":   {reason: "The registry is not part of the name.", repository: "function-markdownview", want: "function-markdownview"},
		"Characters": {reason: "A dot becomes a dash, and an underscore is dropped.", repository: "my.team/a_b/function-markdownview", want: "my-team-ab-function-markdownview"},
		"Long":       {reason: "A name has at most 63 characters.", repository: strings.Repeat("a", 41) + "/function-markdownview", want: strings.Repeat("a", 41) + "-function-markdownview"},
		"TooLong":    {reason: "A longer name is cut, and does not end with a dash.", repository: strings.Repeat("a", 53) + "/function-markdownview", want: strings.Repeat("a", 53) + "-function"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, installedName(tc.repository)); diff != "" {
				t.Errorf("%s\ninstalledName(%q): -want, +got:\n%s", tc.reason, tc.repository, diff)
			}
		})
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
		"Release": {
			reason:   "A release depends on the function of the same version, not on a newer one.",
			registry: published,
			version:  "v0.1.1",
			want:     want{Package: published + "/function-markdownview", Version: "v0.1.1", FunctionRef: publishedName},
		},
		"Commit": {
			reason:   "A commit without a version keeps the dependency of the sources.",
			registry: published,
			version:  "2b1c3d4e-dirty",
			want:     want{Package: published + "/function-markdownview", Version: ">=v0.1.0", FunctionRef: publishedName},
		},
		"CommitAfterRelease": {
			reason:   "The version of a commit after a release is not published.",
			registry: published,
			version:  "v0.1.0-3-g2b1c3d4",
			want:     want{Package: published + "/function-markdownview", Version: ">=v0.1.0", FunctionRef: publishedName},
		},
		"OwnRegistry": {
			reason:   "In a user's own registry, the function is pushed with the configuration.",
			registry: "registry.example.com/team",
			version:  "v0.1.0-rc.1",
			want:     want{Package: "registry.example.com/team/function-markdownview", Version: "v0.1.0-rc.1", FunctionRef: "team-function-markdownview"},
		},
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
			for file, into := range map[string]any{"crossplane.yaml": &meta, "composition.yaml": &composition} {
				content, err := os.ReadFile(filepath.Join(c.Target, file))
				if err != nil {
					t.Fatal(err)
				}
				if err := yaml.Unmarshal(content, into); err != nil {
					t.Fatal(err)
				}
			}
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
	got := ""
	if err := c.Run(); err != nil {
		got = err.Error()
	}
	if diff := cmp.Diff(`cannot depend on version "latest" of the function: invalid semantic version`, strings.ToLower(got)); diff != "" {
		t.Errorf("Run(): -want, +got:\n%s", diff)
	}
}
