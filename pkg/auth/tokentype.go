package auth

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

// signatures are the algorithms of tokens, as the library of signatures has them.
var signatures = func() (all []jose.SignatureAlgorithm) {
	for _, a := range algorithms {
		all = append(all, jose.SignatureAlgorithm(a))
	}
	return all
}()

// errNoJWT is returned for a token that is opaque, or signed so that only its
// issuer can verify it.
var errNoJWT = errors.New("not a JWT with an asymmetric signature")

// checkType returns an error unless token is a JWT of a type that access tokens
// have: at+jwt (RFC 9068, 2.1), or JWT or none, as many authorization servers
// still write it. Other kinds of JWTs of the same issuer, such as logout tokens
// and responses of its endpoints, are not for resource servers.
func checkType(token string) error {
	parsed, err := jose.ParseSignedCompact(token, signatures)
	if err != nil {
		return fmt.Errorf("%w: %s", errNoJWT, strings.TrimPrefix(err.Error(), "go-jose/go-jose: "))
	}
	typ, there := parsed.Signatures[0].Protected.ExtraHeaders[jose.HeaderType]
	if !there {
		return nil
	}
	// Media types without regard to case, "application/" may be left out
	// (RFC 7515, 4.1.9).
	text, _ := typ.(string)
	switch strings.TrimPrefix(strings.ToLower(text), "application/") {
	case "at+jwt", "jwt":
		return nil
	}
	return fmt.Errorf("typ is %.40v; expected at+jwt or JWT", typ)
}
