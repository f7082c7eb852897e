package server

import (
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// session is one client: over stdio, in an HTTP session, or for a single request. It is
// safe for concurrent use.
type session struct {
	id string

	mu    sync.RWMutex
	state sessionState
	level mcp.LoggingLevel // lowest level of log messages; empty until the client sets it

	asked clientRequests // sent to the client and not answered yet

	resources sessionResources // that the client has subscribed to
}

// sessionState is what initialize agreed on. The zero value is that before initialize.
type sessionState struct {
	version string // negotiated revision
	client  Client
	can     capabilities
}

// stateOf returns what the server agrees on with a client that sends initialize with
// these params (MCP 2025-11-25, Lifecycle, Initialization).
func stateOf(params value.Value) sessionState {
	version := revision(mcp.NegotiateLegacyVersion(params.Get("protocolVersion").Str()))
	return sessionState{version, clientOf(params.Get("clientInfo")), capabilitiesOf(params.Get("capabilities"), version)}
}

func newSession(id string) *session { return &session{id: id} }

// begin sets what initialize agreed on.
func (s *session) begin(state sessionState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state
}

func (s *session) agreed() sessionState {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.state
}

// ProtocolVersion returns the negotiated revision; empty before initialize.
func (s *session) ProtocolVersion() string { return s.agreed().version }

// Client returns the program that initialize named.
func (s *session) Client() Client { return s.agreed().client }

func (s *session) capabilities() capabilities { return s.agreed().can }

func (s *session) logLevel() mcp.LoggingLevel {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.level
}

func (s *session) setLogLevel(level mcp.LoggingLevel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.level = mcp.LoggingLevel(strings.Clone(string(level))) // not with the message that it is from
}
