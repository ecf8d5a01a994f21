package folder

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/opencontainers/go-digest"
)

// TestLayer checks that the layer of an image has the files of a folder, and depends only on
// their names and contents. release/program_test.go pushes an image.
func TestLayer(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"b.md": "B", "a/c/d.md": "D", "a/b.md": "A"})
	f, err := List(dir, quiet)
	must(t, err)
	var out bytes.Buffer
	must(t, f.writeTar(&out))
	var got []string
	for r := tar.NewReader(bytes.NewReader(out.Bytes())); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		content, _ := io.ReadAll(r)
		got = append(got, h.FileInfo().Mode().String()+" "+h.Name+" "+string(content))
	}
	want := []string{"drwxr-xr-x a/ ", "-rw-r--r-- a/b.md A", "drwxr-xr-x a/c/ ", "-rw-r--r-- a/c/d.md D", "-rw-r--r-- b.md B"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}

	layer, tarball, err := f.layer()
	if err != nil || layer.Size <= int64(out.Len()) || tarball != digest.FromBytes(out.Bytes()) {
		t.Errorf("want a layer with the tarball of %d bytes, got %v, %s, %v", out.Len(), layer, tarball, err)
	}
	file := filepath.Join(dir, "b.md")
	must(t, errors.Join(os.Chtimes(file, time.Unix(0, 0), time.Unix(0, 0)), os.Chmod(file, 0o400)))
	f, err = List(dir, quiet)
	must(t, err)
	if again, _, err := f.layer(); err != nil || again.Digest != layer.Digest {
		t.Errorf("the digest depends on the time or the mode of a file: %v", err)
	}
	must(t, errors.Join(os.Chmod(file, 0o600), os.Truncate(file, 0)))
	if _, _, err := f.layer(); err == nil || !strings.HasPrefix(err.Error(), "cannot read "+file+", which has changed meanwhile") {
		t.Errorf("want an error for a file that has changed, got %v", err)
	}
}

func TestPushReference(t *testing.T) {
	for _, reference := range []string{"", "registry.example.com", "registry.example.com/book", "registry.example.com/book@sha256:" + strings.Repeat("0", 64)} {
		_, err := (&Folder{}).Push(t.Context(), reference, false, quiet)
		if want := `cannot push to "` + reference + `": write a reference such as registry.example.com/books/handbook:main`; err == nil || err.Error() != want {
			t.Errorf("want %s, got %v", want, err)
		}
	}
}

func TestLoopback(t *testing.T) {
	for registry, want := range map[string]bool{"localhost:5000": true, "127.0.0.1:5000": true, "[::1]:5000": true, "[::1]": true, "localhost": true, "registry.example.com": false, "10.0.0.1:5000": false} {
		if got := loopback(registry); got != want {
			t.Errorf("%s: want %t, got %t", registry, want, got)
		}
	}
}
