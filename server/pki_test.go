package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// An authority is a CA that signs certificates, like the one that Crossplane creates
// when it is installed.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey

	// PEM is the certificate in PEM format.
	PEM []byte
}

// newCA creates a CA.
func newCA(t *testing.T) *authority {
	t.Helper()
	template := newTemplate(t, "ca", time.Now().Add(time.Hour))
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign
	key := newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}

	return &authority{cert: cert, key: key, PEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

// issue signs a certificate for a server at localhost or for a client, with a common
// name. It returns the certificate and its key as PEM.
func (ca *authority) issue(t *testing.T, name string, expiry time.Time) (cert, key []byte) {
	t.Helper()
	template := newTemplate(t, name, expiry)
	template.DNSNames = []string{"localhost"}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	k := newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, template, ca.cert, k.Public(), ca.key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}

	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
}

// writeServer writes the tls.crt, tls.key and ca.crt of a new server certificate.
func (ca *authority) writeServer(t *testing.T, dir string) {
	t.Helper()
	cert, key := ca.issue(t, "server", time.Now().Add(time.Hour))
	for name, content := range map[string][]byte{"tls.crt": cert, "tls.key": key, "ca.crt": ca.PEM} {
		write(t, filepath.Join(dir, name), content)
	}
}

// writeSecret writes a new server certificate as the kubelet writes the volume of a
// Secret: into a folder for the version, to which the symlink ..data is then changed in
// one step. The files themselves are symlinks through ..data.
func (ca *authority) writeSecret(t *testing.T, dir, version string) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(dir, version), 0o700); err != nil {
		t.Fatal(err)
	}
	ca.writeServer(t, filepath.Join(dir, version))
	symlink(t, version, filepath.Join(dir, "..data_tmp"))
	if err := os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tls.crt", "tls.key", "ca.crt"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); os.IsNotExist(err) {
			symlink(t, filepath.Join("..data", name), filepath.Join(dir, name))
		}
	}
}

// client returns the TLS configuration of a client with a new certificate, for a server
// whose certificate the CA server signed.
func (ca *authority) client(t *testing.T, server *authority, expiry time.Time) *tls.Config {
	t.Helper()
	cert, key := ca.issue(t, "client", expiry)
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(server.cert)

	return &tls.Config{
		MinVersion:   tls.VersionTLS12,
		ServerName:   "localhost",
		RootCAs:      pool,
		Certificates: []tls.Certificate{pair},
	}
}

// write writes a file.
func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func symlink(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

func newTemplate(t *testing.T, name string, expiry time.Time) *x509.Certificate {
	t.Helper()
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}

	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-2 * time.Hour),
		NotAfter:     expiry,
	}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}

	return key
}
