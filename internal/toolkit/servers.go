package toolkit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/schematext"
	"github.com/mcpgraph/mcpgraph/internal/serving"
	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func serverTools() []*tool {
	const toolProperties = `"server":{"type":"string"},"tool":{"type":"string"},"args":{"type":"object"}`
	return []*tool{
		{core: true, handle: listMcpServers, Tool: define("listMcpServers", "The upstream MCP servers that graph tools can call.", looks, ``, ``,
			listOf(`"name":{"type":"string"},"title":{"type":"string"},"instructions":{"type":"string"},"version":{"type":"string"},"error":{"type":"string"}`))},
		{core: true, handle: listMcpServerTools, Tool: define("listMcpServerTools", "The tools of one upstream server, or of all.", looks,
			`"serverName":{"type":"string"}`, ``, listOfServers(`"name":{"type":"string"},"description":{"type":"string"},"server":{"type":"string"}`))},
		{core: true, handle: getMcpServerTool, Tool: define("getMcpServerTool", "The schemas of an upstream tool.", looks,
			`"serverName":{"type":"string"},"toolName":{"type":"string"}`, `"serverName","toolName"`,
			`{"type":"object","properties":{"name":{"type":"string"},"description":{"type":"string"},"inputSchema":{"type":"object"},"outputSchema":{"type":"object"},"annotations":{"type":"object"}},"required":["name","inputSchema"]}`)},
		{handle: searchMcpTools, Tool: define("searchMcpTools", "Finds upstream tools of all servers by words, best first, as signatures.", looks,
			`"query":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":100,"default":10}`, `"query"`,
			listOfServers(`"server":{"type":"string"},"name":{"type":"string"},"signature":{"type":"string"},"description":{"type":"string"},"readOnly":{"type":"boolean"}`))},
		{core: true, handle: testMcpTool, Tool: define("testMcpTool", "Calls an upstream tool as an mcp node would. {expr: JSONATA} anywhere in args is evaluated over context.", callsOut,
			toolProperties+`,"context":{"type":"object"},"maxBytes":{"type":"integer","minimum":100,"default":20000}`, `"server","tool","args"`,
			`{"type":"object","properties":{"output":{},"evaluatedArgs":{"type":"object"},"executionTime":{"type":"number"},"error":{"type":"object"}}}`)},
		{handle: sampleMcpTool, Tool: define("sampleMcpTool", "Calls a read-only upstream tool; answers the shape of its output and a schema, without the data.", looks,
			toolProperties, `"server","tool"`,
			`{"type":"object","properties":{"shape":{"type":"string"},"schema":{"type":"object"},"bytes":{"type":"integer"},"error":{"type":"object"}}}`)},
	}
}

// listOfServers is the schema of a list of what all servers have, and of the servers that
// cannot be asked.
func listOfServers(properties string) string {
	return strings.TrimSuffix(listOf(properties), `},"required":["items"]}`) +
		`,"errors":{"type":"array","items":{"type":"object"}}},"required":["items"]}`
}

// withErrors returns a list of what servers have, and why others cannot be asked.
func withErrors(items []value.Value, all []serving.ServerStatus) value.Value {
	var errs []value.Value
	for _, s := range all {
		if s.Err != nil {
			errs = append(errs, value.ObjectOf("server", s.Entry.Name, "error", s.Err.Error()))
		}
	}
	if errs == nil {
		return value.ObjectOf("items", items)
	}
	return value.ObjectOf("items", items, "errors", errs)
}

// upstreamTool is a tool of a server by the name that nodes call it by.
type upstreamTool struct {
	server string
	name   string
	listed value.Value
}

func (t upstreamTool) description() string { return t.listed.Get("description").Str() }

func (t upstreamTool) readOnly() bool {
	return t.listed.Get("annotations").Get("readOnlyHint").Bool()
}

// toolsOf returns the tools of a server that nodes may call.
func toolsOf(s serving.ServerStatus) []upstreamTool {
	var all []upstreamTool
	for _, listed := range s.Status.Tools {
		name, ok := strings.CutPrefix(listed.Get("name").Str(), s.Entry.NamePrefix)
		if ok && s.Entry.Tools.Allows(name) {
			all = append(all, upstreamTool{s.Entry.Name, name, listed})
		}
	}
	return all
}

// statusesOf connects to all servers.
func statusesOf(ctx context.Context, c *call) ([]serving.ServerStatus, error) {
	if _, err := c.file.now(ctx); err != nil { // new entries of servers
		return nil, err
	}
	p := c.engine.Use()
	defer p.Release()
	return serving.Status(ctx, &callinfo.Info{}, p), ctx.Err()
}

// statusOf connects to one server.
func statusOf(ctx context.Context, c *call, name string) (serving.ServerStatus, error) {
	if _, err := c.file.now(ctx); err != nil {
		return serving.ServerStatus{}, err
	}
	p := c.engine.Use()
	defer p.Release()
	var names []string
	for _, entry := range p.Set().File.Upstreams {
		names = append(names, entry.Name)
		if entry.Name != name {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, entry.ConnectTimeout+entry.Timeout)
		defer cancel()
		status, err := p.Pool().Status(limited, nil, name)
		if err != nil {
			return serving.ServerStatus{}, err
		}
		return serving.ServerStatus{Entry: entry, Status: status}, nil
	}
	return serving.ServerStatus{}, missing("server", name, names)
}

// missing is the error for a name that does not exist.
func missing(what, name string, names []string) error {
	if near, ok := diag.Nearest(name, names); ok {
		return fmt.Errorf("there is no %s %q; did you mean %q?", what, name, near)
	}
	if len(names) > 30 {
		names = names[:30]
	}
	if len(names) == 0 {
		return fmt.Errorf("there is no %s %q, and no other", what, name)
	}
	return fmt.Errorf("there is no %s %q; there are %s", what, name, diag.List(names))
}

// upstreamOf returns a tool of a server.
func upstreamOf(ctx context.Context, c *call, server, name string) (upstreamTool, *config.Upstream, error) {
	s, err := statusOf(ctx, c, server)
	if err != nil {
		return upstreamTool{}, nil, err
	}
	var names []string
	for _, t := range toolsOf(s) {
		if t.name == name {
			return t, s.Entry, nil
		}
		names = append(names, t.name)
	}
	return upstreamTool{}, nil, fmt.Errorf("server %q: %w", server, missing("tool", name, names))
}

func listMcpServers(ctx context.Context, c *call) (value.Value, error) {
	all, err := statusesOf(ctx, c)
	if err != nil {
		return value.Undef, err
	}
	items := []value.Value{}
	for _, s := range all {
		if s.Err != nil {
			items = append(items, value.ObjectOf("name", s.Entry.Name, "error", s.Err.Error()))
			continue
		}
		items = append(items, value.ObjectOf("name", s.Entry.Name, "title", optional(s.Status.Title),
			"instructions", optional(s.Status.Instructions), "version", optional(s.Status.Version)))
	}
	return value.ObjectOf("items", items), nil
}

func listMcpServerTools(ctx context.Context, c *call) (value.Value, error) {
	var all []serving.ServerStatus
	var err error
	if name := c.text("serverName"); name != "" {
		var one serving.ServerStatus
		one, err = statusOf(ctx, c, name)
		all = []serving.ServerStatus{one}
	} else {
		all, err = statusesOf(ctx, c)
	}
	if err != nil {
		return value.Undef, err
	}
	items := []value.Value{}
	for _, s := range all {
		for _, t := range toolsOf(s) {
			items = append(items, value.ObjectOf("name", t.name, "description", t.description(), "server", t.server))
		}
	}
	return withErrors(items, all), nil
}

func getMcpServerTool(ctx context.Context, c *call) (value.Value, error) {
	t, _, err := upstreamOf(ctx, c, c.text("serverName"), c.text("toolName"))
	if err != nil {
		return value.Undef, err
	}
	input := t.listed.Get("inputSchema")
	if input.Kind() != value.Object {
		input = literal(anyObject)
	}
	return value.ObjectOf("name", t.name, "description", t.description(), "inputSchema", input,
		"outputSchema", t.listed.Get("outputSchema"), "annotations", t.listed.Get("annotations")), nil
}

// signature returns a tool on one line: read_file(path: string, head?: integer).
func signature(t upstreamTool) string {
	var args []string
	for _, f := range schematext.Fields(t.listed.Get("inputSchema")) {
		name := f.Name
		if !f.Required {
			name += "?"
		}
		args = append(args, name+": "+textline.Shorten(f.Type, 40))
	}
	text := t.name + "(" + strings.Join(args, ", ") + ")"
	if out := t.listed.Get("outputSchema"); out.Kind() == value.Object {
		var fields []string
		for _, f := range schematext.Fields(out) {
			fields = append(fields, f.Name+": "+textline.Shorten(f.Type, 40))
		}
		text += " → {" + strings.Join(fields, ", ") + "}"
	}
	return textline.Shorten(textline.Clean(text), 400)
}

func searchMcpTools(ctx context.Context, c *call) (value.Value, error) {
	all, err := statusesOf(ctx, c)
	if err != nil {
		return value.Undef, err
	}
	type hit struct {
		upstreamTool
		score int
	}
	var hits []hit
	for _, s := range all {
		for _, t := range toolsOf(s) {
			if score := matches(t, c.text("query")); score > 0 {
				hits = append(hits, hit{t, score})
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	limit := 10
	if n := c.args.Get("limit"); n.Kind() == value.Number {
		limit = whole(n)
	}
	items := []value.Value{}
	for _, h := range hits[:min(limit, len(hits))] {
		items = append(items, value.ObjectOf("server", h.server, "name", h.name, "signature", signature(h.upstreamTool),
			"description", textline.Shorten(textline.Clean(h.description()), 200), "readOnly", h.readOnly()))
	}
	return withErrors(items, all), nil
}

// matches returns how well a tool fits words: those in its name count more than those
// in its description and arguments. A plural matches its singular.
func matches(t upstreamTool, query string) int {
	name := strings.ToLower(t.name + " " + t.listed.Get("title").Str())
	text := strings.ToLower(t.server + " " + t.description())
	for _, f := range schematext.Fields(t.listed.Get("inputSchema")) {
		text += " " + strings.ToLower(f.Name)
	}
	score := 0
	for _, word := range strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return strings.ContainsRune(" ,.;:_-/", r) }) {
		if len(word) > 3 {
			word = strings.TrimSuffix(word, "s")
		}
		if strings.Contains(name, word) {
			score += 5
		}
		if strings.Contains(text, word) {
			score++
		}
	}
	return score
}

// reply is what came of a call of an upstream tool.
type reply struct {
	output, args value.Value
	took         time.Duration
	err          error
}

// callUpstream calls a tool with evaluated arguments. Calls that need approval are
// refused unless the client's user agrees.
func callUpstream(ctx context.Context, c *call, server, name string, args value.Value) (reply, error) {
	t, entry, err := upstreamOf(ctx, c, server, name)
	if err != nil {
		return reply{}, err
	}
	if in := c.engine.Current().Pool().Input(c.carry(), server, t.name); in != nil { // nobody need approve what is not sent
		if wrong, _, err := in.Check(ctx, args); wrong != "" {
			return reply{args: args, err: &graph.Failure{Name: graph.FailArguments, Message: wrong}}, nil
		} else if err != nil {
			return reply{}, err
		}
	}
	if entry.RequireApproval.Needs(t.name) {
		if err := approve(ctx, c, t, args); err != nil {
			return reply{}, err
		}
	}
	p := c.engine.Use()
	defer p.Release()
	c.carry()
	p.NoteSecrets(c.info)
	began := time.Now()
	result, err := p.Pool().CallTool(ctx, c.info, server, t.name, args)
	out := reply{args: args, took: time.Since(began), err: err}
	if err == nil {
		out.output, out.err = nodes.Output(result.Value, "")
	}
	return out, ctx.Err()
}

// approve asks the client's user whether a tool may be called.
func approve(ctx context.Context, c *call, t upstreamTool, args value.Value) error {
	refused := fmt.Errorf("the entry of server %q asks for approval of calls of %q, and nobody approved", t.server, t.name)
	if c.request.Stateless() || !c.request.CanElicit(server.FormMode) {
		return refused
	}
	answer, err := c.request.Ask(ctx, graph.AskPerson, value.ObjectOf(
		"message", fmt.Sprintf("Call tool %q of server %q with %s?", t.name, t.server, c.engine.RedactValue(c.info, c.engine.Current().MaskArguments(t.server, t.name, args)).Preview(2000)),
		"requestedSchema", literal(`{"type":"object","properties":{}}`)))
	if err != nil {
		return fmt.Errorf("%w: %w", refused, err)
	}
	if answer.Get("action").Str() != "accept" {
		return refused
	}
	return nil
}

func testMcpTool(ctx context.Context, c *call) (value.Value, error) {
	args, err := evaluated(ctx, c.args.Get("args"), c.args.Get("context"))
	if err != nil {
		return value.ObjectOf("error", expressionError(err)), nil
	}
	if args.Kind() != value.Object {
		return value.Undef, errors.New("the arguments are no object once they are evaluated")
	}
	r, err := callUpstream(ctx, c, c.text("server"), c.text("tool"), args)
	if err != nil {
		return value.Undef, err
	}
	output, _ := cut(r.output, maxBytes(c))
	sent, _ := cut(r.args, maxBytes(c))
	return value.ObjectOf("output", output, "evaluatedArgs", sent, "executionTime", milliseconds(r.took), "error", failure(r.err)), nil
}

func sampleMcpTool(ctx context.Context, c *call) (value.Value, error) {
	t, _, err := upstreamOf(ctx, c, c.text("server"), c.text("tool"))
	if err != nil {
		return value.Undef, err
	}
	if !t.readOnly() {
		return value.Undef, fmt.Errorf("the server does not say that %q is read-only; call it with testMcpTool if its effect is wanted", t.name)
	}
	args := c.args.Get("args")
	if args.IsUndefined() {
		args = value.FromEntries(nil)
	}
	r, err := callUpstream(ctx, c, t.server, t.name, args)
	if err != nil {
		return value.Undef, err
	}
	if r.err != nil {
		return value.ObjectOf("error", failure(r.err)), nil
	}
	return value.ObjectOf("shape", shape(r.output), "schema", inferred([]value.Value{r.output}), "bytes", r.output.TextSize()), nil
}

// failure returns an error as graphs see it; undefined without one.
func failure(err error) value.Value {
	var f *graph.Failure
	switch {
	case err == nil:
		return value.Undef
	case errors.As(err, &f):
		return value.ObjectOf("name", f.Name, "message", cutText(f.Message, defaultMaxBytes))
	}
	b := value.ObjectOf("message", cutText(err.Error(), defaultMaxBytes))
	var named interface{ FailureName() string }
	if errors.As(err, &named) {
		b = with(b, "name", named.FailureName())
	}
	var tool *nodes.ToolError
	if errors.As(err, &tool) {
		b = with(b, "name", graph.FailToolError)
	}
	return b
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
