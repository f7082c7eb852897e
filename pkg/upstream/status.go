package upstream

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
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
