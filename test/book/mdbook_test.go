package main

import (
	"context"
	"errors"
	"fmt"
	"html"
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
	return m.buildIn(t, m.write(t, files), env...)
}

// buildIn builds the book in a folder.
func (m mdbook) buildIn(t *testing.T, dir string, env ...string) (output string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
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
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Join(string(m), "tmp"), 0o755))
	dir, err := os.MkdirTemp(filepath.Join(string(m), "tmp"), "book") //nolint:usetesting // It must be below the root.
	must(err)
	src := filepath.Join(dir, "src")
	t.Cleanup(func() {
		_ = exec.Command("chmod", "-R", "u+w", dir).Run()
		_ = os.RemoveAll(dir)
	})
	must(os.MkdirAll(src, 0o755))
	all := maps.Clone(files.Markdowns)
	for _, name := range files.Binaries {
		all[name] = "\xff\xfe binary"
	}
	for name, content := range all {
		must(os.MkdirAll(filepath.Join(src, filepath.Dir(name)), 0o755))
		must(os.WriteFile(filepath.Join(src, name), []byte(content), 0o444))
	}
	must(os.MkdirAll(filepath.Join(dir, "book"), 0o755))
	must(filepath.WalkDir(src, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o555)
		}

		return err
	}))
	must(os.Chmod(dir, 0o555))

	return dir
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
	scripts, err := filepath.Glob(filepath.Join(output, "toc*.js"))
	if err != nil || len(scripts) == 0 {
		return nil, errors.New("the book has no table of contents")
	}
	list := ""
	for _, script := range scripts {
		raw, err := os.ReadFile(script)
		if err != nil {
			continue // A folder of the book.
		}
		if m := contents.FindSubmatch(raw); m != nil {
			list = string(m[1])
		}
	}
	if list == "" {
		return nil, errors.New("the table of contents is not JavaScript")
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
	percent  = regexp.MustCompile(`^%[0-9a-fA-F]{2}`)
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
	var decoded strings.Builder
	for link != "" {
		text := link[:1]
		if escaped := percent.FindString(link); escaped != "" {
			text = escaped
		}
		link = link[len(text):]
		if unescaped, err := url.PathUnescape(text); err == nil {
			text = unescaped
		}
		decoded.WriteString(text)
	}

	return path.Clean(decoded.String()), nil
}
