package upstream

import (
	"context"
	"errors"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
)

// SessionInfo is what is known of a session with a server.
type SessionInfo struct {
	Server   string // the name of its entry
	Protocol string // revision of MCP that is spoken
}

// tellSent reports a request for a tool to the caller.
func (s *session) tellSent(ctx context.Context, m *wire.Message) {
	f := infoOf(ctx).Sent
	if f == nil {
		return
	}
	sent := callinfo.Sent{ID: m.ID, Protocol: m.Revision}
	if over, ok := s.link.(*wire.HTTP); ok {
		sent.Session = over.SessionID()
	}
	f(sent)
}

// errLinkEnded is the cause of the end of a session whose connection ended.
var errLinkEnded = errors.New("its connection ended")

// tellOpened calls the program's observer of sessions: now for the start, and later
// for the end.
func (s *session) tellOpened() {
	if s.server.observe == nil {
		return
	}
	ended := s.server.observe(SessionInfo{Server: s.server.entry.Name, Protocol: s.peer.revision})
	s.server.observed.Add(1)
	context.AfterFunc(s.life, func() {
		defer s.server.observed.Done()
		switch why := context.Cause(s.life); {
		case errors.Is(why, errEnded), errors.Is(why, context.Canceled): // the latter with the pool
			ended(nil)
		default:
			ended(s.server.newError("session", "", why.Error(), "", why))
		}
	})
}
