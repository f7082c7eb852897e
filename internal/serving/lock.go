package serving

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
)

// Lock connects to the servers of a program, all at once, and returns what is to be
// locked of them and of the tools that nodes call. names restricts it to some
// servers; empty means all. info is what the requests carry; it may be nil. The
// error holds an *upstream.Error for each server that cannot be used.
func Lock(ctx context.Context, info *callinfo.Info, p *engine.Program, names []string) (*lock.File, error) {
	pool := p.Pool()
	if pool == nil {
		return nil, errors.New("there are no servers to lock: the program calls tools itself")
	}
	entries := p.Set().File.Upstreams
	if len(names) > 0 {
		entries = slices.DeleteFunc(slices.Clone(entries), func(u *config.Upstream) bool { return !slices.Contains(names, u.Name) })
	}
	called := p.Set().Called()
	if info != nil {
		p.NoteSecrets(info)
	}
	servers := make([]*lock.Server, len(entries))
	errs := make([]error, len(entries))
	var wait sync.WaitGroup
	for i, entry := range entries {
		wait.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, entry.ConnectTimeout+entry.Timeout)
			defer cancel()
			status, err := pool.Status(ctx, info, entry.Name)
			if err != nil {
				errs[i] = err
				return
			}
			s := lock.NewServer(entry.Name, entry.NamePrefix, status.Tools, called[entry.Name])
			s.ServerName, s.Version, s.Protocol, s.Issuer = status.Name, status.Version, status.Protocol, status.Issuer
			s.NoTasks = !status.CallsTasks && slices.ContainsFunc(s.Tools, func(t *lock.Tool) bool { return lock.IsTaskOnly(t.Execution) })
			for j, name := range s.ToolNames {
				if !slices.Contains(called[entry.Name], name) { // those that are stand in the configuration
					s.ToolNames[j] = p.Redact(info, name)
				}
			}
			slices.Sort(s.ToolNames)
			s.ToolNames = slices.Compact(s.ToolNames)
			servers[i] = s
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	f := &lock.File{}
	for _, s := range servers {
		f = f.With(s)
	}
	return f, nil
}
