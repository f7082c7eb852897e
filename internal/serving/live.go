package serving

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
)

// ServerStatus is what was found out about one server.
type ServerStatus struct {
	Entry  *config.Upstream
	Status upstream.Status
	Stats  upstream.Stats // as they were afterwards
	Err    error          // an *upstream.Error where the server cannot be used
}

// Status connects to every server of a program, all at once, and returns what is
// there, in the order of the file. A server has its connectTimeoutMs and its
// timeoutMs, taken together, to answer. info is what the requests carry; it may be
// nil.
func Status(ctx context.Context, info *callinfo.Info, p *engine.Program) []ServerStatus {
	pool, servers := p.Pool(), p.Set().File.Upstreams
	if pool == nil {
		return nil
	}
	if info != nil {
		p.NoteSecrets(info)
	}
	found := make([]ServerStatus, len(servers))
	var wait sync.WaitGroup
	for i, entry := range servers {
		wait.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, entry.ConnectTimeout+entry.Timeout)
			defer cancel()
			status, err := pool.Status(ctx, info, entry.Name)
			found[i] = ServerStatus{
				Entry: entry, Status: status, Err: err,
				Stats: upstream.Stats{Server: entry.Name, Transport: entry.Transport},
			}
		})
	}
	wait.Wait()
	for _, stats := range pool.Stats() { // without those that another program has by now
		i := slices.IndexFunc(found, func(s ServerStatus) bool { return s.Entry.Name == stats.Server })
		found[i].Stats = stats
	}
	return found
}

// CheckLive connects to every server of a program, as Status does, and compares
// what nodes call with the tools that are there. The diagnostics are sorted by
// place.
func CheckLive(ctx context.Context, info *callinfo.Info, p *engine.Program) []diag.Diagnostic {
	var ds []diag.Diagnostic
	for _, s := range Status(ctx, info, p) {
		if s.Err != nil {
			ds = append(ds, unreachable(s))
			continue
		}
		ds = append(ds, p.Set().CheckTools(s.Entry.Name, s.Status.Tools, s.Status.CallsTasks)...)
	}
	diag.Sort(ds)
	return ds
}

func unreachable(s ServerStatus) diag.Diagnostic {
	d := diag.Diagnostic{
		File: s.Entry.File, Pos: s.Entry.Pos,
		Severity: diag.SeverityOf(diag.CodeServerDown), Code: diag.CodeServerDown,
		Message: s.Err.Error(),
	}
	var err *upstream.Error
	if errors.As(s.Err, &err) {
		d.Message, d.Hint = fmt.Sprintf("server %q: %s", err.Server, err.Message), err.Hint
		if n := len(err.Stderr); n > 0 {
			d.Message += fmt.Sprintf("; its last line on stderr: %q", err.Stderr[n-1])
		}
	}
	return d
}
