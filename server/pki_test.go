package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"
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
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
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
	der, err := x509.CreateCertificate(rand.Reader, template, ca.cert, key.Public(), ca.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}

	return &identity{cert, key}
}

// certPEM returns the certificate as PEM.
func (ca *identity) certPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.cert.Raw})
}

// writeServer writes the tls.crt, tls.key and ca.crt of a new server certificate.
func (ca *identity) writeServer(t *testing.T, dir string) {
	t.Helper()
	server := ca.issue(t, "server", time.Now().Add(time.Hour))
	key, err := x509.MarshalPKCS8PrivateKey(server.key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "tls.crt"), server.certPEM())
	write(t, filepath.Join(dir, "tls.key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
	write(t, filepath.Join(dir, "ca.crt"), ca.certPEM())
}

// writeSecret writes a new server certificate as the kubelet writes the volume of a
// Secret: into a folder for the version, to which the symlink ..data is then changed in
// one step. The files themselves are symlinks through ..data.
func (ca *identity) writeSecret(t *testing.T, dir, version string) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(dir, version), 0o700); err != nil {
		t.Fatal(err)
	}
	ca.writeServer(t, filepath.Join(dir, version))
	links := map[string]string{"..data_tmp": version, "tls.crt": "..data/tls.crt", "tls.key": "..data/tls.key", "ca.crt": "..data/ca.crt"}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil && !os.IsExist(err) {
			t.Fatal(err)
		}
	}
	if err := os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")); err != nil {
		t.Fatal(err)
	}
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
func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
