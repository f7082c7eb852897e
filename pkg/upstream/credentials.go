package upstream

import (
	"context"
	"net/http"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Credentials are what the caller of a tool sent along with the call. Nothing
// of it reaches a server unless that server's entry names it (forwardHeaders,
// forwardMeta, auth).
type Credentials struct {
	// Caller names who calls, where that is known: calls of different callers
	// never share what was got with credentials.
	Caller  string
	Headers http.Header // of the incoming HTTP request
	Meta    value.Value // the _meta of the incoming request; undefined where there is none
}

type credentialsKey struct{}

// WithCredentials returns a context whose calls carry c. The headers must not
// change any more.
func WithCredentials(ctx context.Context, c Credentials) context.Context {
	return context.WithValue(ctx, credentialsKey{}, c)
}

// CredentialsOf returns what the calls of ctx carry.
func CredentialsOf(ctx context.Context) Credentials {
	c, _ := ctx.Value(credentialsKey{}).(Credentials)
	return c
}

// Token is a credential for a server, sent as "Authorization: Bearer VALUE"
// (RFC 6750, 2.1).
type Token struct {
	Value     string
	ExpiresAt time.Time // zero where it is not known
	// Identity says whom the token speaks for. Calls whose tokens have the same
	// one share sessions, caches and circuit breakers; empty means that they
	// share them only with calls that have the very same token.
	Identity string
}

// CredentialSource brings the credentials of a server along, in the place of
// the entry's auth.
type CredentialSource interface {
	// Token returns the token for a call to the server. It is asked for each
	// call, by any number of goroutines, and should keep what it has got. ctx
	// is the call's, with what [WithCredentials] put into it. refresh says that
	// the server has just refused the token, so another one is needed; the call
	// is then repeated once.
	Token(ctx context.Context, server string, refresh bool) (Token, error)
}
