package graph

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// generatedKinds are the types of nodes that only generated graphs have.
var generatedKinds = map[string]*Kind{messagesKind.Name: messagesKind, completeKind.Name: completeKind}

// callPrefix stands before the name of a tool in the id of the generated node that
// calls it.
const callPrefix = "call_"

// generate returns the nodes that a field means: entry → a node that evaluates what
// is at place → exit, and one node for each tool that is called in it, which leads
// back. So each call is an execution of its own, and the evaluation stays pure.
func generate(place *config.Node, kind *Kind, field string) []*config.Node {
	text := func(s string) *config.Node { return place.Generated(value.FromString(s)) }
	node := func(id, kind string) *config.Node {
		return place.Generated(value.FromEntries(nil)).With("id", text(id)).With("type", text(kind))
	}
	main := kind.Name
	nodes := []*config.Node{
		node("entry", "entry").With("next", text(main)),
		node(main, kind.Name).With(field, place).With("next", text("exit")),
	}
	args := value.FromEntries([]value.Entry{{Key: exprKey, Value: value.FromString("$previousNode().args")}})
	seen := map[string]bool{}
	for _, use := range calledTools(place) {
		tool := use.Text().String()
		if seen[tool] {
			continue
		}
		seen[tool] = true
		nodes = append(nodes, node(callPrefix+tool, "call").
			With("tool", use).With("args", place.Generated(args)).With("next", text(main)))
	}
	return append(nodes, node("exit", "exit"))
}

// composed is what steps have in common that evaluate expressions over the arguments
// of their graph, in which tools are called.
type composed struct {
	id    string         // of the node
	edges map[string]int // by tool: to the node that calls it
	next  int
}

// calls declares the edges to the nodes that call tools, and back.
func (f *Fields) calls(place *config.Node) composed {
	c := composed{id: f.node.ID, edges: map[string]int{}}
	if f.b != nil {
		f.node.toolUses = calledTools(place)
		for _, use := range f.node.toolUses {
			tool := use.Text().String()
			if _, known := c.edges[tool]; known {
				continue
			}
			c.edges[tool] = len(f.node.Edges)
			f.node.Edges = append(f.node.Edges, Edge{
				Field: "$call", Label: tool, Target: callPrefix + tool,
				src: use.Generated(value.FromString(callPrefix + tool)),
			})
		}
	}
	c.next = f.Next()
	return c
}

// neededCall stops an evaluation that needs the result of a call.
type neededCall struct {
	tool string
	args value.Value
}

func (e *neededCall) Error() string { return fmt.Sprintf("the result of tool %q is needed", e.tool) }

// begin evaluates with eval, which gets the results of the calls that were made so
// far. If it needs another one, the run goes to the node that makes it.
func (c *composed) begin(ctx context.Context, in *Input, eval func(*expr.Env) (value.Value, error)) (Action, error) {
	env := expr.Env{}
	if in.Env != nil {
		env = *in.Env
	}
	made := &madeCalls{of: c, history: env.History}
	at, seed := made.moment(&env)
	env.History, env.Vars = argumentsOnly{in.Args}, nil
	env.Now = func() time.Time { return at }
	env.Random = rand.New(rand.NewPCG(math.Float64bits(seed), 0)).Float64
	env.Calls = made.result
	v, err := eval(&env)
	var needed *neededCall
	if errors.As(err, &needed) {
		b := value.NewBuilder(4)
		b.Set("call", value.FromString(needed.tool))
		b.Set("args", needed.args)
		b.Set("at", value.FromInt(at.UnixMilli()))
		b.Set("random", value.FromFloat(seed))
		return Action{Value: b.Value(), Edge: c.edges[needed.tool]}, nil
	}
	if err == nil {
		v, err = WithoutFunctions(ctx, v)
	}
	return Action{Value: v, Edge: c.next}, err
}

// argumentsOnly is a history in which nothing has run: the document is the arguments.
type argumentsOnly struct{ args value.Value }

// Document implements expr.History.
func (a argumentsOnly) Document() value.Value { return a.args }

// Previous implements expr.History.
func (argumentsOnly) Previous(int) (value.Value, bool) { return value.Undef, false }

// Outputs implements expr.History.
func (argumentsOnly) Outputs(string) []value.Value { return nil }

// madeCalls are the calls that a walk has made.
type madeCalls struct {
	of      *composed
	history expr.History // may be nil
	tools   map[string]*toolCalls
}

// toolCalls are the calls of one tool. An evaluation asks for them in the order in
// which they were made, so the search begins behind the one found before.
type toolCalls struct {
	args, results []value.Value
	next          int
}

func (t *toolCalls) find(args value.Value) (value.Value, bool) {
	for range t.args {
		i := t.next
		if t.next++; t.next == len(t.args) {
			t.next = 0
		}
		if sameArguments(t.args[i], args) {
			return t.results[i], true
		}
	}
	return value.Undef, false
}

// sameArguments reports whether two calls are the same. Texts that both share are not
// read. Integers that a float64 cannot hold are compared by their digits.
func sameArguments(a, b value.Value) bool {
	return value.Equal(a, b) && (!holdsWideNumber(a) || a.JSON() == b.JSON())
}

// holdsWideNumber reports whether a number beyond the whole numbers of a float64 is in
// a value.
func holdsWideNumber(v value.Value) bool {
	switch v.Kind() {
	case value.Number:
		return math.Abs(v.Float()) >= 1<<53
	case value.Array:
		return slices.ContainsFunc(v.Elems(), holdsWideNumber)
	case value.Object:
		return slices.ContainsFunc(v.Entries(), func(e value.Entry) bool { return holdsWideNumber(e.Value) })
	}
	return false
}

// moment returns the time and the randomness of the first evaluation: the others ask
// for the same calls again, so nothing may differ.
func (m *madeCalls) moment(env *expr.Env) (at time.Time, seed float64) {
	if m.history != nil {
		if asked := m.history.Outputs(m.of.id); len(asked) > 0 {
			return time.UnixMilli(int64(asked[0].Get("at").Float())).UTC(), asked[0].Get("random").Float()
		}
	}
	at, seed = time.Time{}, 0
	if env.Now != nil {
		at = env.Now()
	} else {
		at = time.Now()
	}
	if env.Random != nil {
		seed = env.Random()
	} else {
		seed = rand.Float64()
	}
	return at.UTC().Truncate(time.Millisecond), seed
}

// result returns the result of a call if it was made, or the error that it is needed.
func (m *madeCalls) result(ctx context.Context, tool string, args value.Value) (value.Value, error) {
	if err := context.Cause(ctx); err != nil {
		return value.Undef, err
	}
	if _, known := m.of.edges[tool]; !known {
		return value.Undef, fmt.Errorf("$call needs the name of the tool as a literal text, found %q", tool)
	}
	args, err := WithoutFunctions(ctx, args)
	if err != nil {
		return value.Undef, err
	}
	if m.tools == nil {
		m.collect()
	}
	if calls := m.tools[tool]; calls != nil {
		if v, ok := calls.find(args); ok {
			return v, nil
		}
	}
	return value.Undef, &neededCall{tool, args}
}

// collect reads the history: each earlier output of the node asked for one call, and
// the node of that tool ran once for each.
func (m *madeCalls) collect() {
	m.tools = map[string]*toolCalls{}
	if m.history == nil {
		return
	}
	for _, asked := range m.history.Outputs(m.of.id) {
		tool := asked.Get("call").Str()
		calls := m.tools[tool]
		if calls == nil {
			calls = &toolCalls{}
			m.tools[tool] = calls
		}
		if results := m.history.Outputs(callPrefix + tool); len(calls.args) < len(results) {
			calls.results = append(calls.results, results[len(calls.args)])
			calls.args = append(calls.args, asked.Get("args"))
		}
	}
}
