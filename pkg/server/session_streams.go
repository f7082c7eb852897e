package server

import (
	"slices"
	"sync"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// maxStreams is the largest number of event streams of one session. A client
// that opens more has probably lost the oldest.
const maxStreams = 4

// sessionStreams are the open event streams of one session. The zero value is
// ready. It is safe for concurrent use.
type sessionStreams struct {
	mu    sync.Mutex
	open  []*eventStream // newest last
	ended bool
}

// eventStream is a stream that a client opened for notifications that belong to
// no request.
type eventStream struct {
	*httpResponse
	quit chan struct{} // closed when the stream must end
}

// add adds a stream, and ends the oldest if there are too many. It reports
// false if the session has ended.
func (s *sessionStreams) add(stream *eventStream) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	if len(s.open) == maxStreams {
		close(s.open[0].quit)
		s.open = s.open[1:]
	}
	s.open = append(s.open, stream)
	return true
}

func (s *sessionStreams) remove(stream *eventStream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = slices.DeleteFunc(s.open, func(o *eventStream) bool { return o == stream })
}

// notify sends a notification on the newest stream that accepts it (MCP
// 2025-11-25, Transports, Multiple Connections). It drops the notification if
// there is none, and does not block.
func (s *sessionStreams) notify(method string, params value.Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stream := range slices.Backward(s.open) {
		if stream.sendEvent(jsonrpc.AppendNotification(nil, method, params)) {
			return
		}
	}
}

// end ends all streams and makes add refuse further ones.
func (s *sessionStreams) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for _, stream := range s.open {
		close(stream.quit)
	}
	s.open = nil
}
