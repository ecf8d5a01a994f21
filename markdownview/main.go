// Command markdownview is for authors of books: it serves, checks and packs a folder of
// Markdown or a MarkdownView, without a cluster.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/alecthomas/kong"
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

// A policy is the Input of the function, which a platform team writes.
type policy struct {
	Composition string `help:"File with the Composition that has the Input of the function." placeholder:"FILE" xor:"input"`
	Input       string `help:"File with the Input of the function."                          placeholder:"FILE" xor:"input"`
}

const description = `Serves, checks and packs books of Markdown for function-markdownview.

A folder of Markdown is a book. SUMMARY.md in it lists the chapters; without one, all of its Markdown files are chapters. Files that .gitignore or .markdownignore list are left out.

  markdownview preview docs
  markdownview check docs
  markdownview pack docs | kubectl apply -f -

The exit code is 0, or 1 if check has found problems, or 2 if a command has failed.`

func main() {
	parser := kong.Must(&cli{}, kong.Name("markdownview"), kong.Description(description), kong.Vars{"version": versionOf()}, kong.UsageOnError())
	ctx, err := parser.Parse(os.Args[1:])
	if err == nil {
		err = ctx.Run()
	}
	switch {
	case errors.Is(err, errFound):
		os.Exit(exitFound)
	case err != nil:
		fmt.Fprintln(os.Stderr, "markdownview:", err)
		os.Exit(exitError)
	}
}

func versionOf() string {
	if info, ok := debug.ReadBuildInfo(); ok && version == "" {
		return info.Main.Version
	}

	return version
}

// A progress prints to standard error what takes longer than a second, once in a second.
type progress struct{ last time.Time }

func newProgress() *progress { return &progress{time.Now()} }

func (p *progress) printf(format string, args ...any) {
	if now := time.Now(); now.Sub(p.last) >= time.Second {
		p.last = now
		fmt.Fprintf(os.Stderr, format+"\n", args...)
	}
}
