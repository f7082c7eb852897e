package cli

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
)

// certificateRest is how long a certificate is used before its files are looked
// at again.
const certificateRest = 2 * time.Second

// certificate is a pair of files with a certificate and its key. Files that have
// changed are read again, so that a certificate can be renewed under a running
// server; where the new ones do not fit together the old pair stays.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu        sync.Mutex
	pair      *tls.Certificate
	cert, key []byte // what was read last, also where it is not in use
	looked    time.Time
}

func newCertificate(certFile, keyFile string, log *slog.Logger) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log}
	return c, c.read()
}

// get is tls.Config.GetCertificate.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) >= certificateRest {
		if err := c.read(); err != nil {
			c.log.Warn("cannot reload the TLS certificate; still using the previous one", "file", c.certFile, "key", c.keyFile, "error", err)
		}
	}
	return c.pair, nil
}

// read takes the files over if they have changed. An error is returned once for
// each content.
func (c *certificate) read() error {
	c.looked = time.Now()
	cert, err := boundedfile.Read(c.certFile)
	var key []byte
	if err == nil {
		key, err = boundedfile.Read(c.keyFile)
	}
	if err == nil && bytes.Equal(cert, c.cert) && bytes.Equal(key, c.key) {
		return nil
	}
	if err != nil && c.cert == nil && c.pair != nil {
		return nil // said already
	}
	c.cert, c.key = cert, key
	if err != nil {
		c.cert, c.key = nil, nil
		return err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return err
	}
	if c.pair != nil {
		c.log.Info("reloaded the TLS certificate", "file", c.certFile, "until", pair.Leaf.NotAfter)
	}
	c.pair = &pair
	return nil
}
