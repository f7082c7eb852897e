package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// CheckTools compares the calls of a server in all graphs with what it answered
// to tools/list: each tool has to be there, and what is known of the arguments
// before any run has to fit its inputSchema. Tools that can only be called as tasks need
// a server that callsTasks. The diagnostics are sorted by place.
func (s *Set) CheckTools(server string, tools []value.Value, callsTasks bool) []diag.Diagnostic {
	var up *config.Upstream
	for _, u := range s.File.Upstreams {
		if u.Name == server {
			up = u
		}
	}
	if up == nil {
		return nil
	}
	l := &live{up: up, tools: map[string]*liveTool{}}
	var names []string
	for _, t := range tools {
		name := t.Get("name").Str()
		own, ok := strings.CutPrefix(name, up.NamePrefix)
		if !ok {
			continue
		}
		names = append(names, own)
		l.tools[own] = &liveTool{schema: t.Get("inputSchema"), uncallable: !callsTasks && lock.IsTaskOnly(t.Get("execution"))}
	}
	l.names = diag.NewNames(names)
	for _, n := range s.calls(server) {
		l.check(n)
	}
	diag.Sort(l.diagnostics)
	return l.diagnostics
}

// live is a server that was asked, and what is wrong with the calls of it.
type live struct {
	up          *config.Upstream
	names       *diag.Names // of its tools, without the prefix
	tools       map[string]*liveTool
	diagnostics []diag.Diagnostic
}

// liveTool is a tool as the server describes it; its schema is compiled once.
type liveTool struct {
	schema     value.Value
	args       *diag.Names // that it takes, once they are needed
	compiled   *partial
	err        error
	uncallable bool // it can only be called as a task, and the server has none
}

// arguments returns the names of the arguments that a tool takes.
func (t *liveTool) arguments() *diag.Names {
	if t.args == nil {
		var names []string
		for _, e := range t.schema.Get("properties").Entries() {
			names = append(names, e.Key)
		}
		t.args = diag.NewNames(names)
	}
	return t.args
}

func (t *liveTool) partial() (*partial, error) {
	if t.compiled == nil && t.err == nil {
		t.compiled, t.err = newPartial(t.schema)
	}
	return t.compiled, t.err
}

func (l *live) report(d diag.Diagnostic) { l.diagnostics = append(l.diagnostics, d) }

func (l *live) check(n *Node) {
	tool := l.tools[n.Tool]
	if tool == nil {
		l.report(l.missing(n))
		return
	}
	if tool.uncallable {
		d := n.toolSrc.Problem(diag.CodeTaskOnly, fmt.Sprintf(
			"tool %q of server %q can only be called as a task (its execution.taskSupport is \"required\"), and the server does not announce tasks: calls of it fail", n.Tool, l.up.Name))
		d.Hint = "call another tool, or update the server"
		l.report(d)
	}
	if n.args != nil && n.args.program != nil {
		return // nothing is known of the arguments
	}
	p, err := tool.partial()
	if err != nil {
		l.report(n.toolSrc.Problem(diag.CodeToolSchema, fmt.Sprintf(
			"the inputSchema of tool %q of server %q does not compile, so its arguments were not checked: %v",
			n.Tool, l.up.Name, strings.ReplaceAll(err.Error(), schemaBase, ""))))
		return
	}
	c := callMisfits{n: n, callee: fmt.Sprintf("tool %q of server %q", n.Tool, l.up.Name), tool: tool}
	for _, w := range p.check(n.args) {
		l.report(c.diagnostic(w))
	}
}

func (l *live) missing(n *Node) diag.Diagnostic {
	d := n.toolSrc.Problem(diag.CodeServerTool, fmt.Sprintf("server %q has no tool %q", l.up.Name, n.Tool))
	own, prefixed := strings.CutPrefix(n.Tool, l.up.NamePrefix)
	switch {
	case prefixed && l.up.NamePrefix != "" && l.names.Has(own):
		d.Hint = fmt.Sprintf("write %q: namePrefix puts %q before it", own, l.up.NamePrefix)
	case len(l.names.All()) > 0:
		d.Hint = l.names.Expected(n.Tool, "its tools are ")
	case l.up.NamePrefix != "":
		d.Hint = fmt.Sprintf("none of its tools begins with %q, the namePrefix", l.up.NamePrefix)
	default:
		d.Hint = "it has no tools"
	}
	return d
}

// callMisfits returns why the arguments of a node do not match those of a tool.
type callMisfits struct {
	n      *Node
	callee string // for messages
	tool   *liveTool
	// given are the arguments that the node has and the tool does not name, once
	// they are needed.
	given *diag.Names
}

// diagnostic returns what does not fit, where that is written.
func (c *callMisfits) diagnostic(w misfit) diag.Diagnostic {
	n, place := c.n, c.n.toolSrc
	if n.args != nil {
		place = n.args.src
	}
	parent := follow(place, w.at)
	if n.args == nil || parent == nil {
		parent = place
	}
	switch {
	case w.missing != "":
		d := parent.Problem(diag.CodeArguments, fmt.Sprintf("%s requires %s", c.callee, argument(append(slices.Clone(w.at), w.missing))))
		if n.args != nil {
			d.End = diag.Pos{} // of the map, the beginning will do
		}
		if len(w.at) > 0 {
			return d
		}
		if c.given == nil {
			c.given = c.unasked(parent)
		}
		if near, ok := c.given.Nearest(w.missing); ok {
			d.Hint = fmt.Sprintf("write %q for %q", w.missing, near)
		}
		return d
	case w.unknown != "":
		f, _ := parent.Field(w.unknown)
		d := f.Key.Problem(diag.CodeArguments, fmt.Sprintf("%s does not take %s", c.callee, argument(append(slices.Clone(w.at), w.unknown))))
		if len(w.at) == 0 {
			d.Hint = c.tool.arguments().Expected(w.unknown, "expected ")
		}
		return d
	}
	what := "the arguments of " + c.callee
	if len(w.at) > 0 {
		what = argument(w.at) + " of " + c.callee
	}
	return parent.Problem(diag.CodeArguments, fmt.Sprintf("%s: expected %s, found %s", what, w.problem.Expected, w.problem.Found))
}

// unasked returns the keys of arguments that the tool does not name.
func (c *callMisfits) unasked(args *config.Node) *diag.Names {
	var keys []string
	for _, f := range args.Fields() {
		if key := f.Key.String(); !c.tool.schema.Get("properties").Has(key) {
			keys = append(keys, key)
		}
	}
	return diag.NewNames(keys)
}

func argument(path []string) string {
	return fmt.Sprintf("the argument %q", strings.Join(path, "."))
}
