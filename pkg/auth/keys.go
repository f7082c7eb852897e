package auth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// How often the issuer is asked. A client without credentials can send tokens
// with unknown key ids, and each causes a request for the keys.
const (
	fetchBurst  = 3                // for its keys, at once
	fetchPeriod = 10 * time.Second // for its keys, after that
	askAgain    = 5 * time.Second  // for its metadata, where they could not be read
	retryAfter  = "5"              // seconds; what callers are told meanwhile
	maxKeys     = 1 << 20          // bytes
)

// errKeys is returned if the keys could not be fetched, so that the token
// cannot be checked.
var errKeys = fmt.Errorf("%w: cannot get its keys", ErrUnavailable)

// keySource gets the keys of an issuer over HTTP for the library, which asks for
// them whenever a token does not verify. Beyond its allowance it answers with
// what it got last.
type keySource struct {
	next http.RoundTripper

	mu   sync.Mutex
	left float64 // requests that may be made at once
	at   time.Time
	last []byte // nil before the first answer
}

func (k *keySource) RoundTrip(r *http.Request) (*http.Response, error) {
	if last, allowed := k.take(); !allowed {
		if last == nil {
			return nil, fmt.Errorf("%w: too many requests for keys", errKeys)
		}
		return answerOf(r, last), nil
	}
	response, err := k.next.RoundTrip(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errKeys, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxKeys+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errKeys, err)
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%w: it returned %s", errKeys, response.Status)
	case len(body) > maxKeys:
		return nil, fmt.Errorf("%w: the keys are longer than %d bytes", errKeys, maxKeys)
	}
	k.mu.Lock()
	k.last = body
	k.mu.Unlock()
	return answerOf(r, body), nil
}

// take reports whether a request to the issuer is allowed now, and returns its
// last response.
func (k *keySource) take() (last []byte, allowed bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	if k.at.IsZero() {
		k.left = fetchBurst
	} else {
		k.left = min(fetchBurst, k.left+now.Sub(k.at).Seconds()/fetchPeriod.Seconds())
	}
	k.at = now
	if k.left < 1 {
		return k.last, false
	}
	k.left--
	return k.last, true
}

func answerOf(r *http.Request, body []byte) *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// unknownKeys is where a keySet leaves its error, which the library shows as a
// text alone.
type unknownKeys struct{}

// keySet distinguishes tokens with an invalid signature from tokens that cannot
// be checked.
type keySet struct{ *oidc.RemoteKeySet }

func newKeySet(client *http.Client, url string) keySet {
	c := *client
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	c.Transport = &keySource{next: c.Transport}
	return keySet{oidc.NewRemoteKeySet(oidc.ClientContext(context.Background(), &c), url)}
}

// VerifySignature returns the claims of a token by their exact names. The library
// and encoding/json would take "AUD" for "aud", and the last of two.
func (k keySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	payload, err := k.RemoteKeySet.VerifySignature(ctx, token)
	if place, ok := ctx.Value(unknownKeys{}).(*error); ok && errors.Is(err, errKeys) {
		*place = err
	}
	if err != nil {
		return nil, err
	}
	return exactClaims(payload)
}

// knownClaims are those that are read of a token, here or in the library.
var knownClaims = []string{"iss", "sub", "aud", "exp", "nbf", "iat", "client_id", "azp", "scope", "scp"}

// exactClaims returns the known claims of a payload. A claim that is there twice
// is an error.
func exactClaims(payload []byte) ([]byte, error) {
	all, err := value.ParseStrict(string(payload))
	if err != nil {
		return nil, fmt.Errorf("invalid claims: %w", err)
	}
	if all.Kind() != value.Object {
		return nil, errors.New("the claims are not an object")
	}
	known := value.NewBuilder(len(knownClaims))
	for _, name := range knownClaims {
		known.Set(name, all.Get(name))
	}
	return known.Value().Append(nil), nil
}
