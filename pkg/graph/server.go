package graph

import (
	"fmt"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// Call asks for the name of an upstream server and for a tool of it, which the
// step will call. Either is "" if there is none that may be called.
func (f *Fields) Call(serverName, serverDoc, toolName, toolDoc string) (server, tool string) {
	server = f.server(serverName, serverDoc)
	n, tool := f.text(StringField, toolName, toolDoc, nil)
	f.node.Server, f.node.Tool, f.node.toolSrc = server, tool, n
	if n == nil || server == "" {
		return server, tool
	}
	up := f.b.servers[server]
	if up.RequireApproval.Needs(tool) {
		f.node.Approval = &Approval{Once: up.RequireApproval.Once}
	}
	if !up.Tools.Allows(tool) {
		d := n.Problem(diag.CodeToolFilter, fmt.Sprintf(
			"%s calls tool %q, which \"tools\" of server %q does not allow", f.owner, tool, server))
		d.Related = []diag.Related{{File: up.File, Pos: up.Pos, Message: "the server is declared here"}}
		f.report(d)
	}
	return server, tool
}

// CallArgs is Template for the arguments of the call.
func (f *Fields) CallArgs(name, doc string, opts ...Option) *Template {
	f.node.args = f.Template(name, doc, opts...)
	return f.node.args
}

func (f *Fields) server(name, doc string) string {
	n, _ := f.text(ServerField, name, doc, nil)
	if n == nil {
		return ""
	}
	return f.b.server(n, f.owner, "calls")
}

// server returns the name of a server at n, or "" if there is none, which it
// reports. owner is what names the server, verb what it does with it.
func (b *builder) server(n *config.Node, owner, verb string) string {
	server := n.Text().String()
	if b.servers[server] != nil {
		b.used[server] = true
		return server
	}
	if off := b.disabled[server]; off != nil {
		d := n.Problem(diag.CodeDisabledServer, fmt.Sprintf("%s %s server %q, which is disabled", owner, verb, server))
		d.Hint = "set disabled: false in its entry, or call another server"
		d.Related = []diag.Related{{File: off.File, Pos: off.Pos, Message: "the server is declared here"}}
		b.report(d)
		return ""
	}
	d := n.Problem(diag.CodeUnknownServer, fmt.Sprintf("%s names server %q, which does not exist", owner, server))
	if near, ok := b.serverNames.Nearest(server); ok {
		b.used[near] = true
		d.Hint = fmt.Sprintf("did you mean %q?", near)
	} else if len(b.servers) > 0 {
		d.Hint = "add it under mcpServers, or give its file with --mcp FILE; servers of this file are " + b.serverNames.List(server)
	} else {
		d.Hint = "add it under mcpServers, or give its file with --mcp FILE"
	}
	b.report(d)
	return ""
}

// engine checks the servers that have workers of their own.
func (b *builder) engine() {
	if b.file.Engine == nil {
		return
	}
	for _, n := range b.file.Engine.Node.Get("servers").Items() {
		if n.IsString() && b.servers[n.Text().String()] == nil { // it does not call those that there are
			b.server(n, `"engine"`, "names")
		}
	}
}

// unusedServers reports the servers of the file that no node calls. Those of
// other files were only read because a node names them.
func (b *builder) unusedServers() {
	for _, up := range b.file.Upstreams {
		if b.used[up.Name] || up.File != b.file.Path {
			continue
		}
		b.report(diag.Diagnostic{
			File: up.File, Pos: up.Pos, Severity: diag.SeverityOf(diag.CodeUnusedServer),
			Code:    diag.CodeUnusedServer,
			Message: fmt.Sprintf("no node calls server %q", up.Name),
		})
	}
}

// Called returns the tools that nodes call, in bodies too, by the name of the
// server. They are sorted and as nodes name them.
func (s *Set) Called() map[string][]string {
	called := map[string][]string{}
	for _, g := range s.Graphs {
		for _, n := range g.all() {
			if n.Server != "" && n.Tool != "" {
				called[n.Server] = append(called[n.Server], n.Tool)
			}
		}
	}
	for server, tools := range called {
		slices.Sort(tools)
		called[server] = slices.Compact(tools)
	}
	return called
}
