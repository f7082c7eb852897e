package upstream

import (
	"context"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/policy"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/redact"
)

// server is one entry of mcpServers: what stands between a caller and what provides its
// tools. Nothing is started before the first call.
type server struct {
	*mcpServer
	provider    Provider // the mcpServer, or what Options.Open returned
	credentials *credential.Resolver
	layers      *policy.Layers
	counters    counters
	request     requestObserver                 // Options.Request; may be nil
	intercept   Intercept                       // nil: calls go to the server
	lockedInput func(server, tool string) Input // Options.LockedInput; may be nil
	original    *config.Upstream                // the entry as the pool got it
	cancel      context.CancelFunc              // of life
	pools       []*Pool                         // those that have it and are not closed, or the last one that was; guarded by mu
}

func newServer(entry *config.Upstream, o Options) *server {
	settings := *entry
	if settings.ConnectTimeout <= 0 {
		settings.ConnectTimeout = config.DefaultConnectTimeout
	}
	if settings.Timeout <= 0 {
		settings.Timeout = config.DefaultTimeout
	}
	if settings.MaxMessageBytes <= 0 {
		settings.MaxMessageBytes = config.DefaultMaxMessageBytes
	}
	s := &server{original: entry, request: o.Request, intercept: o.Intercept, lockedInput: o.LockedInput}
	f := &faults{entry: &settings, redact: redact.New(slices.Concat(settings.Secrets, redact.URLSecrets(settings.URL)))}
	f.life, s.cancel = context.WithCancel(context.Background())
	s.mcpServer = newMCP(f, o)
	s.mcpServer.ask, s.mcpServer.all, s.dropResults = s.ask, s.layer(nil), func() { s.layers.DropResults() }
	s.own = func(next Caller) Caller { return s.identified(s.resolved, s.recovered(next)) }
	s.credentials = credential.New(s.credentialOptions(o))
	s.layers = policy.New(s.policyOptions())
	s.provider = s.mcpServer
	if o.Open != nil {
		if p, err := o.Open(s.entry, s.all); err != nil {
			s.provider = unopened{s.newError(opStart, "", "could not be opened: "+err.Error(), "", &kindError{KindUnreachable, err.Error()})}
		} else if p != nil {
			s.provider = p
		}
	}
	return s
}

// credentialOptions returns what the server's credentials are resolved with.
func (s *server) credentialOptions(o Options) credential.Options {
	out := credential.Options{
		Entry: s.entry, Redact: s.redact, Log: s.log, Life: s.life, TokenFile: o.TokenFile, OpenBrowser: o.OpenBrowser,
		LockedIssuer: s.lockedIssuer,
	}
	if source := o.Credentials[s.entry.Name]; source != nil {
		out.Source = func(ctx context.Context, info *callinfo.Info, refresh bool) (credential.Token, error) {
			t, err := source.Token(ctx, info, s.entry.Name, refresh)
			return credential.Token(t), err
		}
	}
	return out
}

// isIdle reports whether nobody uses the slot now. The server is locked.
func (slot *sessionSlot) isIdle() bool { return slot.inUse == 0 && slot.watched.Load() == 0 }

// close ends the server for good. The end of ctx cuts waiting short.
func (s *server) close(ctx context.Context) {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	_ = s.provider.Close(ctx) // nothing can be done about it any more
	s.layers.Close()
}

func (s *server) stats() Stats {
	out := Stats{
		Server: s.entry.Name, Transport: s.transport(), State: "idle",
		Opened: s.opened.Load(), Traffic: s.traffic(),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var (
		connecting, failed bool
		failure            *Error
	)
	for _, slot := range s.slots {
		slot.mu.Lock()
		switch {
		case slot.attempt != nil:
			connecting = true
		case slot.current != nil && !isClosed(slot.current.link.Done()):
			out.Sessions++
			peer := slot.current.peer
			out.Protocol, out.Name, out.Version = peer.revision, peer.name, peer.version
		case slot.failure != nil:
			failed = true
			if slot.id == "" {
				failure = slot.failure
			}
		}
		slot.mu.Unlock()
	}
	switch {
	case s.closed:
		out.State, out.Sessions = "closed", 0
		out.Protocol, out.Name, out.Version = "", "", ""
	case out.Sessions > 0:
		out.State = "connected"
	case connecting:
		out.State = "connecting"
	case failed:
		out.State, out.Failure = "failed", failure
	}
	return out
}

func (s *server) traffic() Traffic {
	layers := &s.counters.layers
	out := Traffic{
		Calls: s.counters.calls.Load(), Errors: s.counters.errors.Load(), Retries: layers.Retries.Load(),
		RateLimitWaits: layers.RateLimitWaits.Load(), CacheHits: layers.CacheHits.Load(),
	}
	for _, b := range s.layers.Breakers() {
		out.Breakers = append(out.Breakers, Breaker(b))
	}
	return out
}

// lockedIssuer returns the authorization server that the lock file has for the server;
// empty if there is none, or if differences are only logged.
func (s *server) lockedIssuer() string {
	if l := s.lock.Load(); l != nil && l.mode != lock.Warn {
		return l.locked.Issuer
	}
	return ""
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

// isMCP reports whether the server is an MCP server.
func (s *server) isMCP() bool { return s.provider == Provider(s.mcpServer) }
