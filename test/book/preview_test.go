package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPreview checks that markdownview preview serves the book of a file or of a folder with a
// theme, serves changes, and leaves no files or processes behind.
func TestPreview(t *testing.T) {
	command := program(t)
	for version, m := range mdbooks(t) {
		t.Run(version, func(t *testing.T) { preview(t, command, string(m), writeView) })
		t.Run(version+"/Folder", func(t *testing.T) { preview(t, command, string(m), writeFolder) })
	}
}

// writeView writes a book as a MarkdownView.
func writeView(path string, files map[string]string) error {
	markdowns, err := json.Marshal(files)
	text := "apiVersion: markdownview.fn.crossplane.io/v1alpha1\nkind: MarkdownView\nmetadata: {name: book}\nspec: {markdowns: " + string(markdowns) + "}\n"

	return errors.Join(err, os.WriteFile(path, []byte(text), 0o600))
}

// writeFolder writes a book as a link to a folder, so that it changes at once.
func writeFolder(path string, files map[string]string) error {
	dir, err := os.MkdirTemp(filepath.Dir(path), "")
	if err != nil {
		return err
	}
	for name, text := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}

	return errors.Join(err, os.Symlink(dir, dir+".link"), os.Rename(dir+".link", path))
}

func preview(t *testing.T, command, root string, writeBook func(path string, files map[string]string) error) {
	// mdBook finds only files in its root directory.
	tmp, err := os.MkdirTemp(root, "preview-") //nolint:usetesting // It must be below the root.
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	dir := t.TempDir()
	wrapper, book, input := filepath.Join(dir, "mdbook"), filepath.Join(dir, "book"), filepath.Join(dir, "input.yaml")
	script := fmt.Sprintf("#!/bin/sh\nexec unshare --map-root-user --root=%[1]s --wd=\"${PWD#%[1]s}\" mdbook \"$@\"\n", root)
	must(t, os.WriteFile(wrapper, []byte(script), 0o700))
	theme := func(theme string) {
		t.Helper()
		must(t, os.WriteFile(input, []byte("apiVersion: markdownview.fn.crossplane.io/v1beta1\nkind: Input\n"+theme), 0o600))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	_ = l.Close()
	port, address := l.Addr().(*net.TCPAddr).Port, "http://"+l.Addr().String()+"/"
	page := func(name string) string {
		_, _, text := get(t, address+name, nil)
		return text
	}

	theme("theme: {header.hbs: First banner}")
	must(t, writeBook(book, map[string]string{"SUMMARY.md": "- [A](a.md)", "a.md": "First text"}))
	args := []string{"preview", book, "--input", input, "--mdbook", wrapper, fmt.Sprint("--port=", port)}
	cmd := exec.CommandContext(t.Context(), command, args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	p := start(t, cmd)
	p.eventually(t, "the book is served with the theme", func() bool {
		return strings.Contains(page("a.html"), "First text") && strings.Contains(page("a.html"), "First banner")
	})
	theme("theme: {header.hbs: Second banner}")
	p.eventually(t, "a change of the theme is served", func() bool {
		return strings.Contains(page("a.html"), "Second banner")
	})
	theme("")
	p.eventually(t, "a book without a theme is served", func() bool {
		return strings.Contains(page("a.html"), "First text") && !strings.Contains(page("a.html"), "banner")
	})
	must(t, writeBook(book, map[string]string{"SUMMARY.md": "- [B](b.md)", "b.md": "Second text"}))
	p.eventually(t, "a change is served", func() bool { return strings.Contains(page("b.html"), "Second text") })

	must(t, cmd.Cancel())
	<-p.exited
	if !cmd.ProcessState.Success() {
		t.Errorf("preview after Ctrl-C: %v\n%s", cmd.ProcessState, p.output())
	}
	if status, _, _ := get(t, address, nil); status != 0 {
		t.Errorf("mdBook still serves after the preview has exited: status %d", status)
	}
	if left, _ := os.ReadDir(tmp); len(left) > 0 {
		t.Errorf("the preview left files behind: %v", left)
	}
}
