package controlplane

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// An authority is the CA that Crossplane and its functions trust.
type authority struct {
	pem  []byte
	cert *x509.Certificate
	key  crypto.PrivateKey
}

// loadAuthority reads the CA that `crossplane core init` has created.
func (cp *ControlPlane) loadAuthority(ctx context.Context) (*authority, error) {
	s, err := cp.secret(ctx, rootCASecret)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(s.Data[corev1.TLSCertKey], s.Data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return nil, fmt.Errorf("cannot read CA of secret %q: %w", rootCASecret, err)
	}

	return &authority{pem: s.Data[corev1.TLSCertKey], cert: pair.Leaf, key: pair.PrivateKey}, nil
}

// issue returns a server certificate for an IP address, as the files of a TLS Secret.
func (a *authority) issue(ip string) (map[string][]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("cannot issue certificate: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: ip},
		IPAddresses:  []net.IP{net.ParseIP(ip)},
		NotBefore:    time.Now().Add(-time.Minute),
		NotAfter:     time.Now().AddDate(1, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, fmt.Errorf("cannot issue certificate: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("cannot issue certificate: %w", err)
	}

	return map[string][]byte{
		corev1.TLSCertKey:       pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		corev1.TLSPrivateKeyKey: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}),
		"ca.crt":                a.pem,
	}, nil
}

// secret reads a Secret in Crossplane's namespace.
func (cp *ControlPlane) secret(ctx context.Context, name string) (*corev1.Secret, error) {
	s := &corev1.Secret{}
	if err := cp.Client.Get(ctx, client.ObjectKey{Namespace: crossplaneNamespace, Name: name}, s); err != nil {
		return nil, fmt.Errorf("cannot get secret %q: %w", name, err)
	}

	return s, nil
}
