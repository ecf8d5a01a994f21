// Package preview serves a book on this machine: the function composes it, and mdBook
// serves it as a pod would.
package preview

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"

	"github.com/crossplane-contrib/function-markdownview/markdownview/internal/folder"
	"github.com/crossplane-contrib/function-markdownview/markdownview/internal/render"
)

// Serve serves the book of a folder or of a file at a port of localhost until the context
// ends. Port 0 is any free one. command runs mdBook.
func Serve(ctx context.Context, path string, policy render.Policy, port int, command string) error {
	port, err := free(port)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "markdownview-")
	if err != nil {
		return fmt.Errorf("cannot create the folder of the book: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()

	m := &mdbook{dir: dir, command: append(strings.Fields(command), "serve", "--hostname", "127.0.0.1", "--port", strconv.Itoa(port))}
	defer m.stop()
	p := &preview{path: path, policy: policy, port: port, dir: dir, log: log.New(os.Stdout, "", log.Ltime), serve: func(env []string) error { return m.serve(ctx, env) }}
	for ctx.Err() == nil {
		if err := p.poll(ctx); err != nil {
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
		return 0, fmt.Errorf("cannot use port %d of localhost: set --port to a free one", port)
	}
	defer func() { _ = l.Close() }()

	return l.Addr().(*net.TCPAddr).Port, nil
}

// A preview serves the current content of a MarkdownView: the function composes the book, and
// the mdBook of this machine serves it as a pod would.
type preview struct {
	path   string
	policy render.Policy
	port   int
	dir    string
	log    *log.Logger
	serve  func(env []string) error

	last    render.Source
	serving bool
}

// poll serves the book if a file has changed since the last poll. If there is an error,
// it prints the error, and mdBook keeps serving the last good book.
func (p *preview) poll(ctx context.Context) error {
	s := render.Load(p.path, p.policy)
	if s == p.last {
		return nil
	}
	p.last = s

	b, err := compose(ctx, s, p.log)
	if b != nil && err == nil {
		err = checkIncludes(b.Files)
	}
	if b != nil && err == nil {
		err = errors.Join(write(p.dir, "theme", b.Theme), write(p.dir, "src", b.Files))
	}
	if err != nil {
		p.log.Print(err)
	}
	switch {
	case b != nil && err == nil:
		if err := p.serve(b.Env); err != nil {
			return err
		}
		p.serving = true
		p.log.Printf("%s: %d files at http://localhost:%d", p.path, len(b.Files), p.port)
	case p.serving:
		p.log.Printf("%s: the last good book is still served", p.path)
	}

	return nil
}

// compose returns the book that the function composes, or nil if the function rejects
// it. It prints errors and warnings as a cluster shows them: as conditions of the
// MarkdownView, and as events.
func compose(ctx context.Context, s render.Source, log *log.Logger) (*render.Volume, error) {
	if s.Problem != "" {
		return nil, errors.New(s.Problem)
	}
	if s.Stamp != "" {
		var err error
		if s.XR, err = folder.YAML(s.Path); err != nil {
			return nil, err
		}
	}
	c, err := s.Call(ctx, 0, s.XR)
	if err != nil {
		return nil, err
	}
	if rejected := report(c.Response, c.Step, log); rejected {
		return nil, nil //nolint:nilnil // The error is already printed.
	}

	return c.Volume()
}

// report prints the errors and warnings of a response, and returns whether the function
// rejected the MarkdownView.
func report(rsp *fnv1.RunFunctionResponse, step string, log *log.Logger) (rejected bool) {
	for _, c := range rsp.GetConditions() {
		switch {
		case c.GetType() == "Degraded" && c.GetStatus() == fnv1.Status_STATUS_CONDITION_TRUE:
			log.Printf("Degraded=True %s: %s", c.GetReason(), c.GetMessage())
		case c.GetType() == "BookComplete" && c.GetStatus() == fnv1.Status_STATUS_CONDITION_FALSE:
			log.Printf("BookComplete=False %s: %s", c.GetReason(), c.GetMessage())
		}
	}
	for _, r := range rsp.GetResults() {
		switch r.GetSeverity() {
		case fnv1.Severity_SEVERITY_FATAL:
			rejected = true
			log.Printf("Synced=False ReconcileError: cannot compose resources: pipeline step %q returned a fatal result: %s", step, r.GetMessage())
		case fnv1.Severity_SEVERITY_WARNING:
			log.Printf("Warning %s: Pipeline step %q: %s", r.GetReason(), step, r.GetMessage())
		default:
		}
	}

	return rejected
}
