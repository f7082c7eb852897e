package server

import (
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// session is one client: of a pair of pipes, of an HTTP session, or of a single
// request. It is safe for concurrent use.
type session struct {
	id string

	mu      sync.RWMutex
	version string           // the revision that was agreed on; empty before initialize
	client  Client           // what initialize says of the program
	level   mcp.LoggingLevel // of the log messages that the client wants; empty until it says so
}

func newSession(id string) *session { return &session{id: id} }

// ProtocolVersion returns the revision that was agreed on; empty before initialize.
func (s *session) ProtocolVersion() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.version
}

func (s *session) initialize(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = version
}

func (s *session) logLevel() mcp.LoggingLevel {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.level
}

func (s *session) setLogLevel(level mcp.LoggingLevel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.level = level
}

// Client returns what the program said of itself in initialize.
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
