package main

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/function-markdownview/book"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

// An mdbook is a root directory with mdBook, which test/debian.sh creates.
type mdbook string

// text returns the default content of a file of a book.
func text(name string) string { return mark(name) + "\n\n# Title\n" }

// mark returns a text by which the page of a file is recognized.
func mark(name string) string { return fmt.Sprintf("MARK%xEND", name) }

// serves returns the pages of the chapters, or why mdBook does not serve the book in
// full. It builds the book as a pod does: as another user, who can write only the
// output.
func (m mdbook) serves(t *testing.T, files book.Files) (pages []string, err error) {
	t.Helper()
	env := []string{"MDBOOK_BUILD__CREATE_MISSING=false"}
	if len(files.Redirects) > 0 {
		settings := view.Settings{Redirects: files.Redirects}.Env()
		env = append(env, environment(corev1.Container{Env: settings})...)
	}
	output, err := m.build(t, files, env...)
	if err != nil {
		return nil, err
	}

	return chapterPages(output, files)
}

// build returns the directory of the built book, or why mdBook cannot build the book.
func (m mdbook) build(t *testing.T, files book.Files, env ...string) (output string, err error) {
	t.Helper()
	dir := m.write(t, files)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := m.command(ctx, dir, env, "mdbook", "build")
	out, err := cmd.CombinedOutput()
	if exit := (&exec.ExitError{}); err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("cannot run mdBook: %v", err)
	}
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}

	return filepath.Join(dir, "book"), nil
}

// command returns a command that runs in the folder of a book, as the user of the pod.
func (m mdbook) command(ctx context.Context, dir string, env []string, args ...string) *exec.Cmd {
	inside, _ := filepath.Rel(string(m), dir)
	cmd := exec.CommandContext(ctx, "/usr/bin/"+args[0], args[1:]...)
	cmd.Dir = "/" + inside
	cmd.Env = env
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Chroot:      string(m),
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 65532, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 65532, HostID: os.Getgid(), Size: 1}},
	}

	return cmd
}

// write writes a book to a folder below the root directory, and returns the folder.
func (m mdbook) write(t *testing.T, files book.Files) string {
	t.Helper()
	must(t, os.MkdirAll(filepath.Join(string(m), "tmp"), 0o755))
	dir, err := os.MkdirTemp(filepath.Join(string(m), "tmp"), "book") //nolint:usetesting // It must be below the root.
	must(t, err)
	t.Cleanup(func() {
		_ = exec.Command("chmod", "-R", "u+w", dir).Run()
		_ = os.RemoveAll(dir)
	})
	src, all := filepath.Join(dir, "src"), maps.Clone(files.Markdowns)
	for _, name := range files.Binaries {
		all[name] = "\xff\xfe binary"
	}
	must(t, os.MkdirAll(src, 0o755))
	for name, content := range all {
		must(t, os.MkdirAll(filepath.Join(src, filepath.Dir(name)), 0o755))
		must(t, os.WriteFile(filepath.Join(src, name), []byte(content), 0o444))
	}
	must(t, os.MkdirAll(filepath.Join(dir, "book"), 0o755))
	must(t, exec.Command("chmod", "-R", "a-w", src).Run())
	must(t, os.Chmod(dir, 0o555))

	return dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// readAll returns the content of the files in a folder, by name.
func readAll(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(dir, name))
		all[name] = string(content)

		return err
	}))

	return all
}

var (
	// The entries of the table of contents. mdBook 0.4 and 0.5 write the same format.
	entry    = regexp.MustCompile(`href="([^"]*)"`)
	contents = regexp.MustCompile(`this\.innerHTML = '(<ol class="chapter">[^'\n]*)';\n`)
	marked   = regexp.MustCompile(`MARK[0-9a-f]+END`)
)

// chapterPages returns the page of each chapter in the table of contents, as a browser
// finds it.
func chapterPages(output string, files book.Files) ([]string, error) {
	if _, err := os.Stat(filepath.Join(output, "index.html")); err != nil {
		return nil, errors.New("the book has no first page")
	}
	scripts, _ := filepath.Glob(filepath.Join(output, "toc*.js"))
	list := ""
	for _, script := range scripts {
		raw, _ := os.ReadFile(script) // It can be a folder of the book.
		if m := contents.FindSubmatch(raw); m != nil {
			list = string(m[1])
		}
	}
	if list == "" {
		return nil, errors.New("the book has no table of contents in JavaScript")
	}
	marks := map[string]string{}
	for name := range files.Markdowns {
		marks[mark(name)] = name
	}
	var pages []string
	for _, m := range entry.FindAllStringSubmatch(list, -1) {
		page, err := follow(html.UnescapeString(m[1]))
		if err != nil {
			return nil, err
		}
		raw, err := os.ReadFile(filepath.Join(output, page))
		if err != nil {
			return nil, fmt.Errorf("the table of contents links to %q: %w", page, err)
		}
		shown := marked.FindString(string(raw))
		switch {
		case !strings.Contains(string(raw), "<html"):
			return nil, fmt.Errorf("%q is not a page", page)
		case slices.Contains(pages, page):
			return nil, fmt.Errorf("two chapters have the page %q", page)
		case book.Page(marks[shown]) != page && page != "SUMMARY.html":
			return nil, fmt.Errorf("the page %q shows %q", page, marks[shown])
		}
		pages = append(pages, page)
	}

	return pages, nil
}

var (
	external = regexp.MustCompile(`^(//|[a-zA-Z][a-zA-Z0-9+.-]*:)`)
	percent  = regexp.MustCompile(`%[0-9a-fA-F]{2}`)
)

// follow returns the path that a browser requests for a link on the first page.
func follow(link string) (string, error) {
	link = strings.Trim(link, " \t\n")
	if external.MatchString(link) {
		return "", fmt.Errorf("the table of contents links to %q", link)
	}
	if i := strings.IndexAny(link, "#?"); i >= 0 {
		link = link[:i]
	}
	// A browser does not decode invalid escapes.
	decoded := percent.ReplaceAllStringFunc(link, func(escaped string) string {
		text, _ := url.PathUnescape(escaped)
		return text
	})

	return path.Clean(decoded), nil
}
