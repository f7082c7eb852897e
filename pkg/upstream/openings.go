package upstream

import (
	"slices"
	"time"
)

// maxOpenings is how many openings of sessions a server remembers.
const maxOpenings = 32

// Opening is a time in which calls waited for a session to be opened: its process was
// started, or its address was connected, and the handshake was made.
type Opening struct {
	Server   string
	From, To time.Time
}

// Openings returns the latest openings of sessions that succeeded, at most 32 of each
// server, in the order of the servers and then of time. It asks and starts none.
func (p *Pool) Openings() []Opening {
	var all []Opening
	for _, name := range p.names {
		if s := p.servers[name]; s.isNewestPool(p) {
			s.mu.Lock()
			all = append(all, s.openings...)
			s.mu.Unlock()
		}
	}
	return all
}

// sessionOpened notes that a session was opened.
func (s *server) sessionOpened(from time.Time) {
	s.opened.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.openings) == maxOpenings {
		s.openings = slices.Delete(s.openings, 0, 1)
	}
	s.openings = append(s.openings, Opening{s.entry.Name, from, time.Now()})
}
