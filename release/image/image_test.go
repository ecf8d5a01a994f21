package image

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

func recipe() Recipe {
	return Recipe{
		Binary: "/function",
		Mode:   0o555,
		Config: v1.Config{
			User:         "65532:65532",
			Entrypoint:   []string{"/function"},
			ExposedPorts: map[string]struct{}{"9443/tcp": {}},
			Labels:       map[string]string{"a": "b"},
		},
	}
}

func build(t *testing.T, binary string) v1.Image {
	t.Helper()
	img, err := recipe().Build([]byte(binary), "arm64")
	if err != nil {
		t.Fatal(err)
	}

	return img
}

func digest(t *testing.T, img v1.Image) string {
	t.Helper()
	d, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}

	return d.String()
}

func TestBuildIsReproducible(t *testing.T) {
	if a, b := digest(t, build(t, "binary")), digest(t, build(t, "binary")); a != b {
		t.Errorf("digests of the same binary: want equal ones, got %s and %s", a, b)
	}
	if a, b := digest(t, build(t, "binary")), digest(t, build(t, "another")); a == b {
		t.Errorf("digest of another binary: got the same, %s", a)
	}
}

func TestDescribe(t *testing.T) {
	want := []string{
		"platform linux/arm64",
		`entrypoint ["/function"]`,
		`cmd []`,
		`user "65532:65532"`,
		`stop signal ""`,
		`working directory "/"`,
		`healthcheck false`,
		`port "9443/tcp"`,
		`label "a"="b"`,
		`file "/function" type '0' mode 0555 owner 0:0 sha256 9a3a45d01531a20e89ac6ae10b0b0beb0492acd7216a368aa062d1a5fecaf9cd`,
	}
	got, err := Describe(build(t, "binary"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Describe(...): -want, +got:\n%s", diff)
	}
}

// TestDescribeDiffers checks that images with different files or configuration
// have different descriptions.
func TestDescribeDiffers(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*v1.Config)
		same   bool
	}{
		"User":       {reason: "Root is another user.", change: func(c *v1.Config) { c.User = "" }},
		"Entrypoint": {reason: "A flag changes what runs.", change: func(c *v1.Config) { c.Entrypoint = []string{"/function", "--debug"} }},
		"Cmd":        {reason: "An argument changes what runs.", change: func(c *v1.Config) { c.Cmd = []string{"--debug"} }},
		"Env":        {reason: "The environment changes what runs.", change: func(c *v1.Config) { c.Env = []string{"A=b"} }},
		"Port":       {reason: "Tools read the ports of an image.", change: func(c *v1.Config) { c.ExposedPorts = nil }},
		"Label":      {reason: "Registries read labels.", change: func(c *v1.Config) { c.Labels = nil }},
		"Volume":     {reason: "A volume is writable.", change: func(c *v1.Config) { c.Volumes = map[string]struct{}{"/tmp": {}} }},
		"WorkingDir": {reason: "Relative paths depend on the working directory.", change: func(c *v1.Config) { c.WorkingDir = "/tmp" }},
		"StopSignal": {reason: "The function drains on SIGTERM only.", change: func(c *v1.Config) { c.StopSignal = "SIGKILL" }},
		"Health":     {reason: "There is no shell to run a check.", change: func(c *v1.Config) { c.Healthcheck = &v1.HealthConfig{} }},
		"Path":       {reason: "BuildKit writes the default PATH, Buildah does not.", change: func(c *v1.Config) { c.Env = []string{"PATH=/bin"} }, same: true},
		"Root":       {reason: "BuildKit writes the default folder, Buildah does not.", change: func(c *v1.Config) { c.WorkingDir = "/" }, same: true},
		"Buildah":    {reason: "Buildah adds its version.", change: func(c *v1.Config) { c.Labels = map[string]string{"a": "b", "io.buildah.version": "1"} }, same: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			img := build(t, "binary")
			before, err := Describe(img)
			if err != nil {
				t.Fatal(err)
			}
			config := recipe().Config
			tc.change(&config)
			if img, err = mutate.Config(img, config); err != nil {
				t.Fatal(err)
			}
			after, err := Describe(img)
			if err != nil {
				t.Fatal(err)
			}
			if same := cmp.Equal(before, after); same != tc.same {
				t.Errorf("%s\nsame description: want %v, got %v:\n%s", tc.reason, tc.same, same, cmp.Diff(before, after))
			}
		})
	}
}
