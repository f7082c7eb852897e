package upstream

import (
	"log/slog"
	"reflect"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// Next returns a pool of the entries that takes over the servers of p whose
// entries have not changed but for their places, with their sessions, caches,
// circuit breakers and statistics; o is for the others, of which it starts none.
// Both pools can be used, and a server ends when every pool that has it is
// closed.
func (p *Pool) Next(entries []*config.Upstream, o Options) *Pool {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.ClientName == "" {
		o.ClientName = "mcpgraph"
	}
	if o.ClientVersion == "" {
		o.ClientVersion = "dev"
	}
	next := &Pool{servers: make(map[string]*server, len(entries)), redact: newRedactor(o.Secrets)}
	for _, entry := range entries {
		s := p.servers[entry.Name]
		if s == nil || !sameEntry(s.given, entry) || !s.own(next) {
			s = newServer(entry, o)
			s.own(next)
		}
		next.servers[entry.Name] = s
		next.names = append(next.names, entry.Name)
		next.redact.above = append(next.redact.above, s.redact)
		next.personal = next.personal || s.authority.isPersonal()
	}
	return next
}

// Has reports whether the pool has the very server that other has under this
// name.
func (p *Pool) Has(name string, other *Pool) bool {
	s := p.servers[name]
	return s != nil && s == other.servers[name]
}

// sameEntry reports whether two entries differ in nothing but their places.
func sameEntry(a, b *config.Upstream) bool {
	x, y := *a, *b
	x.File, y.File = "", ""
	x.Pos, y.Pos = diag.Pos{}, diag.Pos{}
	x.ForwardHeaders, y.ForwardHeaders = placeless(x.ForwardHeaders), placeless(y.ForwardHeaders)
	x.ForwardMeta, y.ForwardMeta = placeless(x.ForwardMeta), placeless(y.ForwardMeta)
	return reflect.DeepEqual(x, y)
}

func placeless(all []config.Forward) []config.Forward {
	all = slices.Clone(all)
	for i := range all {
		all[i].Pos = diag.Pos{}
	}
	return all
}

// own adds a pool to those that have the server, and reports whether it could: not
// where the server has been closed.
func (s *server) own(p *Pool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.owners = append(s.owners, p)
	return true
}

// disown takes a pool from those that have the server, and reports whether that
// is now closed: nobody else has it.
func (s *server) disown(p *Pool) (closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch i := slices.Index(s.owners, p); {
	case i < 0:
	case len(s.owners) == 1:
		s.closed = true
	default:
		s.owners = slices.Delete(s.owners, i, i+1)
	}
	return s.closed
}

// isOf reports whether p was the last to take the server over, of the pools that
// have it.
func (s *server) isOf(p *Pool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.owners[len(s.owners)-1] == p
}
