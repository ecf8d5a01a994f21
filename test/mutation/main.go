// Command mutation breaks package fn in many small ways, one at a time, and
// tells which of them the tests catch. The work tree is not touched.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

type cli struct {
	Mutants int           `default:"0"     help:"Try about this many of all mutants, evenly spread; 0 for all."`
	First   int           `default:"0"     help:"Start with this one, to try others than before."`
	Least   float64       `default:"90"    help:"Fail when less than this percentage is caught."`
	Timeout time.Duration `default:"1m"    help:"Time after which a mutant that does not end counts as caught."`
	File    string        `default:"*.go"  help:"Files of package fn to break."`
}

// A verdict on a mutant.
type verdict string

const (
	caught    verdict = "caught"
	escaped   verdict = "escaped"
	stillborn verdict = "does not compile"
)

// Run tries the mutants.
func (c *cli) Run() error {
	mutants, err := c.all()
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "mutation")
	if err != nil {
		return fmt.Errorf("cannot make a folder: %w", err)
	}
	defer os.RemoveAll(scratch) //nolint:errcheck // It is below the folder for temporary files.

	if v, err := c.try(mutant{path: mutants[0].path}, scratch); err != nil || v != escaped {
		return errors.Join(errors.New("the tests do not pass in time on what is not broken"), err)
	}

	step := 1
	if c.Mutants > 0 {
		step = max(1, len(mutants)/c.Mutants)
	}
	count := map[verdict]int{}
	for i := c.First; i < len(mutants); i += step {
		v, err := c.try(mutants[i], scratch)
		if err != nil {
			return err
		}
		count[v]++
		if v == escaped {
			_, _ = fmt.Fprintf(os.Stdout, "escaped: %s (%d of %d so far)\n", mutants[i], count[escaped], count[escaped]+count[caught])
		}
	}

	share := 100 * float64(count[caught]) / float64(max(1, count[caught]+count[escaped]))
	_, _ = fmt.Fprintf(os.Stdout, "%d of %d mutants caught (%.1f %%), of %d possible; %d do not compile\n",
		count[caught], count[caught]+count[escaped], share, len(mutants), count[stillborn])
	if share < c.Least {
		return fmt.Errorf("less than %.0f %% are caught", c.Least)
	}

	return nil
}

func (c *cli) all() ([]mutant, error) {
	paths, err := filepath.Glob(filepath.Join("fn", c.File))
	if err != nil {
		return nil, fmt.Errorf("cannot list package fn: %w", err)
	}
	var all []mutant
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", path, err)
		}
		mutants, err := mutantsOf(path, source)
		if err != nil {
			return nil, err
		}
		all = append(all, mutants...)
	}

	return all, nil
}

// try runs the tests of package fn with a mutant in it.
func (c *cli) try(m mutant, scratch string) (verdict, error) {
	source, err := os.ReadFile(m.path)
	if err != nil {
		return "", fmt.Errorf("cannot read %s: %w", m.path, err)
	}
	path, err := filepath.Abs(m.path)
	if err != nil {
		return "", fmt.Errorf("cannot find %s: %w", m.path, err)
	}
	broken := filepath.Join(scratch, "mutant.go")
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{path: broken}})
	if err != nil {
		return "", fmt.Errorf("cannot encode the overlay: %w", err)
	}
	for name, b := range map[string][]byte{broken: m.apply(source), filepath.Join(scratch, "overlay.json"): overlay} {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			return "", fmt.Errorf("cannot write a mutant: %w", err)
		}
	}

	binary := filepath.Join(scratch, "fn.test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay="+filepath.Join(scratch, "overlay.json"), "-ldflags=-s -w", "-o", binary, "./fn")
	if build.Run() != nil {
		return stillborn, nil
	}

	ctx, cancel := context.WithTimeout(context.Background(), c.Timeout)
	defer cancel()
	test := exec.CommandContext(ctx, binary, "-test.failfast")
	test.Dir = "fn"
	var failed *exec.ExitError
	switch err := test.Run(); {
	case err == nil:
		return escaped, nil
	case errors.As(err, &failed):
		return caught, nil
	default:
		return "", fmt.Errorf("cannot run the tests: %w", err)
	}
}

func main() {
	ctx := kong.Parse(&cli{}, kong.Description("Break package fn in many small ways, and tell which of them its tests catch."))
	ctx.FatalIfErrorf(ctx.Run())
}
