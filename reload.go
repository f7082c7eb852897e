package mcpgraph

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Changes are what a Reload changed, by name, in the order of the file.
type Changes struct {
	ToolsAdded, ToolsChanged, ToolsRemoved []string
	// ServersKept have their connections still; ServersChanged are connected anew
	// when they are next needed.
	ServersKept, ServersAdded, ServersChanged, ServersRemoved []string
}

// Reload reads the file again, with the files of WithMCPFiles, and puts what it
// finds in the place of what was: tools, who may come in over HTTP, limits, and
// servers, of which those whose entries have not changed keep their connections,
// caches and circuit breakers. Clients that are served are told where their list
// of tools has changed. Calls under way run to their ends on the graphs that they
// began with; servers that are not in the file any more end after the last of
// them.
//
// The error is a *LoadError, or says why what is served cannot be replaced; nothing
// has changed then.
func (e *Engine) Reload() (*Changes, error) {
	e.reloading.Lock()
	defer e.reloading.Unlock()
	p, err := e.compile()
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, errors.New("the engine has been closed")
	}
	old := e.current.Load()
	p.keepGuard(old)
	for _, s := range e.serving {
		opts, err := p.published(s.http)
		if err == nil {
			err = s.server.Check(opts)
		}
		if err != nil {
			return nil, err
		}
	}
	p.connect(old)
	e.keepAlive(append(slices.Clip(e.alive()), p))
	for _, s := range e.serving {
		opts, _ := p.published(s.http) // what it says of errors is known
		if err := s.server.Replace(opts); err != nil {
			e.opts.log.Error("a server could not be given the new tools", "error", err)
		}
		s.start(p)
	}
	e.current.Store(p)
	changes := p.changes(old)
	old.release()
	return changes, nil
}

// keepGuard takes over the guard of the program before that takes the tokens of
// the same issuer: another one would know nothing of its keys, and let nobody in
// where it cannot be asked just now.
func (p *program) keepGuard(old *program) {
	was, now := old.set.File.Server.Auth, p.set.File.Server.Auth
	if now != nil && now.Type == config.AuthOAuth && reflect.DeepEqual(was, now) {
		p.guard = old.guard
	}
}

// changes compares a program with the one before.
func (p *program) changes(old *program) *Changes {
	var c Changes
	before, now := old.fingerprints(), p.fingerprints()
	for _, g := range p.set.Graphs {
		switch was, there := before[g.Name]; {
		case !there:
			c.ToolsAdded = append(c.ToolsAdded, g.Name)
		case was != now[g.Name]:
			c.ToolsChanged = append(c.ToolsChanged, g.Name)
		}
	}
	for _, g := range old.set.Graphs {
		if _, there := now[g.Name]; !there {
			c.ToolsRemoved = append(c.ToolsRemoved, g.Name)
		}
	}
	had := func(of *program, name string) bool {
		return slices.ContainsFunc(of.set.File.Upstreams, func(u *config.Upstream) bool { return u.Name == name })
	}
	for _, u := range p.set.File.Upstreams {
		switch {
		case !had(old, u.Name):
			c.ServersAdded = append(c.ServersAdded, u.Name)
		case p.upstreams.pool != nil && !p.upstreams.pool.Has(u.Name, old.upstreams.pool):
			c.ServersChanged = append(c.ServersChanged, u.Name)
		default:
			c.ServersKept = append(c.ServersKept, u.Name)
		}
	}
	for _, u := range old.set.File.Upstreams {
		if !had(p, u.Name) {
			c.ServersRemoved = append(c.ServersRemoved, u.Name)
		}
	}
	return &c
}

// fingerprints gives for each tool, by name, a text that differs where the tool
// does.
func (p *program) fingerprints() map[string]string {
	file := p.set.File
	shared := map[string]string{} // nodes of the flat layout, by id
	for _, n := range file.Nodes {
		shared[n.Get("id").Text().String()] = n.Value().JSON()
	}
	written := map[string][]*config.Node{}
	for _, t := range file.Tools {
		written[t.Name.String()] = t.Nodes
	}
	tools := p.tools()
	prints := make(map[string]string, len(tools))
	for i, t := range tools {
		g := p.set.Graphs[i]
		parts := []string{
			strconv.Quote(t.Title), strconv.Quote(t.Description), strconv.Quote(strings.Join(t.RequiredScopes, " ")),
			strconv.Itoa(g.Limits.MaxNodeExecutions), g.Limits.MaxExecutionTime.String(),
		}
		for _, v := range []value.Value{t.InputSchema, t.OutputSchema, t.Annotations, t.Icons} {
			parts = append(parts, v.JSON())
		}
		for _, n := range written[t.Name] {
			parts = append(parts, n.Value().JSON())
		}
		if file.Flat {
			for _, n := range g.Nodes {
				parts = append(parts, shared[n.ID])
			}
		}
		prints[t.Name] = strings.Join(parts, "\n")
	}
	return prints
}
