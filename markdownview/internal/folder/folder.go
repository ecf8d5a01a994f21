// Package folder reads a folder of Markdown, and packs it as what Kubernetes can apply or
// a registry can store: a MarkdownView, a MarkdownView with ConfigMaps, or an image.
package folder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A Folder is a folder with the files of a book.
type Folder struct {
	Path  string
	Files []File
}

// A File is a file of a book.
type File struct {
	Name     string // Its path relative to the folder, with slashes.
	Size     int64
	Modified time.Time
}

// List returns the files of a folder, sorted by name, without those that .gitignore and
// .markdownignore list. It calls progress for each file. It returns all errors at once.
func List(dir string, progress func(format string, args ...any)) (*Folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot read the folder %s: %w", dir, Cause(err))
	}
	defer func() { _ = root.Close() }()
	l := &lister{Folder: &Folder{Path: dir}, root: root, progress: progress}
	if err := l.readParents(); err != nil {
		return nil, err
	}
	if err := l.list("."); err != nil {
		return nil, err
	}
	slices.SortFunc(l.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })

	return l.Folder, errors.Join(l.errs...)
}

type lister struct {
	*Folder

	root     *os.Root
	prefix   string // The folder relative to that of the first ignore file, with a slash.
	rules    rules
	errs     []error
	progress func(format string, args ...any)
}

// readParents reads the ignore files of the folders above, up to the root of the
// repository.
func (l *lister) readParents() error {
	dir, err := filepath.Abs(l.Path)
	if err != nil {
		return fmt.Errorf("cannot read the folder: %w", err)
	}
	var above []string
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			break
		}
		above = append(above, filepath.Base(d))
		if filepath.Dir(d) == d {
			return nil // It is not in a repository.
		}
	}
	slices.Reverse(above)
	for i, name := range above {
		up := filepath.Join(dir, strings.Repeat("../", len(above)-i))
		if err := l.readRules(os.DirFS(up), up, ".", l.prefix); err != nil {
			return err
		}
		l.prefix += name + "/"
	}

	return nil
}

// readRules reads the ignore files of a folder of a file system, which is at a path of this
// machine. Their rules apply below base.
func (l *lister) readRules(in fs.FS, at, folder, base string) error {
	for _, name := range ignoreFiles {
		text, err := fs.ReadFile(in, path.Join(folder, name))
		switch {
		case err == nil:
			l.rules.add(base, string(text))
		case !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("cannot read %s: %w", filepath.Join(at, folder, name), Cause(err))
		}
	}

	return nil
}

// list adds the files of a folder and of those below it.
func (l *lister) list(folder string) error {
	base := l.prefix
	if folder != "." {
		base += folder + "/"
	}
	if err := l.readRules(l.root.FS(), l.Path, folder, base); err != nil {
		return err
	}
	entries, err := fs.ReadDir(l.root.FS(), folder)
	if err != nil {
		return fmt.Errorf("cannot read the folder %s: %w", l.Shown(folder), Cause(err))
	}
	for _, e := range entries {
		name := path.Join(folder, e.Name())
		switch {
		case e.Name() == ".git", slices.Contains(ignoreFiles[:], e.Name()), l.rules.ignored(l.prefix+name, e.IsDir()):
		case e.IsDir():
			if err := l.list(name); err != nil {
				return err
			}
		default:
			l.add(name, e.Type()&fs.ModeSymlink != 0)
		}
	}

	return nil
}

// add adds a file. A link must lead to a file of the folder: the others are not the
// author's to publish, such as ~/.ssh.
func (l *lister) add(name string, link bool) {
	info, err := l.root.Stat(filepath.FromSlash(name))
	shown := l.Shown(name)
	switch {
	case err != nil && link:
		l.errs = append(l.errs, fmt.Errorf("replace %s with a copy of the file, or list it in .markdownignore: it is a link that leaves the folder or leads nowhere", shown))
	case err != nil:
		l.errs = append(l.errs, fmt.Errorf("cannot read %s: %w", shown, Cause(err)))
	case info.IsDir():
		l.errs = append(l.errs, fmt.Errorf("replace %s with the files, or list it in .markdownignore: it is a link to a folder", shown))
	case !info.Mode().IsRegular():
		l.errs = append(l.errs, fmt.Errorf("remove %s, or list it in .markdownignore: it is not a file", shown))
	default:
		l.Files = append(l.Files, File{Name: name, Size: info.Size(), Modified: info.ModTime()})
		l.progress("reading %s: %d files", l.Path, len(l.Files))
	}
}

// Shown returns the name of a file for messages: its path with the folder.
func (f *Folder) Shown(name string) string { return filepath.Join(f.Path, filepath.FromSlash(name)) }

// Read returns the content of the files by name.
func (f *Folder) Read() (map[string][]byte, error) {
	root, err := os.OpenRoot(f.Path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the folder %s: %w", f.Path, Cause(err))
	}
	defer func() { _ = root.Close() }()
	content := make(map[string][]byte, len(f.Files))
	for _, file := range f.Files {
		if content[file.Name], err = root.ReadFile(filepath.FromSlash(file.Name)); err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", f.Shown(file.Name), Cause(err))
		}
	}

	return content, nil
}

// copyTo writes a file, which must still have its size.
func (f *Folder) copyTo(w io.Writer, root *os.Root, file File) error {
	r, err := root.Open(filepath.FromSlash(file.Name))
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", f.Shown(file.Name), Cause(err))
	}
	defer func() { _ = r.Close() }()
	if _, err := io.CopyN(w, r, file.Size); err != nil {
		return fmt.Errorf("cannot read %s, which has changed meanwhile: %w", f.Shown(file.Name), Cause(err))
	}

	return nil
}

// Cause returns an error without the operation and the path of a file, which its message
// names already.
func Cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}

	return err
}
