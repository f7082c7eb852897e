package upstream

import (
	"context"
	"errors"
)

// SessionInfo is what is known of a session with a server.
type SessionInfo struct {
	Server   string // the name of its entry
	Protocol string // revision of MCP that is spoken
}

// Sent is a call of a tool as it was sent.
type Sent struct {
	ID       string // of the JSON-RPC request
	Session  string // the Mcp-Session-Id; empty where there is none
	Protocol string // revision of MCP that is spoken
}

type sentKey struct{}

// WithSent returns a context whose calls tell f of each request for a tool, as it
// is about to be written: one for each attempt. f must not block.
func WithSent(ctx context.Context, f func(Sent)) context.Context {
	return context.WithValue(ctx, sentKey{}, f)
}

func (s *session) tellSent(ctx context.Context, m *outgoing) {
	f, _ := ctx.Value(sentKey{}).(func(Sent))
	if f == nil {
		return
	}
	sent := Sent{ID: m.id, Protocol: m.revision}
	if over, ok := s.link.(*httpLink); ok {
		sent.Session = over.session()
	}
	f(sent)
}

// errOver is the cause of the end of a session whose connection ended.
var errOver = errors.New("its connection ended")

// tellOpened tells the program that the session has opened, and later that it
// has ended.
func (s *session) tellOpened() {
	if s.server.observe == nil {
		return
	}
	ended := s.server.observe(SessionInfo{Server: s.server.entry.Name, Protocol: s.peer.revision})
	s.server.observed.Add(1)
	context.AfterFunc(s.life, func() {
		defer s.server.observed.Done()
		switch why := context.Cause(s.life); {
		case errors.Is(why, errClosed), errors.Is(why, context.Canceled): // the latter with the pool
			ended(nil)
		default:
			ended(s.server.failure("session", "", why.Error(), "", why))
		}
	})
}
