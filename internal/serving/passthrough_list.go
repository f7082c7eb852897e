package serving

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// listTime is how long a list waits for servers. What a slower one has is left out.
const listTime = 10 * time.Second

func (t *passing) listPrompts(ctx context.Context, r *server.Request) []value.Value {
	return t.list(ctx, r, t.pool.Prompts, "name", true, func(e *config.Passthrough, name string) bool { return e.AllowsPrompt(name) })
}

func (t *passing) listResources(ctx context.Context, r *server.Request) []value.Value {
	return t.list(ctx, r, t.pool.Resources, "uri", false, func(e *config.Passthrough, uri string) bool { return e.AllowsResource(uri) })
}

func (t *passing) listTemplates(ctx context.Context, r *server.Request) []value.Value {
	return t.list(ctx, r, t.pool.ResourceTemplates, "uriTemplate", false, func(e *config.Passthrough, uri string) bool { return e.AllowsResource(uri) })
}

// listed is the list of one server.
type listed struct {
	all []value.Value
	err error
}

// list returns what passes of the lists of all servers, in the order of the file. A
// server that does not answer is left out. Names get the prefix, URIs do not.
func (t *passing) list(ctx context.Context, r *server.Request, of func(context.Context, *callinfo.Info, string) ([]value.Value, error),
	key string, prompts bool, allows func(*config.Passthrough, string) bool) []value.Value {
	t.program.NoteSecrets(&r.Info)
	r.Trace = traceOf(r)
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	found := map[string]*listed{}
	var wait sync.WaitGroup
	for _, e := range t.entries {
		if found[e.Server] != nil || prompts && len(e.Prompts) == 0 || !prompts && len(e.Resources) == 0 {
			continue
		}
		one := &listed{}
		found[e.Server] = one
		info := r.Info
		wait.Go(func() { one.all, one.err = of(ctx, &info, e.Server) })
	}
	wait.Wait()
	var all []value.Value
	for i := range t.entries {
		e := &t.entries[i]
		one := found[e.Server]
		if one == nil {
			continue
		}
		t.down.note(t.engine.Log(), e.Server, one.err, func(text string) string { return t.program.Redact(&r.Info, text) })
		for _, v := range one.all {
			if allows(e, v.Get(key).Str()) {
				all = append(all, withPrefix(cleaned(v, key), e.Prefix))
			}
		}
	}
	return all
}

// withPrefix returns a prompt, resource or template with this before its name.
func withPrefix(v value.Value, prefix string) value.Value {
	name := v.Get("name")
	if prefix == "" || name.Kind() != value.String {
		return v
	}
	b := value.NewBuilder(v.Len())
	for _, e := range v.Entries() {
		if e.Key == "name" {
			e.Value = value.FromString(prefix + name.Str())
		}
		b.Set(e.Key, e.Value)
	}
	return b.Value()
}

// downLog logs once that a server cannot be listed, until it can be again. The zero
// value is ready. It is safe for concurrent use.
type downLog struct {
	mu   sync.Mutex
	down map[string]bool
}

func (d *downLog) note(log *slog.Logger, server string, err error, redact func(string) string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil {
		delete(d.down, server)
		return
	}
	if d.down[server] {
		return
	}
	if d.down == nil {
		d.down = map[string]bool{}
	}
	d.down[server] = true
	log.Warn("what a server offers is left out of lists: it cannot be listed", "server", server, "error", redact(err.Error()))
}

// watchLists tells clients when lists of servers that pass have changed. It replaces
// what watched the program before. The caller holds s.mu.
func (s *Servers) watchLists(pool *upstream.Pool, entries []config.Passthrough) {
	if s.unwatch != nil {
		s.unwatch()
		s.unwatch = nil
	}
	if pool == nil || len(entries) == 0 {
		return
	}
	s.unwatch = pool.WatchLists(func(c upstream.ListChange) {
		var prompts, resources bool
		for _, e := range entries {
			if e.Server == c.Server {
				prompts = prompts || c.Prompts && len(e.Prompts) > 0
				resources = resources || c.Resources && len(e.Resources) > 0
			}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, one := range s.served {
			one.server.NotifyChanged(prompts, resources)
		}
	})
}
