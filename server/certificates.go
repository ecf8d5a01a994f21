package server

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// The files of the directory that Crossplane mounts from the TLS secret of the
// function.
const (
	certFile = "tls.crt"
	keyFile  = "tls.key"
	caFile   = "ca.crt"
)

// certificates are the key pair of the server and the CA of its clients, in a directory
// that changes while the server runs.
//
// Each handshake reads the files, which is cheap compared with the handshake itself. This
// needs no timer, and no watch, which can break when Kubernetes replaces the ..data
// symlink. The alternative was grpc-go's pemfile provider: it reads on a timer, does
// not report a failed first read, and reports later errors only to grpclog, which is
// silent by default.
type certificates struct {
	dir string
	log Logger

	mu      sync.Mutex
	current *keyring
	failure string
}

// A keyring holds a consistent version of the files in the directory.
type keyring struct {
	files  [3]string
	config *tls.Config
	expiry map[string]time.Time
}

// loadCertificates reads the directory for the first time.
func loadCertificates(dir string, log Logger) (*certificates, error) {
	first, err := readKeyring(dir, nil)
	if err != nil {
		return nil, fmt.Errorf("cannot load TLS certificates: %w", err)
	}

	return &certificates{dir: dir, log: log, current: first}, nil
}

// tlsConfig returns a configuration that reads the directory for each client.
func (c *certificates) tlsConfig() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return c.latest().config, nil
		},
	}
}

// latest returns the content of the directory. If it is missing, incomplete or
// inconsistent, latest returns the last good content. It logs an error once, not for
// each handshake.
func (c *certificates) latest() *keyring {
	c.mu.Lock()
	defer c.mu.Unlock()

	next, err := readKeyring(c.dir, c.current)
	if err != nil {
		if err.Error() != c.failure {
			c.log.Error("Cannot load rotated TLS certificates, keeping the last good ones", "error", err.Error(), "dir", c.dir)
		}
		c.failure = err.Error()

		return c.current
	}
	if next != c.current {
		c.log.Info("Loaded rotated TLS certificates", "dir", c.dir, "expiry", next.expiry[certFile])
	}
	c.current, c.failure = next, ""

	return c.current
}

// readKeyring returns the content of the directory, or current if nothing changed.
func readKeyring(dir string, current *keyring) (*keyring, error) {
	k := &keyring{}
	for i, name := range []string{certFile, keyFile, caFile} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		k.files[i] = string(b)
	}
	if current != nil && k.files == current.files {
		return current, nil
	}
	if err := k.parse(); err != nil {
		return nil, err
	}

	return k, nil
}

// parse derives the configuration and the expiry from the files.
func (k *keyring) parse() error {
	chain, err := parseCertificates(k.files[0])
	if err != nil {
		return fmt.Errorf("cannot parse %s: %w", certFile, err)
	}
	pair, err := tls.X509KeyPair([]byte(k.files[0]), []byte(k.files[1]))
	if err != nil {
		return fmt.Errorf("cannot pair %s with %s: %w", certFile, keyFile, err)
	}
	authorities, err := parseCertificates(k.files[2])
	if err != nil {
		return fmt.Errorf("cannot parse %s: %w", caFile, err)
	}
	pool := x509.NewCertPool()
	for _, ca := range authorities {
		pool.AddCert(ca)
	}
	k.config = &tls.Config{
		MinVersion:   tls.VersionTLS12,
		Certificates: []tls.Certificate{pair},
		ClientCAs:    pool,
		ClientAuth:   tls.RequireAndVerifyClientCert,
		// A resumed session would accept a client that the current CA did not sign.
		// Crossplane does not resume sessions.
		SessionTicketsDisabled: true,
	}
	k.expiry = map[string]time.Time{certFile: firstExpiry(chain), caFile: firstExpiry(authorities)}

	return nil
}

// parseCertificates parses each certificate of a PEM file. Unlike
// x509.CertPool.AppendCertsFromPEM and tls.X509KeyPair, it fails for a truncated
// certificate, which somebody is still writing.
func parseCertificates(file string) ([]*x509.Certificate, error) {
	var certs []*x509.Certificate
	data := []byte(file)
	for {
		block, rest := pem.Decode(data)
		if block == nil {
			break
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		certs, data = append(certs, cert), rest
	}
	if len(certs) == 0 || bytes.Contains(data, []byte("-----BEGIN")) {
		return nil, errors.New("the file has no certificate, or an incomplete one")
	}

	return certs, nil
}

// firstExpiry returns when the first of the certificates expires.
func firstExpiry(certs []*x509.Certificate) time.Time {
	return slices.MinFunc(certs, func(a, b *x509.Certificate) int { return a.NotAfter.Compare(b.NotAfter) }).NotAfter
}
