package upstream

import (
	"time"
)

// Login is what is known of a login to a server.
type Login struct {
	Server    string
	LoggedIn  bool
	Issuer    string // the authorization server; empty if it is not known
	Scopes    []string
	ExpiresAt time.Time // of the access token; zero if it is not known
	Renewable bool      // without a person
	File      string    // where it is kept
}
