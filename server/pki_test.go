package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc/credentials"
)

// An identity is a certificate and its key: of a server, of a client, or of a CA that signs
// others, like the one that Crossplane creates when it is installed.
type identity struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// newCA creates a CA.
func newCA(t *testing.T) *identity {
	t.Helper()

	return (*identity)(nil).issue(t, "ca", time.Now().Add(time.Hour))
}

// issue signs a certificate for a server at localhost or for a client, with a common
// name. Without a CA, the certificate is one of a CA.
func (ca *identity) issue(t *testing.T, name string, expiry time.Time) *identity {
	t.Helper()
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: name},
		DNSNames:    []string{"localhost"},
		NotBefore:   time.Now().Add(-2 * time.Hour),
		NotAfter:    expiry,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if ca == nil {
		template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
		ca = &identity{template, key}
	}
	der := must(x509.CreateCertificate(rand.Reader, template, ca.cert, key.Public(), ca.key))

	return &identity{must(x509.ParseCertificate(der)), key}
}

// certPEM returns the certificate as PEM.
func (ca *identity) certPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.cert.Raw})
}

// writeServer writes the tls.crt, tls.key and ca.crt of a new server certificate.
func (ca *identity) writeServer(t *testing.T, dir string) {
	t.Helper()
	server := ca.issue(t, "server", time.Now().Add(time.Hour))
	key := must(x509.MarshalPKCS8PrivateKey(server.key))
	write(t, dir, "tls.crt", server.certPEM())
	write(t, dir, "tls.key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
	write(t, dir, "ca.crt", ca.certPEM())
}

// writeSecret writes a new server certificate as the kubelet updates the volume of a
// Secret: the path is a symlink that is changed in one step.
func (ca *identity) writeSecret(t *testing.T, path string) {
	t.Helper()
	version := t.TempDir()
	ca.writeServer(t, version)
	if err := errors.Join(os.Symlink(version, path+"_tmp"), os.Rename(path+"_tmp", path)); err != nil {
		t.Fatal(err)
	}
}

// creds returns the credentials of a client that a server with the same CA accepts.
func (ca *identity) creds(t *testing.T) credentials.TransportCredentials {
	t.Helper()
	return credentials.NewTLS(ca.client(t, ca, time.Now().Add(time.Hour)))
}

// client returns the TLS configuration of a client with a new certificate, for a server
// whose certificate the CA server signed.
func (ca *identity) client(t *testing.T, server *identity, expiry time.Time) *tls.Config {
	t.Helper()
	client := ca.issue(t, "client", expiry)
	pool := x509.NewCertPool()
	pool.AddCert(server.cert)

	return &tls.Config{
		MinVersion:   tls.VersionTLS12,
		ServerName:   "localhost",
		RootCAs:      pool,
		Certificates: []tls.Certificate{{Certificate: [][]byte{client.cert.Raw}, PrivateKey: client.key}},
	}
}

// write writes a file.
func write(t *testing.T, dir, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
		t.Fatal(err)
	}
}
