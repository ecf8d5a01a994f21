package preview

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

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
		return fmt.Errorf("cannot run %s: install mdBook (https://rust-lang.github.io/mdBook/guide/installation.html), or set --mdbook to a command that runs it", m.command[0])
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

// write replaces a folder in dir. It is a symbolic link that changes at once, because mdBook
// checks its folders every second and must not find an incomplete book.
func write(dir, name string, content map[string][]byte) error {
	files, err := os.MkdirTemp(dir, "files-")
	if err != nil {
		return fmt.Errorf("cannot write the book: %w", err)
	}
	for name, text := range content {
		file := filepath.Join(files, filepath.FromSlash(name))
		err = errors.Join(err, os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, text, 0o644))
	}
	folder := filepath.Join(dir, name)
	old, _ := os.Readlink(folder)
	if err = errors.Join(err, os.Symlink(filepath.Base(files), files+".link")); err == nil {
		err = os.Rename(files+".link", folder)
	}
	if err == nil && old != "" {
		err = os.RemoveAll(filepath.Join(dir, old))
	}
	if err != nil {
		return fmt.Errorf("cannot write the book: %w", err)
	}

	return nil
}
