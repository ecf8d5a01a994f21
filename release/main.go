// Command release builds images, configurations and SBOMs for a release. It does the steps
// between a binary and a package in a registry for which neither the Go tool nor the
// Crossplane CLI has a command.
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/crossplane-contrib/function-markdownview/release/image"
)

type cli struct {
	Image         imageCmd         `cmd:"" help:"Build the runtime image of one architecture, as a tarball."`
	Same          sameCmd          `cmd:"" help:"Fail if two image tarballs differ in files or configuration."`
	Configuration configurationCmd `cmd:"" help:"Copy the sources of the configuration, for a function in another registry."`
	Attach        attachCmd        `cmd:"" help:"Attach an SBOM to each platform of a pushed package."`
	Digest        digestCmd        `cmd:"" help:"Print a pushed package with its digest."`
}

type imageCmd struct {
	Dockerfile string `help:"Dockerfile with the image in its last stage." required:"" type:"existingfile"`
	Binary     string `help:"Binary of the function."                       required:"" type:"existingfile"`
	Arch       string `help:"Architecture, such as amd64."           required:""`
	Output     string `help:"File to write."                         required:"" short:"o"           type:"path"`
}

func (c *imageCmd) Run() error {
	f, err := os.Open(c.Dockerfile)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // Only read.
	recipe, err := image.ReadDockerfile(f)
	if err != nil {
		return err
	}
	binary, err := os.ReadFile(c.Binary)
	if err != nil {
		return err
	}
	img, err := recipe.Build(binary, c.Arch)
	if err != nil {
		return err
	}
	tag, err := name.NewTag("function-markdownview:" + c.Arch)
	if err != nil {
		return err
	}
	if err := tarball.WriteToFile(c.Output, tag, img); err != nil {
		return fmt.Errorf("cannot write image: %w", err)
	}

	return nil
}

type sameCmd struct {
	A string `arg:"" help:"Image tarball." type:"existingfile"`
	B string `arg:"" help:"Image tarball." type:"existingfile"`
}

func (c *sameCmd) Run() error {
	descriptions := [2][]string{}
	for i, path := range []string{c.A, c.B} {
		img, err := tarball.ImageFromPath(path, nil)
		if err != nil {
			return fmt.Errorf("cannot open %q: %w", path, err)
		}
		if descriptions[i], err = image.Describe(img); err != nil {
			return err
		}
	}
	a, b := descriptions[0], descriptions[1]
	if slices.Equal(a, b) {
		_, err := fmt.Fprintln(os.Stdout, strings.Join(a, "\n"))
		return err
	}

	return fmt.Errorf("images differ: %s has\n%s\nand %s has\n%s", c.A, strings.Join(a, "\n"), c.B, strings.Join(b, "\n"))
}

type attachCmd struct {
	Package string            `arg:""                                       help:"Package, as registry/name:tag."`
	SBOM    map[string]string `help:"CycloneDX document of an architecture." name:"sbom"                          placeholder:"ARCH=PATH" required:""`
}

func (c *attachCmd) Run() error {
	documents := map[string][]byte{}
	for arch, path := range c.SBOM {
		document, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		documents[arch] = document
	}
	digest, err := pushed(c.Package)
	if err != nil {
		return err
	}

	return attach(digest, documents, remote.WithAuthFromKeychain(authn.DefaultKeychain))
}

type digestCmd struct {
	Package string `arg:"" help:"Package, as registry/name:tag."`
}

func (c *digestCmd) Run() error {
	digest, err := pushed(c.Package)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(os.Stdout, digest)

	return err
}

// pushed returns the digest to which a tag refers.
func pushed(tag string) (name.Digest, error) {
	ref, err := name.NewTag(tag, name.StrictValidation)
	if err != nil {
		return name.Digest{}, err
	}
	d, err := remote.Head(ref, remote.WithAuthFromKeychain(authn.DefaultKeychain))
	if err != nil {
		return name.Digest{}, fmt.Errorf("cannot get %q: %w", ref, err)
	}

	return ref.Context().Digest(d.Digest.String()), nil
}

func main() {
	ctx := kong.Parse(&cli{})
	ctx.FatalIfErrorf(ctx.Run())
}
