package debug

import (
	"errors"
	"fmt"
	"math"
	"slices"

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

// Pin lets a node yield a value without being executed, from its next attempt on: no
// upstream tool is called, no person asked, and no body of it runs. It replaces a pin
// that is there. The name is as that of a [Breakpoint], and must mean one node.
//
// The value of a switch is the id of the node that it goes to; that of an exit is the
// result. Entries and fail nodes cannot be pinned.
func (s *Session) Pin(node string, v value.Value) error {
	if err := s.pin(node, v); err != nil {
		return err
	}
	s.emit(Event{Type: Changed, Record: -1, Text: "pins"})
	return nil
}

func (s *Session) pin(node string, v value.Value) error {
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
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return s.refuse(CanPin)
	}
	all := s.pinBytes - s.pins[n.Key()].bytes + size
	if all > MaxPinned {
		return fmt.Errorf("cannot pin %q: the values of pins have more than %d MiB", node, MaxPinned>>20)
	}
	s.pinBytes = all
	s.pins[n.Key()] = pin{graph.Output{Value: own, Edge: edge}, size}
	return nil
}

// Unpin lets a node be executed again.
func (s *Session) Unpin(node string) error {
	n, err := s.nodes.one(node)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.pins[n.Key()]
	switch {
	case s.over:
		return s.refuse(CanPin)
	case !ok:
		return fmt.Errorf("cannot unpin %q: it is not pinned", node)
	}
	s.pinBytes -= p.bytes
	delete(s.pins, n.Key())
	s.emit(Event{Type: Changed, Record: -1, Text: "pins"})
	return nil
}

// Pins returns the values of the pinned nodes by key.
func (s *Session) Pins() map[string]value.Value {
	s.mu.Lock()
	defer s.mu.Unlock()
	pins := map[string]value.Value{}
	for key, p := range s.pins {
		pins[key] = s.env.value(p.output.Value)
	}
	return pins
}

// pinned is the Pin of the driver.
func (s *Session) pinned(_ *executor.Run, t executor.Task) (graph.Output, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.pins[t.Node().Key()]
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

// SetOutput sets the output of a node for all that follows, while the run is paused:
// that of its latest execution which expressions see there. The way that the walk took
// stays as it is. A record of event [executor.Replaced] tells of it. The name is an id,
// a path or a key.
func (s *Session) SetOutput(node string, v value.Value) error {
	own, size, err := jsonOf(v)
	if err != nil {
		return fmt.Errorf("cannot set the output of %q: %w", node, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hold == nil || s.over {
		return s.refuse(CanSetOutput)
	}
	rec, err := s.latest(node)
	if err != nil {
		return err
	}
	return s.set(node, rec, own, size)
}

// latest returns the record of the execution of a node that is set; s.mu is held.
func (s *Session) latest(node string) (executor.Record, error) {
	scope, id, key := s.hold.scope.Latest(), node, ""
	if !slices.Contains(scope.Nodes(), node) {
		n, err := s.nodes.one(node)
		if err != nil {
			return executor.Record{}, err
		}
		id, key = n.ID, n.Key()
	}
	rec, ok := scope.Last(id)
	if !ok || key != "" && rec.Key != key {
		return rec, fmt.Errorf("cannot set the output of %q: where the run is paused, no execution of it has yielded anything", node)
	}
	return rec, nil
}

// set replaces an output; s.mu is held.
func (s *Session) set(node string, rec executor.Record, v value.Value, size int) error {
	if s.setBytes+size > MaxPinned {
		return fmt.Errorf("cannot set the output of %q: the values that were set have more than %d MiB", node, MaxPinned>>20)
	}
	now := rec.End // before the run is driven
	if s.clock != nil {
		now = s.clock.Now()
	}
	if err := s.run.Replace(rec, v, now); err != nil {
		return fmt.Errorf("cannot set the output of %q: its walk is over or was cancelled", node)
	}
	s.setBytes += size
	rec.Index, rec.Err = s.run.NextIndex()-1, nil
	s.emit(Event{Type: Replaced}.of(&rec))
	return nil
}

// setLast sets the output of the latest execution of a node in a run that was
// replayed.
func (s *Session) setLast(node string, v value.Value) error {
	own, size, err := jsonOf(v)
	if err != nil {
		return fmt.Errorf("cannot set the output of %q: %w", node, err)
	}
	found, err := s.nodes.find(node)
	if err != nil {
		return err
	}
	var last *executor.Record
	for rec := range s.run.Records(0) {
		ours := slices.ContainsFunc(found, func(n *graph.Node) bool { return n.Key() == rec.Key })
		if ours && (rec.Event == executor.Done || rec.Event == executor.Replaced) {
			last = &rec
		}
	}
	if last == nil {
		return fmt.Errorf("cannot set the output of %q: it has no execution before the place where the run goes on", node)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set(node, *last, own, size)
}
