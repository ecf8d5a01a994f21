package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// output is the output of a process.
type output struct {
	sync.Mutex
	bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.Lock()
	defer o.Unlock()

	return o.Buffer.Write(p)
}

func (o *output) String() string {
	o.Lock()
	defer o.Unlock()

	return o.Buffer.String()
}

// TestPreview checks that markdownview preview serves the book of a file or of a folder, serves
// changes, keeps the last good book, and leaves no files or processes behind.
func TestPreview(t *testing.T) {
	command := program(t)
	versions := mdbooks(t)
	for version, m := range versions {
		t.Run(version, func(t *testing.T) { preview(t, command, string(m), writeView) })
	}
	one := slices.Min(slices.Collect(maps.Keys(versions)))
	t.Run("folder", func(t *testing.T) { preview(t, command, string(versions[one]), writeFolder) })
}

// writeView writes a book as a MarkdownView.
func writeView(path string, files map[string]string) error {
	markdowns, err := json.Marshal(files)
	if err != nil {
		return err
	}
	text := "apiVersion: markdownview.fn.crossplane.io/v1alpha1\nkind: MarkdownView\nmetadata: {name: book}\nspec: {markdowns: " + string(markdowns) + "}\n"

	return os.WriteFile(path, []byte(text), 0o600)
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
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	wrapper, book := filepath.Join(t.TempDir(), "mdbook"), filepath.Join(t.TempDir(), "book")
	script := fmt.Sprintf("#!/bin/sh\nexec unshare --map-root-user --root=%[1]s --wd=\"${PWD#%[1]s}\" mdbook \"$@\"\n", root)
	if err := os.WriteFile(wrapper, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(files map[string]string) {
		t.Helper()
		if err := writeBook(book, files); err != nil {
			t.Fatal(err)
		}
	}
	input := filepath.Join(t.TempDir(), "input.yaml")
	theme := func(theme string) {
		t.Helper()
		text := "apiVersion: markdownview.fn.crossplane.io/v1beta1\nkind: Input\n" + theme
		if err := os.WriteFile(input, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	get := func(page string) string {
		rsp, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/%s", port, page))
		if err != nil {
			return ""
		}
		body, _ := io.ReadAll(rsp.Body)
		_ = rsp.Body.Close()

		return string(body)
	}
	out := &output{}
	eventually := func(reason string, ok func() bool) {
		t.Helper()
		for range 300 {
			if ok() {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Fatalf("%s: not within 30 s; output:\n%s", reason, out)
	}

	theme("theme: {header.hbs: First banner}")
	write(map[string]string{"SUMMARY.md": "- [A](a.md)", "a.md": "First text"})
	cmd := exec.CommandContext(t.Context(), command, "preview", book, "--input", input, "--mdbook", wrapper, fmt.Sprintf("--port=%d", port))
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = 10 * time.Second // Wait does not return while an mdBook that still runs has the output open.
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = cmd.Process.Signal(os.Interrupt), cmd.Wait() }()
	eventually("the book is served with the theme", func() bool {
		return strings.Contains(get("a.html"), "First text") && strings.Contains(get("a.html"), "First banner")
	})
	theme("theme: {header.hbs: Second banner}")
	eventually("a change of the theme is served", func() bool { return strings.Contains(get("a.html"), "Second banner") })
	theme("")
	eventually("a book without a theme is served", func() bool {
		return strings.Contains(get("a.html"), "First text") && !strings.Contains(get("a.html"), "banner")
	})
	write(map[string]string{"SUMMARY.md": "- [B](b.md)", "b.md": "Second text"})
	eventually("a change is served", func() bool { return strings.Contains(get("b.html"), "Second text") })

	write(map[string]string{"SUMMARY.md": "- [D](d.md)", "c.md": "Third text"})
	eventually("an error is printed", func() bool { return strings.Contains(out.String(), "is still served") })
	if want := "Degraded=True InvalidSpec: "; !strings.Contains(out.String(), want) {
		t.Errorf("want %q in the output:\n%s", want, out)
	}
	// mdBook checks the files every second.
	time.Sleep(2 * time.Second)
	if !strings.Contains(get("b.html"), "Second text") {
		t.Errorf("the last good book is gone after a change with an error; output:\n%s", out)
	}
	write(map[string]string{"SUMMARY.md": "- [C](c.md)", "c.md": "{{#include /proc/self/environ}}"})
	eventually("an include of this machine is an error", func() bool {
		return strings.Contains(out.String(), "/proc/self/environ\", which is outside of the book")
	})
	time.Sleep(2 * time.Second)
	if !strings.Contains(get("b.html"), "Second text") {
		t.Errorf("the last good book is gone after an include of this machine; output:\n%s", out)
	}
	write(map[string]string{"SUMMARY.md": "- [C](c.md)", "c.md": "Third text"})
	eventually("the corrected book is served", func() bool { return strings.Contains(get("c.html"), "Third text") })

	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("preview after Ctrl-C: %v", err)
	}
	if page := get("c.html"); page != "" {
		t.Errorf("mdBook still serves after the preview has exited: %s", page)
	}
	if left, _ := os.ReadDir(tmp); len(left) > 0 {
		t.Errorf("the preview left files behind: %v", left)
	}
}
