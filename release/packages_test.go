package main

import (
	"archive/tar"
	"debug/buildinfo"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"sigs.k8s.io/yaml"
)

// must returns a value, and panics if there is an error.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}

	return value
}

// equal checks that two values are equal.
func equal(t *testing.T, what string, want, got any, o ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, o...); diff != "" {
		t.Errorf("%s: -want, +got:\n%s", what, diff)
	}
}

// dist returns the folder that make test-packages has built.
func dist(t *testing.T) string {
	t.Helper()
	d := os.Getenv("DIST")
	if d == "" {
		t.Fatal("DIST is not set: run these tests with make test-packages")
	}

	return d
}

func open(t *testing.T, file string) v1.Image {
	t.Helper()
	return must(tarball.ImageFromPath(filepath.Join(dist(t), file), nil))
}

// A runtimeImage is what a container runtime needs to run the function.
type runtimeImage struct {
	Platform string
	Config   v1.Config
	Binary   string // Its mode and owner.
}

// wantRuntime is the runtime image. Clusters depend on it.
var wantRuntime = runtimeImage{
	Config: v1.Config{
		User:         "65532:65532",
		Entrypoint:   []string{"/function-markdownview"},
		ExposedPorts: map[string]struct{}{"9443/tcp": {}, "8080/tcp": {}},
		Labels: map[string]string{
			"org.opencontainers.image.title":       "function-markdownview",
			"org.opencontainers.image.description": "Crossplane composition function that serves the Markdown of a MarkdownView as a web book",
			"org.opencontainers.image.source":      "https://github.com/crossplane-contrib/function-markdownview",
			"org.opencontainers.image.licenses":    "Apache-2.0",
		},
	},
	Binary: "-r-xr-xr-x 0:0",
}

// describe returns the runtime part of an image, without what makes no difference:
// builders may write the default working directory and PATH, Buildah adds its version,
// and a package has labels for its layers.
func describe(t *testing.T, img v1.Image) runtimeImage {
	t.Helper()
	c := must(img.ConfigFile())
	binary := files(t, img)["function-markdownview"].mode
	got := runtimeImage{Platform: c.OS + "/" + c.Architecture, Config: *c.Config.DeepCopy(), Binary: binary}
	got.Config.WorkingDir = strings.TrimPrefix(got.Config.WorkingDir, "/")
	got.Config.ArgsEscaped = false // BuildKit sets it, and only Windows reads it.
	got.Config.Env = slices.DeleteFunc(got.Config.Env, func(e string) bool { return strings.HasPrefix(e, "PATH=") })
	maps.DeleteFunc(got.Config.Labels, func(k, _ string) bool {
		return strings.HasPrefix(k, "io.buildah.") || strings.HasPrefix(k, "io.crossplane.xpkg:")
	})

	return got
}

// A file is a file of an image. Its mode includes the owner.
type file struct{ mode, content string }

// files returns all files of an image, by path.
func files(t *testing.T, img v1.Image) map[string]file {
	t.Helper()
	extracted := mutate.Extract(img)
	defer extracted.Close() //nolint:errcheck // It was read to its end.
	got := map[string]file{}
	for r := tar.NewReader(extracted); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return got
		}
		if err != nil {
			t.Fatal(err)
		}
		mode := fmt.Sprintf("%s %d:%d", h.FileInfo().Mode(), h.Uid, h.Gid)
		got[path.Clean(h.Name)] = file{mode, string(must(io.ReadAll(r)))}
	}
}

// objects returns the apiVersion, kind and name of each object of a package.
func objects(t *testing.T, packageYAML string) []string {
	t.Helper()
	got := []string{}
	for document := range strings.SplitSeq(packageYAML, "\n---\n") {
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

// TestFunctionPackage checks that a function package has the runtime image and the
// files of a package.
func TestFunctionPackage(t *testing.T) {
	for arch, machine := range map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64} {
		t.Run(arch, func(t *testing.T) {
			img := open(t, "function-markdownview-linux-"+arch+".xpkg")

			want := wantRuntime
			want.Platform = "linux/" + arch
			equal(t, "runtime", want, describe(t, img), cmpopts.EquateEmpty())

			content := files(t, img)
			equal(t, "files", []string{examplesFile, "function-markdownview", "package.yaml"}, slices.Sorted(maps.Keys(content)))
			equal(t, "objects of the package", []string{
				"apiextensions.k8s.io/v1 CustomResourceDefinition inputs.markdownview.fn.crossplane.io",
				"meta.pkg.crossplane.io/v1 Function function-markdownview",
			}, objects(t, content["package.yaml"].content))
			equal(t, "examples", []string{
				"apiextensions.crossplane.io/v1 Composition markdownview-platform", "markdownview.fn.crossplane.io/v1alpha1 MarkdownView handbook",
			}, objects(t, content[examplesFile].content))

			f := must(elf.NewFile(strings.NewReader(content["function-markdownview"].content)))
			equal(t, "machine", machine, f.Machine)
			if slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
				t.Error("the binary needs a dynamic linker")
			}
			if f.Section(".symtab") != nil {
				t.Error("the binary is not stripped")
			}
		})
	}
}

// TestDockerfile checks the image that docker or buildah built: see dockerfile.sh.
func TestDockerfile(t *testing.T) {
	file := os.Getenv("IMAGE")
	if file == "" {
		t.Skip("IMAGE is not set: make test-packages sets it if docker or buildah works")
	}
	img := must(tarball.ImageFromPath(file, nil))
	want := wantRuntime
	want.Platform = "linux/" + runtime.GOARCH
	equal(t, "runtime", want, describe(t, img), cmpopts.EquateEmpty())
	// cmp.Diff of binaries would be too long to read.
	ours := files(t, open(t, "linux-"+runtime.GOARCH+"/runtime.tar"))
	if !maps.Equal(ours, files(t, img)) {
		t.Error("the files differ from those of the image of make xpkg")
	}
}

func TestConfigurationPackage(t *testing.T) {
	content := files(t, open(t, "configuration-markdownview.xpkg"))
	equal(t, "files", []string{examplesFile, "package.yaml"}, slices.Sorted(maps.Keys(content)))
	equal(t, "objects of the package", []string{
		"apiextensions.crossplane.io/v1 Composition markdownview",
		"apiextensions.crossplane.io/v2 CompositeResourceDefinition markdownviews.markdownview.fn.crossplane.io",
		"meta.pkg.crossplane.io/v1 Configuration configuration-markdownview",
	}, objects(t, content["package.yaml"].content))
	equal(t, "examples", []string{"markdownview.fn.crossplane.io/v1alpha1 MarkdownView markdownview-sample"}, objects(t, content[examplesFile].content))
}

// examplesFile is the file from which some registries show examples.
const examplesFile = ".up/examples.yaml"

// push runs make push, and returns the two packages that it prints last. It uses
// another DIST, because the pushed configuration names the registry.
func push(t *testing.T, registry string) (function, configuration string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "make", "--no-print-directory", "-C", "..", "push", "DIST="+t.TempDir(), "REGISTRY="+registry, "VERSION=v0.1.0")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("make push: %s\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")

	return lines[len(lines)-2], lines[len(lines)-1]
}

func wantAnnotations(title, description string) map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":         title,
		"org.opencontainers.image.description":   description,
		"org.opencontainers.image.version":       "v0.1.0",
		"org.opencontainers.image.source":        "https://github.com/crossplane-contrib/function-markdownview",
		"org.opencontainers.image.documentation": "https://github.com/crossplane-contrib/function-markdownview/blob/main/README.md",
		"org.opencontainers.image.licenses":      "Apache-2.0",
		"org.opencontainers.image.vendor":        "The maintainers of function-markdownview",
	}
}

func TestPush(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.WithReferrersSupport(true), registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	team := strings.TrimPrefix(server.URL, "http://") + "/team"
	repository := team + "/function-markdownview"

	function, configuration := push(t, team)
	for title, printed := range map[string]string{functionName: function, "configuration-markdownview": configuration} {
		pushed := must(remote.Head(must(name.NewTag(team + "/" + title + ":v0.1.0"))))
		equal(t, "make push prints the package", team+"/"+title+"@"+pushed.Digest.String(), printed)
	}
	// A release that failed in the middle is pushed again.
	againFunction, againConfiguration := push(t, team)
	equal(t, "packages of the same commit", []string{function, configuration}, []string{againFunction, againConfiguration})

	img := must(remote.Image(must(name.NewDigest(configuration))))
	const description = "Crossplane configuration with the MarkdownView API and its Composition"
	want := wantAnnotations("configuration-markdownview", description)
	equal(t, "annotations of the configuration", want, must(img.Manifest()).Annotations)
	if text := files(t, img)["package.yaml"].content; !strings.Contains(text, "package: "+repository+"\n") {
		t.Errorf("the configuration depends on %s: got %s", repository, text)
	}

	tag := must(name.NewTag(repository + ":v0.1.0"))
	index := must(remote.Index(tag))
	manifest := must(index.IndexManifest())
	want = wantAnnotations(functionName, wantRuntime.Config.Labels["org.opencontainers.image.description"])
	equal(t, "annotations of the index", want, manifest.Annotations)
	platforms := []string{}
	for _, m := range manifest.Manifests {
		platforms = append(platforms, m.Platform.String())
		t.Run(m.Platform.Architecture, func(t *testing.T) {
			img := must(index.Image(m.Digest))
			// Crossplane reads only the layer with the annotation "base", so it need not pull
			// the binary.
			manifest := must(img.Manifest())
			layers := []string{}
			for _, l := range manifest.Layers {
				layers = append(layers, l.Annotations["io.crossplane.xpkg"])
			}
			equal(t, "annotations", want, manifest.Annotations)
			equal(t, "io.crossplane.xpkg of the layers", []string{"", "base", "upbound"}, layers)
			testSBOM(t, tag.Context().Digest(m.Digest.String()), files(t, img)["function-markdownview"].content)
		})
	}
	slices.Sort(platforms)
	equal(t, "platforms", []string{"linux/amd64", "linux/arm64"}, platforms)
}

// testSBOM checks that one artifact refers to an image: the SBOM, which lists each module of
// the binary, with its version.
func testSBOM(t *testing.T, image name.Digest, binary string) {
	t.Helper()
	referrers := must(must(remote.Referrers(image)).IndexManifest()).Manifests
	if len(referrers) != 1 {
		t.Fatalf("artifacts that refer to %s: want 1, got %d", image, len(referrers))
	}
	artifact := must(remote.Image(image.Context().Digest(referrers[0].Digest.String())))
	// The registry of the test does not return the artifact type.
	equal(t, "artifact type", "application/vnd.cyclonedx+json", must(artifact.Manifest()).ArtifactType)
	layers := must(artifact.Layers())
	if len(layers) != 1 {
		t.Fatalf("files of the SBOM of %s: want 1, got %d", image, len(layers))
	}
	type component struct{ Name, Version string }
	bom := struct {
		BOMFormat  string `json:"bomFormat"`
		Components []component
		Metadata   struct{ Component component }
	}{}
	if err := json.NewDecoder(must(layers[0].Compressed())).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	equal(t, "format", "CycloneDX", bom.BOMFormat)
	equal(t, "subject", component{"github.com/crossplane-contrib/function-markdownview", "v0.1.0"}, bom.Metadata.Component)

	info := must(buildinfo.Read(strings.NewReader(binary)))
	want := []component{{"std", info.GoVersion}}
	for _, m := range info.Deps {
		want = append(want, component{m.Path, m.Version})
	}
	byName := func(a, b component) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(want, byName)
	slices.SortFunc(bom.Components, byName)
	equal(t, "components", want, bom.Components)
}
