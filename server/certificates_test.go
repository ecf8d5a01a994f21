package server

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCertificatesKeepLastGood(t *testing.T) {
	cases := map[string]struct {
		reason string
		spoil  func(t *testing.T, dir string)
	}{
		"KeyNotYetWritten": {
			reason: "A new certificate with the old key is a half-written pair.",
			spoil: func(t *testing.T, dir string) {
				cert, _ := newCA(t).issue(t, "server", time.Now().Add(time.Hour))
				write(t, filepath.Join(dir, "tls.crt"), cert)
			},
		},
		"CertificateCutOff": {
			reason: "A certificate without its end is still being written.",
			spoil:  func(t *testing.T, dir string) { cutOff(t, filepath.Join(dir, "tls.crt")) },
		},
		"ChainCutOff": {
			reason: "A certificate whose intermediate is cut off would be rejected by clients.",
			spoil: func(t *testing.T, dir string) {
				path := filepath.Join(dir, "tls.crt")
				write(t, path, append(read(t, path), newCA(t).PEM[:100]...))
			},
		},
		"KeyEmpty": {
			reason: "A file is empty between its creation and the first write.",
			spoil:  func(t *testing.T, dir string) { write(t, filepath.Join(dir, "tls.key"), nil) },
		},
		"KeyMissing": {
			reason: "A file is missing while another one replaces it.",
			spoil:  func(t *testing.T, dir string) { remove(t, filepath.Join(dir, "tls.key")) },
		},
		"CAEmpty": {
			reason: "An empty CA would reject every client.",
			spoil:  func(t *testing.T, dir string) { write(t, filepath.Join(dir, "ca.crt"), nil) },
		},
		"SecondCACutOff": {
			reason: "A bundle whose second CA is cut off would reject the clients of that CA.",
			spoil: func(t *testing.T, dir string) {
				path := filepath.Join(dir, "ca.crt")
				write(t, path, append(read(t, path), newCA(t).PEM[:100]...))
			},
		},
		"CANotACertificate": {
			reason: "A CA that cannot be parsed would reject every client.",
			spoil: func(t *testing.T, dir string) {
				write(t, filepath.Join(dir, "ca.crt"), []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			newCA(t).writeServer(t, dir)
			log := &bytes.Buffer{}
			c, err := loadCertificates(dir, NewLogger(log, false))
			if err != nil {
				t.Fatal(err)
			}
			good := c.latest()

			tc.spoil(t, dir)
			for range 3 {
				if c.latest() != good {
					t.Fatalf("%s\nlatest(): did not keep the last good certificates", tc.reason)
				}
			}
			if diff := cmp.Diff(1, strings.Count(log.String(), "keeping the last good ones")); diff != "" {
				t.Errorf("%s\nmessages of a failed rotation: -want, +got:\n%s\n%s", tc.reason, diff, log)
			}

			newCA(t).writeServer(t, dir)
			fixed := c.latest()
			if fixed == good {
				t.Errorf("%s\nlatest(): did not load the certificates when the rotation was complete:\n%s", tc.reason, log)
			}

			tc.spoil(t, dir)
			c.latest()
			if diff := cmp.Diff(2, strings.Count(log.String(), "keeping the last good ones")); diff != "" {
				t.Errorf("%s\nmessages after a second failed rotation: -want, +got:\n%s\n%s", tc.reason, diff, log)
			}
		})
	}
}

func TestCertificatesUnchanged(t *testing.T) {
	dir := t.TempDir()
	newCA(t).writeServer(t, dir)
	log := &bytes.Buffer{}
	c, err := loadCertificates(dir, NewLogger(log, false))
	if err != nil {
		t.Fatal(err)
	}
	if first := c.latest(); c.latest() != first {
		t.Error("latest(): parsed the same files again")
	}
	if diff := cmp.Diff("", log.String()); diff != "" {
		t.Errorf("log while nothing changes: -want, +got:\n%s", diff)
	}
}

// TestCertificatesSwappedLikeASecret replaces the certificates as Kubernetes updates
// the volume of a Secret: the files are symlinks through ..data, which changes to
// another folder.
func TestCertificatesSwappedLikeASecret(t *testing.T) {
	dir := t.TempDir()
	newCA(t).writeSecret(t, dir, "v1")
	c, err := loadCertificates(dir, NewLogger(&bytes.Buffer{}, false))
	if err != nil {
		t.Fatal(err)
	}
	before := c.latest()

	newCA(t).writeSecret(t, dir, "v2")
	after := c.latest()
	if after == before {
		t.Error("latest(): did not follow the symlink to the new folder")
	}
	if diff := cmp.Diff(read(t, filepath.Join(dir, "tls.crt")), after.files[0]); diff != "" {
		t.Errorf("latest(): -want, +got:\n%s", diff)
	}
}

func TestLoadCertificatesFails(t *testing.T) {
	dir := t.TempDir()
	newCA(t).writeServer(t, dir)
	remove(t, filepath.Join(dir, "ca.crt"))

	_, err := loadCertificates(dir, NewLogger(&bytes.Buffer{}, false))
	want := "cannot load TLS certificates: open " + filepath.Join(dir, "ca.crt") + ": no such file or directory"
	if err == nil || err.Error() != want {
		t.Errorf("loadCertificates(...) without a CA: want error %q, got %v", want, err)
	}
}

func TestFirstExpiry(t *testing.T) {
	ca := newCA(t)
	late, _ := ca.issue(t, "late", time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC))
	early, _ := ca.issue(t, "early", time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC))
	certs, err := parseCertificates(append(late, early...))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC), firstExpiry(certs)); diff != "" {
		t.Errorf("firstExpiry(...): -want, +got:\n%s", diff)
	}
}

func cutOff(t *testing.T, path string) {
	t.Helper()
	b := read(t, path)
	write(t, path, b[:len(b)/2])
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	return b
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}
