package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"net/http"

	"github.com/ory/fosite"
	"github.com/ory/fosite/handler/oauth2"
	"github.com/ory/fosite/token/jwt"
)

const keyID = "one"

// signer makes access tokens JWTs (RFC 9068), for resource servers that do not
// ask about each of them.
type signer struct{ key *ecdsa.PrivateKey }

func newSigner() (*signer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return &signer{key}, err
}

func (s *signer) private(context.Context) (any, error) { return s.key, nil }

// keys shows the public key (RFC 7517).
func (s *signer) keys(w http.ResponseWriter, _ *http.Request) {
	coordinate := func(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
	point, err := s.key.PublicKey.Bytes()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	half := len(point) / 2
	answer(w, http.StatusOK, map[string]any{"keys": []any{map[string]string{
		"kty": "EC", "crv": "P-256", "kid": keyID, "use": "sig", "alg": "ES256",
		"x": coordinate(point[1 : 1+half]), "y": coordinate(point[1+half:]),
	}}})
}

// session gives what is known of the owner of tokens: somebody, or where subject
// is empty the client itself.
func (s *authServer) session(subject, client string) fosite.Session {
	if s.signer == nil {
		return &fosite.DefaultSession{Subject: subject, Username: subject}
	}
	if subject == "" {
		subject = client
	}
	return &oauth2.JWTSession{
		JWTClaims: &jwt.JWTClaims{Subject: subject, Extra: map[string]any{"client_id": client}},
		JWTHeader: &jwt.Headers{Extra: map[string]any{"kid": keyID, "typ": "at+jwt"}},
		Subject:   subject, Username: subject,
	}
}
