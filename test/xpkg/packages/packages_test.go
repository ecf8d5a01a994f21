// Package packages tests what "make xpkg" built, and what a registry holds after
// "make xpkg.push".
package packages

import (
	"archive/tar"
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-markdownview/test/xpkg/image"
	"github.com/crossplane-contrib/function-markdownview/test/xpkg/sbom"
)

// dist is the folder that "make xpkg.test" has just built.
func dist(t *testing.T) string {
	t.Helper()
	d := os.Getenv("DIST")
	if d == "" {
		t.Fatal("DIST is not set: run these tests with make xpkg.test")
	}
	return d
}

func open(t *testing.T, file string) v1.Image {
	t.Helper()
	img, err := tarball.ImageFromPath(filepath.Join(dist(t), file), nil)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func config(t *testing.T, img v1.Image) *v1.ConfigFile {
	t.Helper()
	c, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// files returns all files of an image, by path.
func files(t *testing.T, img v1.Image) map[string][]byte {
	t.Helper()
	extracted := mutate.Extract(img)
	defer extracted.Close() //nolint:errcheck // It has been read to its end.
	got := map[string][]byte{}
	for r := tar.NewReader(extracted); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return got
		}
		if err != nil {
			t.Fatal(err)
		}
		if got[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

// objects returns what a package tells Crossplane: apiVersion, kind and name.
func objects(t *testing.T, packageYAML []byte) []string {
	t.Helper()
	got := []string{}
	for document := range strings.SplitSeq(string(packageYAML), "\n---\n") {
		o := struct {
			APIVersion string
			Kind       string
			Metadata   struct{ Name string }
		}{}
		if err := yaml.Unmarshal([]byte(document), &o); err != nil {
			t.Fatal(err)
		}
		if o.Kind != "" {
			got = append(got, o.APIVersion+" "+o.Kind+" "+o.Metadata.Name)
		}
	}
	slices.Sort(got)
	return got
}

// A function package is the runtime image with one more file.
func TestFunctionPackage(t *testing.T) {
	dockerfile, err := os.Open("../../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	defer dockerfile.Close() //nolint:errcheck // Only read.
	recipe, err := image.ReadDockerfile(dockerfile)
	if err != nil {
		t.Fatal(err)
	}

	machines := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}
	for arch, machine := range machines {
		t.Run(arch, func(t *testing.T) {
			img := open(t, "function-markdownview-linux-"+arch+".xpkg")

			c := config(t, img)
			if diff := cmp.Diff("linux/"+arch, c.OS+"/"+c.Architecture); diff != "" {
				t.Errorf("platform: -want, +got:\n%s", diff)
			}
			for label := range c.Config.Labels {
				if strings.HasPrefix(label, "io.crossplane.xpkg:") {
					delete(c.Config.Labels, label)
				}
			}
			if diff := cmp.Diff(recipe.Config, c.Config); diff != "" {
				t.Errorf("config differs from the Dockerfile's: -want, +got:\n%s", diff)
			}

			content := files(t, img)
			want := []string{
				"apiextensions.k8s.io/v1 CustomResourceDefinition inputs.markdownview.fn.crossplane.io",
				"meta.pkg.crossplane.io/v1 Function function-markdownview",
			}
			if diff := cmp.Diff(want, objects(t, content["package.yaml"])); diff != "" {
				t.Errorf("objects of the package: -want, +got:\n%s", diff)
			}
			delete(content, "package.yaml")
			binary := content["function-markdownview"]
			delete(content, "function-markdownview")
			if len(content) != 0 {
				t.Errorf("the image holds more than the binary and the package: %d files", len(content))
			}
			testBinary(t, binary, machine)
		})
	}
}

// The binary runs on its platform without any library, and is no larger than it
// must be.
func testBinary(t *testing.T, binary []byte, machine elf.Machine) {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(binary))
	if err != nil {
		t.Fatal(err)
	}
	if f.Machine != machine {
		t.Errorf("machine: want %s, got %s", machine, f.Machine)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the binary needs a dynamic linker")
		}
	}
	if s := f.Section(".symtab"); s != nil {
		t.Error("the binary is not stripped")
	}
}

func TestConfigurationPackage(t *testing.T) {
	content := files(t, open(t, "configuration-markdownview.xpkg"))
	want := []string{
		"apiextensions.crossplane.io/v1 Composition markdownview",
		"apiextensions.crossplane.io/v2 CompositeResourceDefinition markdownviews.markdownview.fn.crossplane.io",
		"meta.pkg.crossplane.io/v1 Configuration configuration-markdownview",
	}
	if diff := cmp.Diff(want, objects(t, content["package.yaml"])); diff != "" {
		t.Errorf("objects of the package: -want, +got:\n%s", diff)
	}
	if len(content) != 1 {
		t.Errorf("the package holds more than package.yaml: %d files", len(content))
	}
}

// run makes a target of the repository's Makefile, with the folder of packages
// that is tested.
func run(t *testing.T, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "make", append([]string{"--no-print-directory", "-C", "../../..", "DIST=" + dist(t)}, args...)...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("make %s: %s\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func TestPush(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.WithReferrersSupport(true), registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	repository := strings.TrimPrefix(server.URL, "http://") + "/crossplane-contrib/function-markdownview"

	// A release that failed half-way is pushed again.
	out := run(t, "xpkg.push", "XPKG="+repository, "VERSION=v0.1.0")
	first := head(t, repository+":v0.1.0")
	if want := repository + "@" + first.Digest.String(); !strings.HasSuffix(strings.TrimSpace(out), want) {
		t.Errorf("make xpkg.push does not end with %q:\n%s", want, out)
	}
	run(t, "xpkg.push", "XPKG="+repository, "VERSION=v0.1.0")
	if again := head(t, repository+":v0.1.0"); again.Digest != first.Digest {
		t.Errorf("the same commit gave %s and %s", first.Digest, again.Digest)
	}

	tag, err := name.NewTag(repository + ":v0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	index, err := remote.Index(tag)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	platforms := []string{}
	for _, m := range manifest.Manifests {
		platforms = append(platforms, m.Platform.String())
		t.Run(m.Platform.Architecture, func(t *testing.T) {
			img, err := index.Image(m.Digest)
			if err != nil {
				t.Fatal(err)
			}
			testPushed(t, img, tag.Context().Digest(m.Digest.String()))
		})
	}
	slices.Sort(platforms)
	if diff := cmp.Diff([]string{"linux/amd64", "linux/arm64"}, platforms); diff != "" {
		t.Errorf("platforms: -want, +got:\n%s", diff)
	}
}

func head(t *testing.T, ref string) *v1.Descriptor {
	t.Helper()
	tag, err := name.NewTag(ref)
	if err != nil {
		t.Fatal(err)
	}
	d, err := remote.Head(tag)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// testPushed tests an image that was pulled back.
func testPushed(t *testing.T, img v1.Image, ref name.Digest) {
	t.Helper()

	// Crossplane reads the one layer that is called the package's base, and none
	// other, so it need not pull the binary.
	manifest, err := img.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	annotations := []string{}
	for _, l := range manifest.Layers {
		annotations = append(annotations, l.Annotations["io.crossplane.xpkg"])
	}
	if diff := cmp.Diff([]string{"", "base"}, annotations); diff != "" {
		t.Errorf("io.crossplane.xpkg of the layers: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff("65532:65532", config(t, img).Config.User); diff != "" {
		t.Errorf("user: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"/function-markdownview"}, config(t, img).Config.Entrypoint); diff != "" {
		t.Errorf("entrypoint: -want, +got:\n%s", diff)
	}

	document, err := sbom.Get(ref)
	if err != nil {
		t.Fatal(err)
	}
	testSBOM(t, document, files(t, img)["function-markdownview"])
}

// The SBOM names each module that Go says is in the binary, with its version.
func testSBOM(t *testing.T, document, binary []byte) {
	t.Helper()
	type component struct{ Name, Version string }
	bom := struct {
		BOMFormat  string `json:"bomFormat"`
		Components []component
		Metadata   struct{ Component component }
	}{}
	if err := json.Unmarshal(document, &bom); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("CycloneDX", bom.BOMFormat); diff != "" {
		t.Errorf("format: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(component{"github.com/crossplane-contrib/function-markdownview", "v0.1.0"}, bom.Metadata.Component); diff != "" {
		t.Errorf("subject: -want, +got:\n%s", diff)
	}

	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		t.Fatal(err)
	}
	want := []component{{"std", info.GoVersion}}
	for _, m := range info.Deps {
		want = append(want, component{m.Path, m.Version})
	}
	byName := func(a, b component) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(want, byName)
	slices.SortFunc(bom.Components, byName)
	if diff := cmp.Diff(want, bom.Components); diff != "" {
		t.Errorf("components: -want, +got:\n%s", diff)
	}
}
