package toolkit

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcpgraph/mcpgraph/internal/graphedit"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func runsTools() []*tool {
	return []*tool{
		{handle: getRun, Tool: define("getRun", "A kept run in parts: its summary, its nodes, one execution, or what a JSON pointer leads to in either.", reads,
			`"runId":{"type":"string"},"part":{"enum":["summary","nodes","execution"],"default":"summary"},"execution":{"type":"integer","minimum":0},"pointer":{"type":"string"},"from":{"type":"integer","minimum":0,"description":"first element of a long list"},"maxBytes":{"type":"integer","minimum":100,"default":20000}`, `"runId"`,
			`{"type":"object","properties":{"value":{},"from":{"type":"integer"},"total":{"type":"integer"}},"required":["value"]}`)},
		{handle: evaluateInRun, Tool: define("evaluateInRun", "Evaluates JSONata, or with rule JSON Logic, as execution i of a run would have seen it; without i as at its end.", reads,
			`"runId":{"type":"string"},"execution":{"type":"integer","minimum":0},"expression":{"type":"string"},"rule":{},"maxBytes":{"type":"integer","minimum":100,"default":20000}`, `"runId"`,
			`{"type":"object","properties":{"result":{},"error":{"type":"object"}}}`)},
		{handle: inferOutputSchema, Tool: define("inferOutputSchema", "An outputSchema for a tool, from the results of its kept runs, else from the lock file.", reads,
			`"toolName":{"type":"string"}`, `"toolName"`,
			`{"type":"object","properties":{"schema":{"type":"object"},"from":{"type":"string"},"runs":{"type":"integer"}},"required":["schema","from"]}`)},
	}
}

// ownerOf returns whose runs the client may read.
func ownerOf(c *call) string { return c.request.Caller }

// keptRun returns a run of the client.
func keptRun(c *call) (*runs.Run, value.Value, error) {
	r, ok := c.runs.Get(ownerOf(c), c.text("runId"))
	if !ok {
		return nil, value.Undef, fmt.Errorf("there is no run %q; the last %d are kept", c.text("runId"), keptRuns)
	}
	if r.Truncated {
		return nil, value.Undef, fmt.Errorf("run %q was too long to be kept", r.ID)
	}
	text, err := r.JSON(nil)
	if err != nil {
		return nil, value.Undef, err
	}
	v, err := value.ParseLazy(text)
	return r, v, err
}

func getRun(_ context.Context, c *call) (value.Value, error) {
	_, v, err := keptRun(c)
	if err != nil {
		return value.Undef, err
	}
	list := v.Get("history")
	part := c.text("part")
	if !c.args.Get("execution").IsUndefined() {
		part = "execution"
	}
	switch part {
	case "execution":
		n := whole(c.args.Get("execution"))
		if c.args.Get("execution").IsUndefined() || n >= list.Len() {
			return value.Undef, fmt.Errorf("execution is missing or too high: the run has %d, counted from 0", list.Len())
		}
		v = list.Elems()[n]
	case "nodes":
		var items []value.Value
		for _, x := range list.Elems() {
			b := value.NewBuilder(8)
			for _, e := range x.Entries() {
				if e.Key != "output" && e.Key != "arguments" && e.Key != "reply" {
					b.Set(e.Key, e.Value)
				}
			}
			items = append(items, b.Value())
		}
		v = value.FromArray(items)
	default:
		if c.text("pointer") == "" {
			b := value.NewBuilder(8)
			for _, e := range v.Entries() {
				if e.Key == "history" {
					b.Set("executions", value.FromInt(int64(list.Len())))
				} else {
					one, _ := cut(e.Value, maxBytes(c)/4)
					b.Set(e.Key, one)
				}
			}
			v = b.Value()
		}
	}
	if p := c.text("pointer"); p != "" {
		if p[0] != '/' {
			return value.Undef, fmt.Errorf("pointer %q does not begin with /", p)
		}
		var ok bool
		if v, ok = follow(v, p); !ok {
			return value.Undef, fmt.Errorf("there is nothing at %s", p)
		}
	}
	return partOf(c, v), nil
}

// partOf returns a value, or of a long list as many elements as fit.
func partOf(c *call, v value.Value) value.Value {
	from := whole(c.args.Get("from"))
	if v.Kind() == value.Array && (from > 0 || v.LongerThan(maxBytes(c))) {
		var items []value.Value
		size := 0
		for _, item := range v.Elems()[min(from, v.Len()):] {
			one, _ := cut(item, maxBytes(c))
			if size += one.TextSize(); size > maxBytes(c) && len(items) > 0 {
				break
			}
			items = append(items, one)
		}
		return value.ObjectOf("value", value.FromArray(items), "from", from, "total", v.Len())
	}
	v, _ = cut(v, maxBytes(c))
	return value.ObjectOf("value", v)
}

func evaluateInRun(ctx context.Context, c *call) (value.Value, error) {
	rule := c.args.Get("rule")
	if (c.text("expression") == "") == rule.IsUndefined() {
		return value.Undef, errors.New("give expression or rule, and only one")
	}
	_, v, err := keptRun(c)
	if err != nil {
		return value.Undef, err
	}
	recording, err := runs.ReadRecording(v.JSON())
	if err != nil {
		return value.Undef, err
	}
	at := recording.End()
	if n := c.args.Get("execution"); n.Kind() == value.Number {
		if at = whole(n); at > recording.Len() {
			return value.Undef, fmt.Errorf("execution %d is beyond the end: the run has %d in its own walk", at, recording.Len())
		}
	}
	var result value.Value
	if rule.IsUndefined() {
		result, err = evaluate(ctx, c.text("expression"), recording.At(at))
	} else {
		result, err = evaluateRule(ctx, rule, recording.At(at))
	}
	return answerExpression(c, result, err), nil
}

func inferOutputSchema(ctx context.Context, c *call) (value.Value, error) {
	name := c.text("toolName")
	s, err := c.file.now(ctx)
	if err != nil {
		return value.Undef, err
	}
	var results []value.Value
	for _, r := range c.runs.List(ownerOf(c)) {
		if r.Tool != name || r.Running || r.Err != "" || r.Truncated {
			continue
		}
		text, err := r.JSON(nil)
		if err != nil {
			continue
		}
		if v, err := value.ParseLazy(text); err == nil && v.Has("result") {
			results = append(results, v.Get("result"))
		}
	}
	if results != nil {
		return value.ObjectOf("schema", inferred(results), "from", "runs", "runs", len(results)), nil
	}
	if _, err := graphedit.Tool(s.doc.Value(), name); err != nil {
		return value.Undef, err
	}
	p, release, err := c.file.use(ctx)
	if err != nil {
		return value.Undef, err
	}
	defer release()
	g, err := p.Graph(name)
	if err != nil {
		return value.Undef, err
	}
	if schema, ok := lockedOutput(g, func(n *graph.Node) value.Value {
		if t := p.Lock().Tool(n.Server, n.Tool); t != nil {
			return t.OutputSchema
		}
		return value.Undef
	}); ok {
		return value.ObjectOf("schema", schema, "from", "lock"), nil
	}
	return value.Undef, fmt.Errorf("there is no run of tool %q that ended well, and the lock file does not tell: run it first", name)
}

// lockedOutput returns the outputSchema of the one upstream tool whose output a graph
// returns as it is.
func lockedOutput(g *graph.Graph, schema func(*graph.Node) value.Value) (value.Value, bool) {
	found := value.Undef
	for _, n := range g.Nodes {
		for _, e := range n.Edges {
			if e.To != g.Exit {
				continue
			}
			if n.Server == "" || !found.IsUndefined() {
				return value.Undef, false
			}
			found = schema(n)
		}
	}
	return found, !found.IsUndefined()
}
