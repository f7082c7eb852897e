package credential

import (
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// Challenge is what WWW-Authenticate says of a bearer token (RFC 6750, 3; RFC
// 9728, 5.1).
type Challenge struct {
	Code     string // invalid_token, insufficient_scope …
	Scopes   []string
	metadata string // address of the protected-resource metadata
}

// ParseChallenge returns the challenge in the header of a refusal, empty if there is
// none.
func ParseChallenge(h http.Header) Challenge {
	var c Challenge
	all, err := oauthex.ParseWWWAuthenticate(h.Values("WWW-Authenticate"))
	if err != nil {
		return c // what cannot be read says nothing
	}
	for _, one := range all {
		if c.metadata == "" {
			c.metadata = one.Params["resource_metadata"]
		}
		if one.Scheme == "bearer" {
			c.Code = one.Params["error"]
			c.Scopes = strings.Fields(one.Params["scope"])
		}
	}
	return c
}

// Refusal is how a server refused a credential.
type Refusal struct {
	Err       error // its answer
	Challenge Challenge
}
