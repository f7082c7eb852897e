package server

import (
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// session is the state of one client: over stdio, in an HTTP session, or for a
// single request. It is safe for concurrent use.
type session struct {
	id string

	mu      sync.RWMutex
	version string           // negotiated revision; empty before initialize
	client  Client           // from initialize
	level   mcp.LoggingLevel // lowest level of log messages; empty until the client sets it
	can     capabilities     // from initialize

	asked clientRequests // sent to the client and not answered yet

	resources sessionResources // that the client has subscribed to
}

func newSession(id string) *session { return &session{id: id} }

// ProtocolVersion returns the negotiated revision; empty before initialize.
func (s *session) ProtocolVersion() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.version
}

func (s *session) initialize(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = revision(version)
}

func (s *session) setCapabilities(declared value.Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.can = capabilitiesOf(declared, s.version)
}

func (s *session) capabilities() capabilities {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.can
}

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

// Client returns the program that initialize named.
func (s *session) Client() Client {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.client
}

func (s *session) setClient(c Client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.client = c
}
