package suite

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// CheckLock compares the mocks with a lock file: each tool must be there, and what is
// written of arguments and structured replies must fit its schemas. Mocks with globs
// or of tools that are not locked are not checked. The diagnostics are sorted by
// place.
func (f *File) CheckLock(locked *lock.File) []diag.Diagnostic {
	c := lockChecker{checker{seen: map[problem]bool{}}, map[*lock.Tool]*lockedSchemas{}, map[*lock.Server]*diag.Names{}}
	checked := map[*Mock]bool{} // those of the file belong to every test
	for _, t := range f.Tests {
		for _, m := range t.Mocks {
			if !checked[m] && m.server.regexp == nil && m.tool.regexp == nil {
				checked[m] = true
				c.mock(m, locked.Server(m.server.text))
			}
		}
	}
	diag.Sort(c.found)
	return c.found
}

type lockChecker struct {
	checker
	schemas map[*lock.Tool]*lockedSchemas
	offered map[*lock.Server]*diag.Names // the tools of servers
}

// lockedSchemas are the schemas of a tool, compiled when first needed; nil where there
// is none or where it does not compile, which `mcpgraph validate` reports.
type lockedSchemas struct {
	arguments func() *graph.Schema // without what must be there: a mock names some of them
	output    func() *graph.Schema
	names     *diag.Names // of the arguments
}

func (c *lockChecker) schemasOf(t *lock.Tool) *lockedSchemas {
	s := c.schemas[t]
	if s == nil {
		s = &lockedSchemas{
			arguments: sync.OnceValue(func() *graph.Schema { return compiled(withoutPresence(t.InputSchema)) }),
			output:    sync.OnceValue(func() *graph.Schema { return compiled(t.OutputSchema) }),
		}
		var names []string
		for _, e := range t.InputSchema.Get("properties").Entries() {
			names = append(names, e.Key)
		}
		s.names = diag.NewNames(names)
		c.schemas[t] = s
	}
	return s
}

func compiled(schema value.Value) *graph.Schema {
	if schema.Kind() != value.Object {
		return nil
	}
	s, _ := graph.NewSchema(schema)
	return s
}

// presence are the keywords of a schema that can demand members of an object.
var presence = []string{
	"required", "minProperties", "dependentRequired", "dependentSchemas", "dependencies",
	"allOf", "anyOf", "oneOf", "not", "if", "then", "else",
}

// withoutPresence returns a schema that fits a part of the members, too.
func withoutPresence(schema value.Value) value.Value {
	if schema.Kind() != value.Object {
		return value.Undef
	}
	return value.FromEntries(slices.DeleteFunc(slices.Clone(schema.Entries()), func(e value.Entry) bool {
		return slices.Contains(presence, e.Key)
	}))
}

func (c *lockChecker) mock(m *Mock, server *lock.Server) {
	if server == nil {
		return
	}
	name := m.tool.text
	if name != "" && !server.Has(name) {
		c.unknown(m.Tool, diag.CodeServerTool, fmt.Sprintf("server %q has no tool %q", m.server.text, name), name, c.toolsOf(server))
		return
	}
	tool := server.Tool(name)
	if tool == nil {
		return
	}
	schemas := c.schemasOf(tool)
	c.arguments(m, schemas)
	for _, r := range m.Replies {
		c.reply(m, r, schemas)
	}
}

func (c *lockChecker) toolsOf(s *lock.Server) *diag.Names {
	names := c.offered[s]
	if names == nil {
		names = diag.NewNames(slices.Clone(s.ToolNames))
		c.offered[s] = names
	}
	return names
}

// arguments checks the arguments that are written as values.
func (c *lockChecker) arguments(m *Mock, s *lockedSchemas) {
	if m.Arguments == nil || s.arguments() == nil {
		return
	}
	for _, f := range m.Arguments.Node.Fields() {
		key := f.Key.String()
		if s.names.Has(key) {
			continue
		}
		if near, ok := s.names.Nearest(key); ok {
			d := f.Key.Problem(diag.CodeArguments, fmt.Sprintf("tool %q of server %q does not take the argument %q", m.tool.text, m.server.text, key))
			d.Hint = fmt.Sprintf("did you mean %q?", near)
			c.report(d)
			return
		}
	}
	for _, e := range m.Arguments.entries {
		if e.pattern.form != literalForm {
			continue
		}
		own := value.FromEntries([]value.Entry{{Key: e.key, Value: e.pattern.literal}})
		c.misfit(e.pattern.Node, diag.CodeArguments, fmt.Sprintf("the argument does not fit the inputSchema of tool %q", m.tool.text), s.arguments().Validate(own))
	}
}

// reply checks a result that is written as a value.
func (c *lockChecker) reply(m *Mock, r *Reply, s *lockedSchemas) {
	if r.Failure != "" || r.expr != nil || r.Result.Get("isError").Bool() || s.output() == nil {
		return
	}
	structured := r.Result.Get("structuredContent")
	if structured.IsUndefined() {
		d := r.Node.Problem(diag.CodeValue, fmt.Sprintf("tool %q has an outputSchema, so its results have structured content", m.tool.text))
		d.Hint = "write reply: {structured: …}"
		c.report(d)
		return
	}
	c.misfit(r.Node, diag.CodeValue, fmt.Sprintf("the reply does not fit the outputSchema of tool %q", m.tool.text), s.output().Validate(structured))
}

// misfit reports what a check against a schema found.
func (c *lockChecker) misfit(n *config.Node, code, what string, err error) {
	var wrong *graph.SchemaError
	if errors.As(err, &wrong) {
		c.report(n.Problem(code, what+": "+wrong.Error()))
	}
}
