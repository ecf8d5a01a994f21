// Command markdownview is for authors of books: it serves, checks and packs a folder of
// Markdown or a MarkdownView, without a cluster.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/crossplane-contrib/function-markdownview/markdownview/internal/check"
	"github.com/crossplane-contrib/function-markdownview/markdownview/internal/folder"
	"github.com/crossplane-contrib/function-markdownview/markdownview/internal/preview"
	"github.com/crossplane-contrib/function-markdownview/markdownview/internal/render"
)

// version is set in binaries of a release. Go knows that of other binaries.
var version string

// The exit codes, with 0 for success.
const (
	exitFound = 1 // check has found problems.
	exitError = 2
)

// errFound means that check has found problems, which it has printed.
var errFound = errors.New("problems found")

type cli struct {
	Preview previewCommand   `cmd:"" help:"Serve the book of a folder or of a MarkdownView, and serve it again when a file changes. Needs mdBook."`
	Check   checkCommand     `cmd:"" help:"Print what the function would report, and links, images and anchors that lead nowhere."`
	Pack    packCommand      `cmd:"" help:"Write a folder as a MarkdownView, with ConfigMaps if it needs them, or push it as an image."`
	Version kong.VersionFlag `help:"Print the version."`
}

const description = `Serves, checks and packs books of Markdown for function-markdownview.

A folder of Markdown is a book. SUMMARY.md in it lists the chapters; without one, all of its Markdown files are chapters. Files that .gitignore or .markdownignore list are left out.

  markdownview preview docs
  markdownview check docs
  markdownview pack docs | kubectl apply -f -

The exit code is 0, or 1 if check has found problems, or 2 if a command has failed.`

func main() { os.Exit(run(os.Args[1:])) }

// run runs a command, and returns the exit code.
func run(args []string) int {
	parser := kong.Must(&cli{}, kong.Name("markdownview"), kong.Description(description), kong.Vars{"version": versionOf()})
	ctx, err := parser.Parse(args)
	if err != nil {
		err = fmt.Errorf("%w (see markdownview --help)", err)
	} else {
		err = ctx.Run()
	}
	switch {
	case errors.Is(err, errFound):
		return exitFound
	case err != nil:
		fmt.Fprintln(os.Stderr, "markdownview:", err)

		return exitError
	default:
		return 0
	}
}

func versionOf() string {
	if info, ok := debug.ReadBuildInfo(); ok && version == "" {
		return info.Main.Version
	}

	return version
}

type previewCommand struct {
	render.Policy `embed:""`

	Path   string `arg:""           help:"Folder with the files of a book, or file with a MarkdownView and its ConfigMaps." name:"path"`
	Port   int    `default:"3000"   help:"Port on localhost for the book. 0 is any free port."`
	MDBook string `default:"mdbook" help:"Command that runs mdBook in the current folder, as one process."                 name:"mdbook"`
}

// Run serves the book until SIGINT or SIGTERM.
func (c *previewCommand) Run() error {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()

	return preview.Serve(ctx, c.Path, c.Policy, c.Port, c.MDBook)
}

type checkCommand struct {
	render.Policy `embed:""`

	Paths         []string `arg:"" help:"Folders with the files of a book, and files with MarkdownViews and their ConfigMaps." name:"path"`
	Format        string   `default:"text" enum:"text,sarif" help:"text, or sarif for code hosts, which show the problems in a pull request."`
	AllowWarnings bool     `help:"Exit with 0 if there are only warnings, such as links that lead nowhere."`
}

// Help is shown by --help.
func (checkCommand) Help() string {
	return `An error is what the function rejects. A warning is about a book that it serves: the message of BookComplete, and links, images and anchors that lead nowhere. To check the rules of your platform, such as allowed images, name its Composition.

  markdownview check docs
  markdownview check book.yaml --composition composition.yaml
  markdownview check docs --format sarif > results.sarif`
}

// Run prints the findings.
func (c *checkCommand) Run() error {
	findings, err := check.Check(context.Background(), c.Paths, c.Policy, newProgress())
	if err != nil {
		return err
	}
	if c.Format == "sarif" {
		err = check.WriteSARIF(os.Stdout, versionOf(), findings)
	} else {
		err = check.WriteText(os.Stdout, findings)
	}
	if err != nil {
		return fmt.Errorf("cannot write the problems: %w", err)
	}
	if slices.ContainsFunc(findings, func(f check.Finding) bool { return f.Level == check.LevelError || !c.AllowWarnings }) {
		return errFound
	}

	return nil
}

type packCommand struct {
	Folder string `arg:"" help:"Folder with the files of the book." name:"dir" type:"existingdir"`

	Name      string            `help:"Name of the MarkdownView. Default: that of --view or of the folder."`
	Namespace string            `help:"Namespace of the objects."                                            short:"n"`
	Label     map[string]string `help:"Label of the objects. Can be repeated."                               placeholder:"KEY=VALUE"`
	View      string            `help:"File with a MarkdownView whose other fields are kept, such as spec.book." placeholder:"FILE" type:"existingfile"`
	Output    string            `help:"File to write. Default: standard output."                             placeholder:"FILE" short:"o"`

	Push      string `help:"Push the folder as an image instead, such as registry.example.com/books/handbook:main, and print its digest. Uses the credentials of docker login." placeholder:"REFERENCE"`
	PlainHTTP bool   `help:"Push without TLS. It is the default for a registry on this machine." name:"plain-http"`
}

// Help is shown by --help.
func (packCommand) Help() string {
	return `There are three ways to bring a folder to the cluster. pack chooses between the first two:

  1. A MarkdownView holds up to 1 MiB.
  2. A MarkdownView and up to eight ConfigMaps, named NAME-1 to NAME-8, hold more. Each ConfigMap has files of one folder.
  3. With --push, an image holds any size. The platform must allow it (allowedBookImages).

The same folder gives the same bytes. Links to files outside of the folder are errors.

  markdownview pack docs | kubectl apply -f -
  markdownview pack docs --output book.yaml
  markdownview pack docs --push registry.example.com/books/handbook:main`
}

// Run writes the objects, or pushes the image.
func (c *packCommand) Run() error {
	progress := newProgress()
	f, err := folder.List(c.Folder, progress)
	if err != nil {
		return err
	}
	if c.Push != "" {
		ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
		defer cancel()
		reference, err := f.Push(ctx, c.Push, c.PlainHTTP, progress)
		if err == nil {
			fmt.Println(reference)
		}

		return err
	}
	v, err := folder.View{Name: c.Name, Namespace: c.Namespace, Labels: c.Label}.Complete(c.View, c.Folder)
	if err != nil {
		return err
	}
	content, err := f.Read()
	if err != nil {
		return err
	}
	packed, err := f.Pack(content, v)
	if err != nil {
		return err
	}
	if packed.ServerSide {
		fmt.Fprintf(os.Stderr, "use kubectl apply --server-side: %s is large, and kubectl apply stores a copy of each object in an annotation\n", c.Folder)
	}
	if c.Output == "" {
		c.Output = os.Stdout.Name()
		_, err = os.Stdout.WriteString(packed.YAML)
	} else {
		err = os.WriteFile(c.Output, []byte(packed.YAML), 0o644)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", c.Output, folder.Cause(err))
	}

	return nil
}

// newProgress returns a function that prints to standard error what takes longer than a
// second, once in a second.
func newProgress() func(format string, args ...any) {
	last := time.Now()

	return func(format string, args ...any) {
		if now := time.Now(); now.Sub(last) >= time.Second {
			last = now
			fmt.Fprintf(os.Stderr, format+"\n", args...)
		}
	}
}
