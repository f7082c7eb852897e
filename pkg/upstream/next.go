package upstream

import (
	"log/slog"
	"reflect"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/redact"
)

// Next returns a pool of the entries, for a reload. It takes over the servers of p
// whose entries say the same as before, with their sessions, caches, circuit
// breakers and statistics. The others get the options o and are not started yet.
// Both pools can be used. A server ends when every pool that has it is closed.
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
	if o.LockMode == "" {
		o.LockMode = lock.Default
	}
	next := &Pool{servers: make(map[string]*server, len(entries)), callers: make(map[string]Caller, len(entries)), lockMode: o.LockMode}
	if o.LockMode != lock.Off {
		next.lock = o.Lock
	}
	redactors := make([]*redact.Redactor, 0, len(entries))
	for _, entry := range entries {
		s := p.servers[entry.Name]
		if s == nil || !sameEntry(s.original, entry) || !s.retain(next) {
			s = newServer(entry, o)
			s.retain(next)
		}
		s.lock.Store(newToolLock(entry.Name, o, s.lock.Load(), s.log))
		next.servers[entry.Name] = s
		next.callers[entry.Name] = s.layer(next)(s.call)
		next.names = append(next.names, entry.Name)
		redactors = append(redactors, s.redact)
		next.personal = next.personal || s.credentials.IsPersonal()
	}
	next.redact = redact.New(o.Secrets, redactors...)
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
	x.ForwardHeaders, y.ForwardHeaders = withoutPositions(x.ForwardHeaders), withoutPositions(y.ForwardHeaders)
	x.ForwardMeta, y.ForwardMeta = withoutPositions(x.ForwardMeta), withoutPositions(y.ForwardMeta)
	return reflect.DeepEqual(x, y)
}

func withoutPositions(all []config.Forward) []config.Forward {
	all = slices.Clone(all)
	for i := range all {
		all[i].Pos = diag.Pos{}
	}
	return all
}

// retain adds a pool to those that have the server, and reports whether it could: not
// where the server has been closed.
func (s *server) retain(p *Pool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.pools = append(s.pools, p)
	return true
}

// release takes a pool from those that have the server, and reports whether that
// is now closed: nobody else has it.
func (s *server) release(p *Pool) (closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch i := slices.Index(s.pools, p); {
	case i < 0:
	case len(s.pools) == 1:
		s.closed = true
	default:
		s.pools = slices.Delete(s.pools, i, i+1)
	}
	return s.closed
}

// isNewestPool reports whether p was the last to take the server over, of the pools that
// have it.
func (s *server) isNewestPool(p *Pool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pools[len(s.pools)-1] == p
}
