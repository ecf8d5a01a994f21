package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// TestConfigurationOfRelease checks that the configuration of a release has the sources
// unchanged.
func TestConfigurationOfRelease(t *testing.T) {
	target := t.TempDir()
	c := configurationCmd{Registry: "xpkg.crossplane.io/crossplane-contrib", Version: "v0.1.0", Source: configurationSources, Target: target}
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"crossplane.yaml", "composition.yaml", "definition.yaml"} {
		want, err := os.ReadFile(filepath.Join(configurationSources, file))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(target, file))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", file, diff)
		}
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
