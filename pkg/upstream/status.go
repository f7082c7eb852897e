package upstream

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Status is the state of a server, as it answers now.
type Status struct {
	Server    string
	Transport string // stdio, http, sse or websocket; the entry's, or what was found out
	Protocol  string // revision of MCP that is spoken; empty before the handshake
	// Name and Version are the server's own. Name, Version and Title are cut at 256
	// bytes.
	Name, Version string
	// Title and Instructions are what the server says of itself; they may be empty.
	// Instructions are cut at 16 KiB.
	Title, Instructions string
	// Issuer is the authorization server that the server named; empty if it needs none,
	// or if its entry names one.
	Issuer string
	// Tools are as Pool.Tools returns them.
	Tools []value.Value
	// CallsTasks says that tools can be called that can only be called as tasks.
	CallsTasks bool
	// Prompts, Resources and Templates count what the server has beside tools; 0 also if
	// it cannot list them.
	Prompts, Resources, Templates int
	// RoundTrip is the time of one question and answer: a ping, or since
	// 2026-07-28 server/discover. It is 0 if the server does not answer that.
	RoundTrip time.Duration
}

// OfferCount is how many prompts, resources or resource templates a server has.
type OfferCount struct {
	Member string // of JSON documents: prompts, resources or resourceTemplates
	Word   string // for one of them
	Count  int
}

// Offers returns what the server has beside tools, without that of which there is none.
func (s Status) Offers() []OfferCount {
	return slices.DeleteFunc([]OfferCount{
		{"prompts", "prompt", s.Prompts}, {"resources", "resource", s.Resources}, {"resourceTemplates", "resource template", s.Templates},
	}, func(c OfferCount) bool { return c.Count == 0 })
}

// Status returns the state of a server. It connects if there is no connection, sends
// a ping, lists the tools, and counts prompts and resources. ctx bounds the wait. Errors are *[Error]; the status
// then holds what was found before. info may be nil.
func (p *Pool) Status(ctx context.Context, info *callinfo.Info, server string) (Status, error) {
	s, err := p.server("status", server, "")
	if err != nil {
		return Status{Server: server}, err
	}
	out := Status{Server: s.entry.Name}
	err = s.onSession(ctx, info, mcp.MethodPing, func(ctx context.Context, session *session) error {
		out.Protocol, out.Name, out.Version = session.peer.revision, session.peer.name, session.peer.version
		out.Title, out.Instructions = session.peer.title, session.peer.instructions
		out.CallsTasks = session.callsTasks()
		took, err := session.ping(ctx)
		if err == nil {
			out.RoundTrip = took
		} else if !errors.Is(err, KindTimeout) { // some servers ignore what they do not know
			return err
		}
		if out.Tools, err = session.tools(ctx); err != nil {
			return err
		}
		for l, count := range map[listing]*int{listOfPrompts: &out.Prompts, listOfResources: &out.Resources, listOfTemplates: &out.Templates} {
			all, err := session.offered(ctx, l, nil)
			if *count = len(all); err != nil {
				s.log.Debug("cannot list "+l.member, "error", s.redact.Err(err))
			}
		}
		return nil
	})
	out.Transport, out.Issuer = s.transport(), s.credentials.DiscoveredIssuer()
	return out, err
}

// transport returns the entry's transport, or HTTP+SSE if the server speaks only that.
func (s *server) transport() string {
	if era(s.era.Load()) == eraSSE {
		return config.SSE
	}
	return s.entry.Transport
}

// statusPingTime is how long a server may take to answer a ping.
const statusPingTime = 5 * time.Second

// ping returns how long a question and its answer take.
func (s *session) ping(ctx context.Context) (time.Duration, error) {
	method := mcp.MethodPing
	if s.peer.modern() {
		method = mcp.MethodServerDiscover // there is no ping
	}
	began := time.Now()
	_, err := s.request(ctx, &wire.Message{Method: string(method)}, min(statusPingTime, s.server.entry.Timeout))
	var rpc *RPCError
	if errors.As(err, &rpc) && !s.forgotten(err) {
		err = nil // an answer it is
	}
	return time.Since(began), err
}

// Stats is what a pool knows of a server without asking it.
type Stats struct {
	Server    string `json:"server"`
	Transport string `json:"transport"`
	// State is "idle" before the first call and when every session has ended,
	// "connecting", "connected", "failed" where the last attempt to open a
	// session failed, or "closed".
	State string `json:"state"`
	// Failure is that of the last attempt to open a session where State is
	// "failed", unless it was opened for a caller with credentials of its own,
	// whose affair it is.
	Failure *Error `json:"error,omitempty"`
	// Protocol is the revision of MCP that is spoken, Name and Version are the
	// server's own; empty if no session is open.
	Protocol string `json:"protocol,omitempty"`
	Name     string `json:"name,omitempty"`
	Version  string `json:"version,omitempty"`
	Sessions int    `json:"sessions"` // open now, one for each identity that calls
	Opened   int64  `json:"opened"`   // sessions opened so far
	Traffic
}

// Stats returns the state of each server, in the order in which the pool got
// them. It asks and starts none. A server that another pool has taken over is
// among that pool's.
func (p *Pool) Stats() []Stats {
	all := make([]Stats, 0, len(p.names))
	for _, name := range p.names {
		if s := p.servers[name]; s.isNewestPool(p) {
			all = append(all, s.stats())
		}
	}
	return all
}

func (s *server) stats() Stats {
	out := Stats{
		Server: s.entry.Name, Transport: s.transport(), State: "idle",
		Opened: s.opened.Load(), Traffic: s.traffic(),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var (
		connecting, failed bool
		failure            *Error
	)
	for _, slot := range s.slots {
		slot.mu.Lock()
		switch {
		case slot.attempt != nil:
			connecting = true
		case slot.current != nil && !isClosed(slot.current.link.Done()):
			out.Sessions++
			peer := slot.current.peer
			out.Protocol, out.Name, out.Version = peer.revision, peer.name, peer.version
		case slot.failure != nil:
			failed = true
			if slot.id == "" {
				failure = slot.failure
			}
		}
		slot.mu.Unlock()
	}
	switch {
	case s.closed:
		out.State, out.Sessions = "closed", 0
		out.Protocol, out.Name, out.Version = "", "", ""
	case out.Sessions > 0:
		out.State = "connected"
	case connecting:
		out.State = "connecting"
	case failed:
		out.State, out.Failure = "failed", failure
	}
	return out
}
