package server

import (
	"sync"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// audience are the clients that can be told something that they did not ask for
// just now. The zero value is one without clients. It is safe for concurrent use.
type audience struct {
	mu      sync.Mutex
	members map[*member]struct{}
}

// member is one client of an audience.
type member struct {
	wants func(method string) bool
	send  func(method string, params value.Value)
}

// join adds a client: send tells it of the notifications for whose method wants
// reports true. Neither may wait, join or leave. After leave, which may be
// called more than once, neither is called.
func (a *audience) join(wants func(method string) bool, send func(method string, params value.Value)) (leave func()) {
	m := &member{wants, send}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.members == nil {
		a.members = map[*member]struct{}{}
	}
	a.members[m] = struct{}{}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.members, m)
	}
}

// tell sends a notification to every client that wants those of its method.
func (a *audience) tell(method string, params value.Value) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for m := range a.members {
		if m.wants(method) {
			m.send(method, params)
		}
	}
}
