// Package image builds the runtime image of the function from its Dockerfile, without
// Docker.
package image

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/buildkit/frontend/dockerfile/shell"
)

// A Recipe is what the last stage of a Dockerfile describes.
type Recipe struct {
	// Binary is the path of the only file, and Mode its permissions. The file belongs
	// to root.
	Binary string
	Mode   fs.FileMode

	// Config is the configuration of the image.
	Config v1.Config
}

// ReadDockerfile reads the last stage of a Dockerfile. The stage must start from
// scratch, copy one file from another stage, and have only instructions that a Recipe
// supports: any other instruction is an error, so that the image cannot differ from the
// one that Docker builds.
func ReadDockerfile(r io.Reader) (Recipe, error) {
	parsed, err := parser.Parse(r)
	if err != nil {
		return Recipe{}, fmt.Errorf("cannot parse Dockerfile: %w", err)
	}
	stages, _, err := instructions.Parse(parsed.AST, nil)
	if err != nil {
		return Recipe{}, fmt.Errorf("cannot parse Dockerfile: %w", err)
	}
	last := stages[len(stages)-1]
	if last.BaseName != "scratch" {
		return Recipe{}, fmt.Errorf("cannot build on %q: the last stage must be FROM scratch", last.BaseName)
	}

	recipe := Recipe{}
	for _, c := range last.Commands {
		if err := expand(c); err != nil {
			return Recipe{}, err
		}
		if err := recipe.apply(c); err != nil {
			return Recipe{}, fmt.Errorf("cannot apply %q: %w", c, err)
		}
	}
	if recipe.Binary == "" {
		return Recipe{}, fmt.Errorf("cannot build an image without a file: the last stage has no COPY")
	}

	return recipe, nil
}

// expand removes the quotes from the words of a command. Variables are an error.
func expand(c instructions.Command) error {
	e, ok := c.(instructions.SupportsSingleWordExpansion)
	if !ok {
		return nil
	}
	lex := shell.NewLex('\\')

	return e.Expand(func(word string) (string, error) {
		if strings.Contains(word, "$") {
			return "", fmt.Errorf("cannot expand %q: variables are not supported", word)
		}
		expanded, _, err := lex.ProcessWord(word, shell.EnvsFromSlice(nil))

		return expanded, err
	})
}

func (r *Recipe) apply(c instructions.Command) error {
	switch c := c.(type) {
	case *instructions.CopyCommand:
		return r.copy(c)
	case *instructions.EntrypointCommand:
		if c.PrependShell {
			return fmt.Errorf("there is no shell: write it as a JSON list")
		}
		r.Config.Entrypoint = c.CmdLine
	case *instructions.ExposeCommand:
		r.Config.ExposedPorts = map[string]struct{}{}
		for _, p := range c.Ports {
			r.Config.ExposedPorts[p+"/tcp"] = struct{}{}
		}
	case *instructions.LabelCommand:
		r.Config.Labels = map[string]string{}
		for _, l := range c.Labels {
			r.Config.Labels[l.Key] = l.Value
		}
	case *instructions.UserCommand:
		r.Config.User = c.User
	default:
		return fmt.Errorf("this instruction is not supported")
	}

	return nil
}

func (r *Recipe) copy(c *instructions.CopyCommand) error {
	mode, err := strconv.ParseUint(c.Chmod, 8, 32)
	if err != nil {
		return fmt.Errorf("--chmod must be an octal number")
	}
	switch {
	case r.Binary != "":
		return fmt.Errorf("%q is already copied", r.Binary)
	case c.From == "":
		return fmt.Errorf("--from is missing")
	case c.Chown != "" || len(c.SourceContents) > 0 || len(c.ExcludePatterns) > 0 || c.Parents:
		return fmt.Errorf("only --from and --chmod are supported")
	case len(c.SourcePaths) != 1 || !path.IsAbs(c.DestPath) || path.Clean(c.DestPath) != c.DestPath || path.Dir(c.DestPath) != "/":
		return fmt.Errorf("only one file can be copied, to the root")
	}
	r.Binary, r.Mode = c.DestPath, fs.FileMode(mode)

	return nil
}

// describe returns the configuration of an image as lines that can be compared.
// Builders may write the default working directory and PATH into an image, which makes
// no difference for a binary with an absolute path.
func describe(c v1.Config) []string {
	lines := []string{
		fmt.Sprintf("entrypoint %q", c.Entrypoint),
		fmt.Sprintf("cmd %q", c.Cmd),
		fmt.Sprintf("user %q", c.User),
		fmt.Sprintf("stop signal %q", c.StopSignal),
		fmt.Sprintf("working directory %q", path.Join("/", c.WorkingDir)),
		fmt.Sprintf("healthcheck %v", c.Healthcheck != nil),
	}
	for _, e := range slices.Sorted(slices.Values(c.Env)) {
		if !strings.HasPrefix(e, "PATH=") {
			lines = append(lines, fmt.Sprintf("env %q", e))
		}
	}
	for _, p := range slices.Sorted(maps.Keys(c.ExposedPorts)) {
		lines = append(lines, fmt.Sprintf("port %q", p))
	}
	for _, v := range slices.Sorted(maps.Keys(c.Volumes)) {
		lines = append(lines, fmt.Sprintf("volume %q", v))
	}
	for _, k := range slices.Sorted(maps.Keys(c.Labels)) {
		// Buildah adds its version, and a package has labels for its layers.
		if !strings.HasPrefix(k, "io.buildah.") && !strings.HasPrefix(k, "io.crossplane.xpkg:") {
			lines = append(lines, fmt.Sprintf("label %q=%q", k, c.Labels[k]))
		}
	}

	return lines
}
