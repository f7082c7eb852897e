package cli_test

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// authority issues certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t}
	a.cert, a.key = a.issue("authority", time.Hour)
	return a
}

// issue returns a certificate for a name, which it expires after.
func (a *authority) issue(name string, life time.Duration) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(life),
		DNSNames: []string{name}, BasicConstraintsValid: true, IsCA: a.cert == nil,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	parent, signer := form, key
	if a.cert != nil {
		parent, signer = a.cert, a.key
	}
	der, err := x509.CreateCertificate(rand.Reader, form, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert, key
}

// write writes a certificate and its key as NAME.pem and NAME.key.
func write(t *testing.T, dir, name string, cert *x509.Certificate, key *ecdsa.PrivateKey) {
	t.Helper()
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{name + ".pem": {Type: "CERTIFICATE", Bytes: cert.Raw}, name + ".key": {Type: "EC PRIVATE KEY", Bytes: der}} {
		if err := os.WriteFile(filepath.Join(dir, file), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// front starts a server with TLS in front of Temporal. If clients is not nil, it wants a
// certificate of that authority; if key is not empty, that API key.
func front(t *testing.T, target string, cert *x509.Certificate, private *ecdsa.PrivateKey, clients *authority, key string) (address string) {
	t.Helper()
	plain := &http.Transport{Protocols: new(http.Protocols)}
	plain.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(plain.CloseIdleConnections)
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: target})
	proxy.Transport, proxy.FlushInterval = plain, -1
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if key != "" && r.Header.Get("Authorization") != "Bearer "+key {
			w.Header().Set("Content-Type", "application/grpc")
			w.Header().Set("Grpc-Status", "16")
			w.Header().Set("Grpc-Message", "Request unauthorized.")
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{cert.Raw}, PrivateKey: private}}}
	if clients != nil {
		s.TLS.ClientAuth, s.TLS.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
		s.TLS.ClientCAs.AddCert(clients.cert)
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	return net.JoinHostPort("localhost", port)
}

// TestDurableConnectionScripts connects to Temporal in all ways that fail and, if
// MCPGRAPH_TEMPORAL names a server, in those that do not.
func TestDurableConnectionScripts(t *testing.T) {
	t.Parallel()
	temporal := os.Getenv("MCPGRAPH_TEMPORAL")
	target := cmp.Or(temporal, "127.0.0.1:1")
	own, other := newAuthority(t), newAuthority(t)
	cert, key := own.issue("localhost", time.Hour)
	old, oldKey := own.issue("localhost", -time.Minute)
	elsewhere, elsewhereKey := own.issue("temporal.example.com", time.Hour)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	addresses := map[string]string{
		"MUTUAL": front(t, target, cert, key, own, ""), "EXPIRED": front(t, target, old, oldKey, nil, ""),
		"ELSEWHERE": front(t, target, elsewhere, elsewhereKey, nil, ""), "KEYED": front(t, target, cert, key, nil, "right"),
		"CLOSED": closed.Addr().String(), "PLAIN": target,
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/durableconnection",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE") != "",
		Setup: func(e *testscript.Env) error {
			e.Setenv("GORACE", raceOptions)
			for name, address := range addresses {
				e.Setenv(name, address)
			}
			write(t, e.WorkDir, "ca", own.cert, own.key)
			write(t, e.WorkDir, "other-ca", other.cert, other.key)
			for name, life := range map[string]time.Duration{"client": time.Hour, "old-client": -time.Minute} {
				cert, key := own.issue("client", life)
				write(t, e.WorkDir, name, cert, key)
			}
			foreign, foreignKey := other.issue("client", time.Hour)
			write(t, e.WorkDir, "foreign-client", foreign, foreignKey)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": code},
		Condition: func(name string) (bool, error) {
			if name != "temporal" {
				return false, fmt.Errorf("unknown condition %s", name)
			}
			return temporal != "", nil
		},
	})
}
