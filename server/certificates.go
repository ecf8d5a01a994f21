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
	"sync"
	"time"
)

// Files of the directory that Crossplane mounts from the function's TLS secret.
const (
	certFile = "tls.crt"
	keyFile  = "tls.key"
	caFile   = "ca.crt"
)

// certificates are the server's key pair and the CA that vouches for clients,
// in a directory that others rewrite while we run.
//
// They are read anew at each handshake, which costs little beside the handshake
// itself and leaves no interval in which a rotation is not seen, no watch to
// lose when Kubernetes swaps the ..data symlink, and nothing to stop. grpc-go's
// pemfile provider was the alternative: it reads on a timer, cannot report that
// the first read failed, and says that a later one did only through grpclog,
// which is silent by default.
type certificates struct {
	dir string
	log Logger

	mu      sync.Mutex
	current *keyring
	trouble string
}

// A keyring is one consistent content of the directory.
type keyring struct {
	files  [3][]byte
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

// tlsConfig returns a configuration that looks at the directory for each client.
func (c *certificates) tlsConfig() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return c.latest().config, nil
		},
	}
}

// latest returns what the directory holds now or, while that is missing, half
// written or does not fit together, what it held when it last was in order. It
// logs a trouble once, not once per handshake.
func (c *certificates) latest() *keyring {
	c.mu.Lock()
	defer c.mu.Unlock()

	next, err := readKeyring(c.dir, c.current)
	if err != nil {
		if err.Error() != c.trouble {
			c.log.Error("Cannot load rotated TLS certificates, keeping the last good ones", "error", err.Error(), "dir", c.dir)
		}
		c.trouble = err.Error()
		return c.current
	}
	if next != c.current {
		c.log.Info("Loaded rotated TLS certificates", "dir", c.dir, "expiry", next.expiry[certFile])
	}
	c.current, c.trouble = next, ""
	return c.current
}

// readKeyring returns the content of the directory, which is current itself
// where nothing changed.
func readKeyring(dir string, current *keyring) (*keyring, error) {
	k := &keyring{}
	for i, name := range []string{certFile, keyFile, caFile} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		k.files[i] = b
	}
	if current != nil && bytes.Equal(k.files[0], current.files[0]) && bytes.Equal(k.files[1], current.files[1]) && bytes.Equal(k.files[2], current.files[2]) {
		return current, nil
	}
	if err := k.parse(); err != nil {
		return nil, err
	}
	return k, nil
}

// parse fills in what follows from the files.
func (k *keyring) parse() error {
	chain, err := parseCertificates(k.files[0])
	if err != nil {
		return fmt.Errorf("cannot parse %s: %w", certFile, err)
	}
	pair, err := tls.X509KeyPair(k.files[0], k.files[1])
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
		// A resumed session would let a client in that the CA of today does
		// not vouch for. Crossplane resumes none.
		SessionTicketsDisabled: true,
	}
	k.expiry = map[string]time.Time{certFile: firstExpiry(chain), caFile: firstExpiry(authorities)}
	return nil
}

// parseCertificates reads each certificate of a PEM file. Unlike
// x509.CertPool.AppendCertsFromPEM and tls.X509KeyPair it does not pass over
// one that is cut off: the file is being written.
func parseCertificates(data []byte) ([]*x509.Certificate, error) {
	var certs []*x509.Certificate
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
		return nil, errors.New("no certificate or an incomplete one")
	}
	return certs, nil
}

// firstExpiry returns when the first of the certificates expires.
func firstExpiry(certs []*x509.Certificate) time.Time {
	first := certs[0].NotAfter
	for _, cert := range certs {
		if cert.NotAfter.Before(first) {
			first = cert.NotAfter
		}
	}
	return first
}
