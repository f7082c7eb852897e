package debug

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Breakpoint pauses the run before the executions of a node, or writes a message.
type Breakpoint struct {
	// Node is a key ("report#sizes[].info"), a path in the tool ("sizes[].info") or an
	// id, which is that of every node of the tool that has it.
	Node string
	// When is a JSONata expression in the scope of the execution; it only counts if
	// it is true. Empty: always.
	When string
	// Hits pauses at the n-th execution that counts alone; 0: at each.
	Hits int
	// Log is a message with expressions in braces, "size: {$.info.size}". With it the
	// run does not pause. {{ and }} are braces.
	Log string
	// Disabled keeps the breakpoint without an effect.
	Disabled bool
}

// FailureMode is at which failures the run pauses.
type FailureMode string

// The modes.
const (
	BreakOnNone     FailureMode = ""
	BreakOnAny      FailureMode = "any"      // also of attempts that are repeated, and those that a rule handles
	BreakOnUncaught FailureMode = "uncaught" // those that nothing around the node can handle
)

// BreakOn pauses the run at more than nodes.
type BreakOn struct {
	Failure FailureMode
	// EnterTool pauses before the first node of a tool, that of the run or a called
	// one.
	EnterTool bool
}

// BreakpointError is returned for a breakpoint that cannot be.
type BreakpointError struct {
	Index int    // in the list
	Node  string // of the breakpoint
	Field string // "node", "when", "hits" or "log"
	// Offset and End span the part of the field in bytes; both are -1 for all of it.
	Offset, End int
	Err         error
}

// Error names the breakpoint and the place.
func (e *BreakpointError) Error() string {
	text := fmt.Sprintf("breakpoint at %q: %s", e.Node, e.Field)
	if e.Offset >= 0 {
		text += fmt.Sprintf(", character %d", e.Offset+1)
	}
	return text + ": " + e.Err.Error()
}

// Unwrap returns the error beneath.
func (e *BreakpointError) Unwrap() error { return e.Err }

// breakpoint is a compiled Breakpoint.
type breakpoint struct {
	Breakpoint
	nodes []*graph.Node
	when  *expr.Program
	log   []messagePart
	count int // how often it counted; the mutex of its list guards it
}

// breakpoints are those of a session.
type breakpoints struct {
	*inspector
	*events

	mu    sync.Mutex
	on    BreakOn
	list  []*breakpoint
	byKey map[string][]*breakpoint // those that are enabled
}

// messagePart is a text and, behind it, the value of an expression.
type messagePart struct {
	text string
	expr *expr.Program // nil in the last part
}

func (s *breakpoints) compile(index int, b Breakpoint) (*breakpoint, error) {
	c := &breakpoint{Breakpoint: b}
	fail := func(field string, offset, end int, err error) error {
		return &BreakpointError{index, b.Node, field, offset, end, err}
	}
	var err error
	if c.nodes, err = s.nodes.find(b.Node); err != nil {
		return nil, fail("node", -1, -1, err)
	}
	if b.Hits < 0 {
		return nil, fail("hits", -1, -1, fmt.Errorf("expected a number from 1 on, or 0 for each, found %d", b.Hits))
	}
	if b.When != "" {
		var from, to int
		if c.when, from, to, err = s.expression(b.When, c.nodes); err != nil {
			return nil, fail("when", from, to, err)
		}
	}
	if c.log, err = s.message(b.Log, c.nodes, fail); err != nil {
		return nil, err
	}
	return c, nil
}

// expression compiles an expression that is evaluated in the scope of nodes.
func (s *breakpoints) expression(source string, at []*graph.Node) (p *expr.Program, from, to int, err error) {
	opts := []jsonata.Option{jsonata.WithFunctions(s.env.Functions...)}
	var names []string
	for i, n := range at {
		opts = append(opts, jsonata.WithVariables(n.Graph.Variables()...))
		if i > 0 {
			continue
		}
		for g := n.Graph; ; g = g.Owner.Graph {
			for _, one := range g.Nodes {
				names = append(names, one.ID)
			}
			if g.Owner == nil {
				break
			}
		}
	}
	if p, err = expr.CompileJSONata(source, opts...); err != nil {
		from, to = placeOf(err)
		return nil, from, to, err
	}
	for _, f := range p.Findings() {
		if f.Kind == expr.UnknownFunction || f.Kind == expr.UnboundVariable || f.Kind == expr.WrongCall {
			text := f.Message
			if f.Hint != "" {
				text += ": " + f.Hint
			}
			return nil, f.Offset, f.End, fmt.Errorf("%s", text)
		}
	}
	for _, ref := range p.Refs() {
		if len(at) == 1 && !slices.Contains(names, ref.Node) {
			from, to = ref.Offset, ref.End
			if ref.IDOffset >= 0 {
				from, to = ref.IDOffset, ref.IDEnd
			}
			return nil, from, to, &UnknownNodeError{ref.Node, at[0].Graph.Name, names}
		}
	}
	return p, -1, -1, nil
}

// message compiles the message of a breakpoint.
func (s *breakpoints) message(text string, at []*graph.Node, fail func(string, int, int, error) error) ([]messagePart, error) {
	var parts []messagePart
	var plain strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case (c == '{' || c == '}') && i+1 < len(text) && text[i+1] == c:
			plain.WriteByte(c)
			i++
		case c == '}':
			return nil, fail("log", i, i+1, fmt.Errorf("a } without a {; for a brace write }}"))
		case c == '{':
			end := closing(text, i)
			if end < 0 {
				return nil, fail("log", i, i+1, fmt.Errorf("a { without its }; for a brace write {{"))
			}
			p, from, to, err := s.expression(text[i+1:end], at)
			if err != nil {
				if from < 0 {
					from, to = 0, end-i-1
				}
				return nil, fail("log", i+1+from, i+1+to, err)
			}
			parts = append(parts, messagePart{plain.String(), p})
			plain.Reset()
			i = end
		default:
			plain.WriteByte(c)
		}
	}
	if plain.Len() > 0 {
		parts = append(parts, messagePart{text: plain.String()})
	}
	return parts, nil
}

// closing returns the place of the brace that closes the one at a place, or -1. Braces
// in strings do not count.
func closing(text string, open int) int {
	depth, quote := 0, byte(0)
	for i := open; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0 && c == '\\' && quote != '`':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// placeOf returns the part of an expression that an error is about.
func placeOf(err error) (from, to int) {
	if e, ok := err.(*expr.Error); ok {
		return e.Offset, e.End
	}
	return -1, -1
}

// SetBreakpoints replaces all breakpoints. It can be called at any time, and counts
// hits on for breakpoints that stay as they were. The error, a *BreakpointError,
// changes nothing.
func (s *breakpoints) SetBreakpoints(on BreakOn, list ...Breakpoint) error {
	if err := s.setBreakpoints(on, list); err != nil {
		return err
	}
	s.emit(Event{Type: Changed, Record: -1, Text: "breakpoints"})
	return nil
}

// maxBreakpoints bounds the breakpoints of a session.
const maxBreakpoints = 1000

func (s *breakpoints) setBreakpoints(on BreakOn, list []Breakpoint) error {
	switch on.Failure {
	case BreakOnNone, BreakOnAny, BreakOnUncaught:
	case "none":
		on.Failure = BreakOnNone
	default:
		return fmt.Errorf("expected to break on the failures %q, %q or %q, found %q", "none", BreakOnAny, BreakOnUncaught, on.Failure)
	}
	if len(list) > maxBreakpoints {
		return fmt.Errorf("%d breakpoints are more than a session can have (%d)", len(list), maxBreakpoints)
	}
	compiled := make([]*breakpoint, 0, len(list))
	byKey := map[string][]*breakpoint{}
	for i, b := range list {
		c, err := s.compile(i, b)
		if err != nil {
			return err
		}
		compiled = append(compiled, c)
		if b.Disabled {
			continue
		}
		for _, n := range c.nodes {
			byKey[n.Key()] = append(byKey[n.Key()], c)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range compiled {
		for _, was := range s.list {
			if was.Breakpoint == c.Breakpoint {
				c.count = was.count
			}
		}
	}
	s.list, s.byKey, s.on = compiled, byKey, on
	return nil
}

// Breakpoints returns what SetBreakpoints was given last.
func (s *breakpoints) Breakpoints() (BreakOn, []Breakpoint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Breakpoint, len(s.list))
	for i, b := range s.list {
		list[i] = b.Breakpoint
	}
	return s.on, list
}

// at returns the breakpoints of the node of a task.
func (s *breakpoints) at(t executor.Task) []*breakpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byKey[t.Node().Key()]
}

// breakOn returns at what the run pauses besides.
func (s *breakpoints) breakOn() BreakOn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.on
}

// hit reports whether a breakpoint stops the execution that a task begins, and what
// there is to say about it. Messages are written on the way.
func (s *breakpoints) hit(ctx context.Context, t executor.Task) (text string, stop bool) {
	for _, b := range s.at(t) {
		counts, err := true, error(nil)
		if b.when != nil {
			var v value.Value
			if v, err = s.env.eval(ctx, t.Scope(), b.when); err == nil {
				counts = v.Truthy()
			} else if ctx.Err() != nil {
				return "", false
			}
		}
		if err != nil {
			text, stop = fmt.Sprintf("the condition %s failed: %v", b.When, err), true
			continue
		}
		if !counts {
			continue
		}
		s.mu.Lock()
		b.count++
		counts = b.Hits == 0 || b.count == b.Hits
		s.mu.Unlock()
		switch {
		case !counts:
		case b.Log != "":
			s.emit(Event{Type: Log, Level: "info", Text: s.say(ctx, t, b)}.ofTask(t))
		default:
			stop = true
		}
	}
	return text, stop
}

// say returns the message of a breakpoint.
func (s *breakpoints) say(ctx context.Context, t executor.Task, b *breakpoint) string {
	var text strings.Builder
	for _, part := range b.log {
		text.WriteString(part.text)
		if part.expr == nil {
			continue
		}
		switch v, err := s.env.eval(ctx, t.Scope(), part.expr); {
		case err != nil:
			fmt.Fprintf(&text, "(%v)", err)
		case v.IsUndefined():
			text.WriteString("undefined")
		case v.Kind() == value.String:
			text.WriteString(v.Str())
		default:
			text.WriteString(v.Preview(maxText))
		}
		if text.Len() > maxText {
			break
		}
	}
	return text.String()
}

// describe lists commands for messages.
func describe(list []Command) string {
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = string(c)
	}
	return diag.List(names)
}
