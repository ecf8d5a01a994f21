package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

type previewCommand struct {
	policy `embed:""`

	XR     string `arg:""           help:"Folder with the files of a book, or file with a MarkdownView and its ConfigMaps." name:"path"`
	Port   int    `default:"3000"   help:"Port on localhost for the book. 0 is any free port."`
	MDBook string `default:"mdbook" help:"Command that runs mdBook in the current folder, as one process."                 name:"mdbook"`
}

// Run serves the book until SIGINT or SIGTERM.
func (c *previewCommand) Run() error {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	var err error
	if c.Port, err = free(c.Port); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "markdownview-")
	if err != nil {
		return fmt.Errorf("cannot create the folder of the book: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()

	command := append(strings.Fields(c.MDBook), "serve", "--hostname", "127.0.0.1", "--port", strconv.Itoa(c.Port))
	m := &mdbook{command: command, dir: dir}
	defer m.stop()
	p := &preview{previewCommand: c, dir: dir, log: log.New(os.Stdout, "", log.Ltime), serve: func(env []string) error { return m.serve(ctx, env) }}
	for ctx.Err() == nil {
		if err := p.poll(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(250 * time.Millisecond):
		}
	}

	return nil
}

// free returns a port that is free: the given one or, for 0, any. mdBook would report a
// port in use only after it has printed the address.
func free(port int) (int, error) {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return 0, fmt.Errorf("cannot serve the book: %w: set --port to a free port", err)
	}
	defer func() { _ = l.Close() }()
	_, text, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return 0, fmt.Errorf("cannot serve the book: %w", err)
	}

	return strconv.Atoi(text)
}

// A preview serves the current content of a MarkdownView: the function composes the book, and
// the mdBook of this machine serves it as a pod would.
type preview struct {
	*previewCommand

	dir   string
	log   *log.Logger
	serve func(env []string) error

	last    sources
	serving bool
}

// poll serves the book if a file has changed since the last poll. If there is an error,
// it prints the error, and mdBook keeps serving the last good book.
func (p *preview) poll() error {
	s := load(p.XR, p.policy)
	if s == p.last {
		return nil
	}
	p.last = s

	b, err := compose(s, p.log)
	if b != nil && err == nil {
		err = b.check()
	}
	if b != nil && err == nil {
		err = b.write(p.dir)
	}
	if err != nil {
		p.log.Print(err)
	}
	switch {
	case b != nil && err == nil:
		if err := p.serve(b.env); err != nil {
			return err
		}
		p.serving = true
		p.log.Printf("%s: %d files at http://localhost:%d", p.XR, len(b.files), p.Port)
	case p.serving:
		p.log.Printf("%s: the last good book is still served", p.XR)
	}

	return nil
}

// An mdbook is a process of mdBook that serves a folder.
type mdbook struct {
	command []string
	dir     string
	env     []string
	cancel  context.CancelFunc
	ended   chan struct{}
}

// serve starts mdBook, unless it already runs with the same environment variables.
// mdBook finds changed files by itself.
func (m *mdbook) serve(ctx context.Context, env []string) error {
	select {
	case <-m.ended:
	default:
		if m.ended != nil && slices.Equal(m.env, env) {
			return nil
		}
	}
	m.stop()

	ctx, m.cancel = context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, m.command[0], m.command[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = m.dir, os.Stdout, os.Stderr
	cmd.Env = environment(env)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("cannot run mdBook: %w: install it (https://rust-lang.github.io/mdBook/guide/installation.html), or set --mdbook to a command that runs it", err)
	}
	ended := make(chan struct{})
	m.env, m.ended = env, ended
	go func() {
		defer close(ended)
		if err := cmd.Wait(); ctx.Err() == nil {
			fmt.Printf("mdBook exited (%v). The next change of a file restarts it.\n", err)
		}
	}()

	return nil
}

// environment returns the environment variables of mdBook: the settings of the book, and of
// this machine only what is needed to find and run mdBook. The book is the work of somebody
// else, and the other variables may be secrets.
func environment(settings []string) []string {
	// mdBook 0.4 reads RUST_LOG.
	env := []string{"MDBOOK_LOG=warn", "RUST_LOG=warn"}
	for _, name := range []string{"PATH", "HOME"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	for _, setting := range settings {
		if strings.HasPrefix(setting, "MDBOOK_") {
			env = append(env, setting)
		}
	}

	return env
}

// stop stops mdBook and waits until it has exited.
func (m *mdbook) stop() {
	if m.ended != nil {
		m.cancel()
		<-m.ended
	}
}
