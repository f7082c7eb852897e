package upstream

import (
	"context"
	"net/http"
)

// identity stands for the credentials of a call. Calls of one identity share
// sessions, caches and breakers. Empty is nobody in particular.
type identity string

// grant is what one call may carry to its server.
type grant struct {
	id identity
	// headers returns the headers that prove it; nil where there are none.
	headers func(context.Context) (http.Header, error)
}

// authority decides what calls of one server may carry.
type authority struct{ nobody grant }

func newAuthority(*server, Options) *authority { return &authority{} }

// grant returns what this call may carry.
func (a *authority) grant(context.Context) (*grant, error) { return &a.nobody, nil }

// refused returns a grant in the place of one that the server has refused with
// the challenge, or the challenge where there is no other.
func (a *authority) refused(_ context.Context, _ *grant, challenge error) (*grant, error) {
	return nil, challenge
}
