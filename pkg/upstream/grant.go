package upstream

import (
	"context"
	"errors"
	"net/http"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// identity stands for the credentials of a call: a hash, never the credential
// itself. Calls of one identity share sessions, caches and breakers. Empty is
// nobody in particular.
type identity string

// grant is what one call may carry to its server.
type grant struct {
	id identity
	// headers returns the headers that prove it, with the token that is good
	// now; nil where there are none.
	headers func(context.Context) (http.Header, error)

	secrets []string // of the caller, whom the call is for
	token   string   // that the call began with; empty where it has none
	keeper  *keeper  // of that token; nil where it is not kept
	hint    string   // what to do when the server refuses it
}

// credentialError says that a call has not got the credential that it needs,
// or that it is not good.
type credentialError struct {
	message, hint string
	err           error // the server's answer; nil where it was not asked
}

// Error returns what is wrong, and what to do about it.
func (e *credentialError) Error() string {
	if e.hint == "" {
		return e.message
	}
	return e.message + "; " + e.hint
}

// Unwrap returns the server's answer.
func (e *credentialError) Unwrap() error { return e.err }

// carry sets what the requests of the grant carry: the forwarded headers, and
// the token where none of them is one.
func (g *grant) carry(forwarded http.Header) {
	g.headers = func(ctx context.Context) (http.Header, error) {
		h := forwarded.Clone()
		if h == nil {
			h = http.Header{}
		}
		token := g.token
		if g.keeper != nil {
			t, err := g.keeper.get(ctx)
			if err != nil {
				return nil, err
			}
			token = t.Value
			if r := noteOf(ctx); r != nil {
				r.learn(token) // which may be another one by now
			}
		}
		if token != "" && h.Get("Authorization") == "" {
			h.Set("Authorization", "Bearer "+token)
		}
		return h, nil
	}
}

// clean takes what the caller sent out of an error. What the server's own
// secrets are is taken out where the error is made.
func (g *grant) clean(err error) error {
	var e *Error
	if len(g.secrets) == 0 || !errors.As(err, &e) {
		return err
	}
	r := newRedactor(g.secrets)
	own := *e
	own.Message, own.Hint, own.Err = r.text(e.Message), r.text(e.Hint), r.err(e.Err)
	own.Stderr = make([]string, len(e.Stderr))
	for i, line := range e.Stderr {
		own.Stderr[i] = r.text(line)
	}
	return &own
}

// cleanReply takes secrets out of a tool's result that is an error, which ends
// up in error texts. Others are the caller's own, and stay as they are.
func (g *grant) cleanReply(reply value.Value, own *redactor) value.Value {
	if !reply.Get("isError").Bool() {
		return reply
	}
	return reply.Rewritten(own.with(g.secrets).text)
}
