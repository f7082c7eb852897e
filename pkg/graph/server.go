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
	up := f.b.servers.byName[server]
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
	return f.b.servers.named(n, f.owner, "calls")
}

// servers are the upstream servers of a file, and which of them it uses.
type servers struct {
	*reporter
	file             *config.File
	byName, disabled map[string]*config.Upstream
	names            *diag.Names
	used             map[string]bool
}

func newServers(r *reporter, file *config.File) *servers {
	s := &servers{
		reporter: r, file: file, byName: map[string]*config.Upstream{},
		disabled: map[string]*config.Upstream{}, used: map[string]bool{},
	}
	var names []string
	for _, up := range file.Upstreams {
		s.byName[up.Name] = up
		names = append(names, up.Name)
	}
	s.names = diag.NewNames(names)
	for _, up := range slices.Backward(file.Disabled) {
		s.disabled[up.Name] = up
	}
	return s
}

// check reports what names servers beside the nodes, and the servers that nothing uses.
func (s *servers) check() {
	s.checkPassthrough()
	s.checkEngine()
	s.checkUnused()
}

// named returns the name of a server at n, or "" if there is none, which it
// reports. owner is what names the server, verb what it does with it.
func (s *servers) named(n *config.Node, owner, verb string) string {
	server := n.Text().String()
	if s.byName[server] != nil {
		s.used[server] = true
		return server
	}
	if off := s.disabled[server]; off != nil {
		d := n.Problem(diag.CodeDisabledServer, fmt.Sprintf("%s %s server %q, which is disabled", owner, verb, server))
		d.Hint = "set disabled: false in its entry, or call another server"
		d.Related = []diag.Related{{File: off.File, Pos: off.Pos, Message: "the server is declared here"}}
		s.report(d)
		return ""
	}
	d := n.Problem(diag.CodeUnknownServer, fmt.Sprintf("%s names server %q, which does not exist", owner, server))
	if near, ok := s.names.Nearest(server); ok {
		s.used[near] = true
		d.Hint = fmt.Sprintf("did you mean %q?", near)
	} else if len(s.byName) > 0 {
		d.Hint = "add it under mcpServers, or give its file with --mcp FILE; servers of this file are " + s.names.List(server)
	} else {
		d.Hint = "add it under mcpServers, or give its file with --mcp FILE"
	}
	s.report(d)
	return ""
}

// checkEngine checks the servers that have workers of their own.
func (s *servers) checkEngine() {
	if s.file.Engine == nil {
		return
	}
	for _, n := range s.file.Engine.Node.Get("servers").Items() {
		if n.IsString() && s.byName[n.Text().String()] == nil { // it does not call those that there are
			s.named(n, `"engine"`, "names")
		}
	}
}

// checkUnused reports the servers of the file that no node calls. Those of
// other files were only read because a node names them.
func (s *servers) checkUnused() {
	for _, up := range s.file.Upstreams {
		if s.used[up.Name] || up.File != s.file.Path {
			continue
		}
		s.report(diag.Diagnostic{
			File: up.File, Pos: up.Pos, Severity: diag.SeverityOf(diag.CodeUnusedServer),
			Code:    diag.CodeUnusedServer,
			Message: fmt.Sprintf("no node calls server %q", up.Name),
		})
	}
}

// checkPassthrough checks the servers whose prompts and resources pass.
func (s *servers) checkPassthrough() {
	for i, p := range s.file.Passthrough {
		if n := p.Node.Get("server"); p.Server != "" {
			s.named(n, fmt.Sprintf("passthrough %d", i+1), "names")
		}
	}
}
