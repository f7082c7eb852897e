package debug

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// MaxPinned bounds the values of pins, and those that SetOutput has set, in bytes of
// JSON.
const MaxPinned = 16 << 20

// pin is what a node yields without being executed.
type pin struct {
	output graph.Output
	bytes  int
}

// pins are the nodes that yield a value without being executed.
type pins struct {
	*inspector
	*events
	allowed func(Command) error

	mu    sync.Mutex
	by    map[string]pin // by key
	bytes int
}

// Pin lets a node yield a value without being executed, from its next attempt on: no
// upstream tool is called, no person asked, and no body of it runs. It replaces a pin
// that is there. The name is as that of a [Breakpoint], and must mean one node.
//
// The value of a switch is the id of the node that it goes to; that of an exit is the
// result. Entries and fail nodes cannot be pinned.
func (s *pins) Pin(node string, v value.Value) error {
	if err := s.pin(node, v); err != nil {
		return err
	}
	s.emit(Event{Type: Changed, Record: -1, Text: "pins"})
	return nil
}

func (s *pins) pin(node string, v value.Value) error {
	n, err := s.nodes.one(node)
	if err != nil {
		return err
	}
	own, size, err := jsonOf(v)
	if err != nil {
		return fmt.Errorf("cannot pin %q: %w", node, err)
	}
	edge, err := edgeOf(n, own)
	if err != nil {
		return fmt.Errorf("cannot pin %q: %w", node, err)
	}
	if err := s.allowed(CanPin); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.bytes - s.by[n.Key()].bytes + size
	if all > MaxPinned {
		return fmt.Errorf("cannot pin %q: the values of pins have more than %d MiB", node, MaxPinned>>20)
	}
	s.bytes = all
	s.by[n.Key()] = pin{graph.Output{Value: own, Edge: edge}, size}
	return nil
}

// Unpin lets a node be executed again.
func (s *pins) Unpin(node string) error {
	n, err := s.nodes.one(node)
	if err != nil {
		return err
	}
	if err := s.allowed(CanPin); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.by[n.Key()]
	if !ok {
		return fmt.Errorf("cannot unpin %q: it is not pinned", node)
	}
	s.bytes -= p.bytes
	delete(s.by, n.Key())
	s.emit(Event{Type: Changed, Record: -1, Text: "pins"})
	return nil
}

// Pins returns the values of the pinned nodes by key.
func (s *pins) Pins() map[string]value.Value {
	s.mu.Lock()
	defer s.mu.Unlock()
	pins := map[string]value.Value{}
	for key, p := range s.by {
		pins[key] = s.env.value(p.output.Value)
	}
	return pins
}

// pinned is the Pin of the driver.
func (s *pins) pinned(_ *executor.Run, t executor.Task) (graph.Output, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.by[t.Node().Key()]
	return p.output, ok
}

// jsonOf returns a value that is JSON, apart from what it came from, and its size.
func jsonOf(v value.Value) (value.Value, int, error) {
	if v.IsUndefined() {
		return v, 0, errors.New("the value is undefined; expected JSON, such as null")
	}
	if v.LongerThan(MaxPinned) {
		return v, 0, fmt.Errorf("the value has more than %d MiB of JSON", MaxPinned>>20)
	}
	if found := notJSON(v); found != "" {
		return v, 0, fmt.Errorf("the value is not JSON: it has %s", found)
	}
	text := v.JSON()
	own, err := value.Parse(text)
	if err != nil {
		return v, 0, fmt.Errorf("the value is not JSON: %w", err)
	}
	return own, len(text), nil
}

// notJSON returns what of a value JSON cannot have, empty if there is nothing.
func notJSON(v value.Value) string {
	switch v.Kind() {
	case value.Array:
		for _, one := range v.Elems() {
			if found := notJSON(one); found != "" {
				return found
			}
		}
	case value.Object:
		for _, one := range v.Entries() {
			if found := notJSON(one.Value); found != "" {
				return found
			}
		}
	case value.Number:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			if _, exact := v.NumberText(); !exact {
				return fmt.Sprintf("the number %v", f)
			}
		}
	case value.Undefined:
		return "undefined"
	case value.Null, value.Bool, value.String:
	default:
		return "a function"
	}
	return ""
}

// edgeOf returns the way that a node takes which yields a value without being
// executed.
func edgeOf(n *graph.Node, v value.Value) (int, error) {
	switch {
	case n.Kind.Role == graph.Entry:
		return 0, errors.New("an entry yields the arguments; begin a run with other ones, or set its output while the run is paused")
	case n.Kind.Role == graph.Exit:
		return graph.NoEdge, nil
	case n.Kind == nodes.Fail:
		return 0, errors.New("a fail node yields nothing, it ends the walk; pin the node that goes to it, or a switch before it")
	case n.Kind == nodes.Switch:
		return targetOf(n, v)
	}
	i := slices.IndexFunc(n.Edges, func(e graph.Edge) bool { return e.Field == "next" })
	if i < 0 {
		return graph.NoEdge, nil // the end of a body
	}
	return i, nil
}

// targetOf returns the way of a switch to the node with an id.
func targetOf(n *graph.Node, v value.Value) (int, error) {
	var targets []string
	for i := range n.Edges {
		if n.Edges[i].Catch {
			continue
		}
		if v.Kind() == value.String && n.Edges[i].Target == v.Str() {
			return i, nil
		}
		targets = append(targets, n.Edges[i].Target)
	}
	return 0, fmt.Errorf("a switch yields the id of the node that it goes to: expected %s, found %s", diag.List(targets), graph.Describe(v))
}
