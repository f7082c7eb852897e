package server

import (
	"log/slog"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// session is one client: of a pair of pipes, of an HTTP session, or of a single
// request. The library records in it what the client said about itself.
type session struct {
	id string

	mu            sync.RWMutex
	notifications chan mcp.JSONRPCNotification // nil until the library has some
	initialized   bool
	version       string
	client        mcp.Implementation
	capabilities  mcp.ClientCapabilities
	level         mcp.LoggingLevel // empty until the client sets one
}

var (
	_ mcpserver.SessionWithClientInfo      = (*session)(nil)
	_ mcpserver.SessionWithProtocolVersion = (*session)(nil)
	_ mcpserver.SessionWithLogging         = (*session)(nil)
)

func newSession(id string) *session {
	return &session{id: id}
}

func (s *session) SessionID() string { return s.id }

func (s *session) NotificationChannel() chan<- mcp.JSONRPCNotification {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.notifications == nil {
		s.notifications = make(chan mcp.JSONRPCNotification, 64)
	}
	return s.notifications
}

func (s *session) Initialize() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.initialized = true
}

func (s *session) Initialized() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.initialized
}

func (s *session) ProtocolVersion() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.version
}

func (s *session) SetProtocolVersion(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = version
}

func (s *session) GetClientInfo() mcp.Implementation {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.client
}

func (s *session) SetClientInfo(client mcp.Implementation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.client = client
}

func (s *session) GetClientCapabilities() mcp.ClientCapabilities {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.capabilities
}

func (s *session) SetClientCapabilities(c mcp.ClientCapabilities) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.capabilities = c
}

func (s *session) GetLogLevel() mcp.LoggingLevel {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.level
}

func (s *session) SetLogLevel(level mcp.LoggingLevel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.level = level
}

// drain sends what the library told the session while it handled a request, so
// that it arrives before the request's answer.
func (s *session) drain(log *slog.Logger, send func([]byte)) {
	s.mu.RLock()
	notifications := s.notifications
	s.mu.RUnlock()
	for {
		select {
		case n := <-notifications:
			encoded, err := appendJSON(nil, n)
			if err != nil {
				log.Error("a notification cannot be encoded", "method", n.Method, "error", err)
				continue
			}
			send(encoded)
		default:
			return
		}
	}
}
