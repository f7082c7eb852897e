package server

import (
	"slices"
	"sync"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// maxStreams is how many standing streams a session has at most. A client that
// opens more has lost sight of the older ones.
const maxStreams = 4

// streams are the standing streams of one session. The zero value has none. It is
// safe for concurrent use.
type streams struct {
	mu   sync.Mutex
	open []*standing // the newest last
	over bool
}

// standing is a stream that its client opened to hear what it did not ask for.
type standing struct {
	*reply
	quit chan struct{} // closed when it has to end
}

// add takes a stream in; where there are too many the oldest ends. It reports
// whether the session still takes any.
func (s *streams) add(one *standing) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return false
	}
	if len(s.open) == maxStreams {
		close(s.open[0].quit)
		s.open = s.open[1:]
	}
	s.open = append(s.open, one)
	return true
}

func (s *streams) remove(one *standing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = slices.DeleteFunc(s.open, func(o *standing) bool { return o == one })
}

// tell sends a notification on one of the streams (MCP 2025-11-25, Transports,
// Multiple Connections), the newest that takes it. Where there is none the
// client does not listen. It does not wait.
func (s *streams) tell(method string, params value.Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range slices.Backward(s.open) {
		if one.event(jsonrpc.AppendNotification(nil, method, params)) {
			return
		}
	}
}

// end ends the streams, and takes no more.
func (s *streams) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	for _, one := range s.open {
		close(one.quit)
	}
	s.open = nil
}
