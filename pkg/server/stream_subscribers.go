package server

import (
	"sync"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// subscribers are the clients that accept notifications outside of a request.
// The zero value has none. It is safe for concurrent use.
type subscribers struct {
	mu  sync.Mutex
	all map[*subscriber]struct{}
}

// subscriber is one client.
type subscriber struct {
	wants func(method string) bool
	send  func(method string, params value.Value)
}

// add adds a client: send is called with the notifications for whose method
// wants reports true. Neither may block, add or remove subscribers. remove,
// which may be called more than once, removes the client.
func (s *subscribers) add(wants func(method string) bool, send func(method string, params value.Value)) (remove func()) {
	added := &subscriber{wants, send}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[*subscriber]struct{}{}
	}
	s.all[added] = struct{}{}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.all, added)
	}
}

// notify sends a notification to every client that wants its method.
func (s *subscribers) notify(method string, params value.Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for m := range s.all {
		if m.wants(method) {
			m.send(method, params)
		}
	}
}
