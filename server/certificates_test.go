package server

import (
	"bytes"
	"crypto/tls"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

func TestMutualTLS(t *testing.T) {
	r := serve(t, echo, times{})
	foreign := newCA(t)
	changed := func(change func(*tls.Config)) credentials.TransportCredentials {
		c := r.ca.client(t, r.ca, time.Now().Add(time.Hour))
		change(c)

		return credentials.NewTLS(c)
	}
	cases := map[string]struct {
		reason   string
		creds    credentials.TransportCredentials
		rejected bool
	}{
		"Crossplane": {reason: "The server accepts a client whose certificate the CA signed.", creds: r.ca.creds(t)},
		"TLS13":      {reason: "The server speaks TLS 1.3.", creds: changed(func(c *tls.Config) { c.MinVersion = tls.VersionTLS13 })},
		"TLS12":      {reason: "The server speaks TLS 1.2.", creds: changed(func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 })},
		"TLS11":      {reason: "The server speaks no older version of TLS.", creds: changed(func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 }), rejected: true},
		"PlainText":  {reason: "The server rejects plain text.", creds: insecure.NewCredentials(), rejected: true},
		"None":       {reason: "The server rejects a client without a certificate.", creds: changed(func(c *tls.Config) { c.Certificates = nil }), rejected: true},
		"Foreign":    {reason: "The server rejects a certificate that another CA signed.", creds: credentials.NewTLS(foreign.client(t, r.ca, time.Now().Add(time.Hour))), rejected: true},
		"Expired":    {reason: "The server rejects a certificate that has expired.", creds: credentials.NewTLS(r.ca.client(t, r.ca, time.Now().Add(-time.Hour))), rejected: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := tryCall(t, r.address, tc.creds)
			if tc.rejected != (err != nil) {
				t.Errorf("%s\nRunFunction(...): want rejected %t, got error %v", tc.reason, tc.rejected, err)
			}
		})
	}
}

// TestNoSessionIsResumed checks that the server resumes no session: otherwise it would
// accept a client with a certificate of an earlier CA.
func TestNoSessionIsResumed(t *testing.T) {
	r := serve(t, echo, times{})
	client := r.ca.client(t, r.ca, time.Now().Add(time.Hour))
	client.NextProtos = []string{"h2"}
	client.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	for range 2 {
		conn := must(tls.Dial("tcp", r.address, client))
		must(conn.Read(make([]byte, 1)))
		if conn.ConnectionState().DidResume {
			t.Error("a connection resumed the session of the one before")
		}
		_ = conn.Close()
	}
}

// TestRotation replaces the certificates and the CA during calls, as the kubelet does.
func TestRotation(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "..data")
	before, after := newCA(t), newCA(t)
	before.writeSecret(t, dir)
	r := serveWith(t, Options{TLSCertsDir: dir}, echo, times{})
	clientBefore, clientAfter := before.creds(t), after.creds(t)

	l := startLoad(t, dial(t, r.address, clientBefore), 4, newRequest("rotation", 1000))
	l.more(t, 20)
	if err := tryCall(t, r.address, clientAfter); err == nil {
		t.Fatal("the server accepted a client of the new CA before the rotation")
	}

	after.writeSecret(t, dir)
	if err := tryCall(t, r.address, clientAfter); err != nil {
		t.Errorf("call of a client of the new CA after the rotation: %v", err)
	}
	if err := tryCall(t, r.address, clientBefore); err == nil {
		t.Error("the server accepted a new client of the old CA after the rotation")
	}
	l.more(t, 20)
}

// TestCertificatesKeepLastGood checks that files that are being written are not loaded.
func TestCertificatesKeepLastGood(t *testing.T) {
	dir := t.TempDir()
	newCA(t).writeServer(t, dir)
	content := func(name string) []byte { return must(os.ReadFile(filepath.Join(dir, name))) }
	part := newCA(t).certPEM()[:100]
	cases := map[string]struct {
		reason, file string
		// spoil returns the new content of the file, or nil to remove it.
		spoil func() []byte
	}{
		"KeyNotYetWritten":  {reason: "A new certificate with the old key is a half-written pair.", file: "tls.crt", spoil: newCA(t).certPEM},
		"ChainCutOff":       {reason: "A certificate whose intermediate is cut off would be rejected by clients.", file: "tls.crt", spoil: func() []byte { return append(content("tls.crt"), part...) }},
		"KeyMissing":        {reason: "A file is missing while another one replaces it.", file: "tls.key", spoil: func() []byte { return nil }},
		"CAEmpty":           {reason: "A file is empty between its creation and the first write.", file: "ca.crt", spoil: func() []byte { return []byte{} }},
		"CANotACertificate": {reason: "A CA that cannot be parsed would reject every client.", file: "ca.crt", spoil: func() []byte { return []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n") }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			log := &bytes.Buffer{}
			c := must(loadCertificates(dir, NewLogger(log, false)))
			good := c.latest()
			if c.latest() != good || log.Len() > 0 {
				t.Errorf("%s\nlatest(): parsed the same files again:\n%s", tc.reason, log)
			}

			for failures := range 2 {
				spoilt := tc.spoil()
				write(t, dir, tc.file, spoilt)
				if spoilt == nil {
					_ = os.Remove(filepath.Join(dir, tc.file))
				}
				for range 3 {
					if c.latest() != good {
						t.Fatalf("%s\nlatest(): did not keep the last good certificates", tc.reason)
					}
				}
				if got := strings.Count(log.String(), "keeping the last good ones"); got != failures+1 {
					t.Errorf("%s\nmessages of %d failed rotations: got %d\n%s", tc.reason, failures+1, got, log)
				}
				newCA(t).writeServer(t, dir)
				if fixed := c.latest(); fixed != good {
					good = fixed
				} else {
					t.Errorf("%s\nlatest(): did not load the certificates when the rotation was complete:\n%s", tc.reason, log)
				}
			}
		})
	}
}

func TestFirstExpiry(t *testing.T) {
	at := func(year int) time.Time { return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC) }
	ca := newCA(t)
	certs := must(parseCertificates(string(ca.issue(t, "late", at(2100)).certPEM()) + string(ca.issue(t, "early", at(2099)).certPEM())))
	if got := firstExpiry(certs); !got.Equal(at(2099)) {
		t.Errorf("firstExpiry(...): want %v, got %v", at(2099), got)
	}
}
