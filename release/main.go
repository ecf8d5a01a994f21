// Command release writes the sources of the configuration package for a release. The Go
// tool, regctl and the Crossplane CLI do the other steps: see the Makefile.
package main

import "github.com/alecthomas/kong"

func main() {
	c := configurationCmd{}
	ctx := kong.Parse(&c, kong.Description("Copy the sources of the configuration. If the function is pushed to another registry, depend on it there."))
	ctx.FatalIfErrorf(c.Run())
}
