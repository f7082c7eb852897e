package graphedit

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// MaxOperations is how many operations one edit may have.
const MaxOperations = 200

// Operation is one change of a file: an object whose member op names what is done.
//
//	addNode     node (an object); after, and via for an edge other than next; or body
//	removeNode  node; reconnect leads the edges to the node on to its next
//	renameNode  node, to; edges and expressions follow
//	connect     from, via, to; rule for a new condition
//	disconnect  from, via
//	set         path, value
//	insert      path, value: into a list, in front of what is there
//	remove      path
//	move        path, to (an index): in a list
//	addTool     tool (an object)
//	updateTool  name, tool
//	renameTool  name, to; what calls the tool follows
//	deleteTool  name
//
// Nodes are named by their ids or by keys such as count#sizes[].info, bodies by keys
// such as sizes[] and both.news, and edges by their place in the node: next,
// declined, conditions[1], catch[0]. An empty from, and one that names a body, means
// the catch of the tool or body. Paths are JSON pointers, in which an element of a
// list may be named by its id or name: /tools/count/nodes/list/args.
type Operation struct {
	op     string
	fields value.Value
}

// operands are the members of operations: true for those that are required.
var operands = map[string]map[string]bool{
	"addNode":    {"node": true, "after": false, "via": false, "body": false},
	"removeNode": {"node": true, "reconnect": false},
	"renameNode": {"node": true, "to": true},
	"connect":    {"from": true, "via": true, "to": true, "rule": false},
	"disconnect": {"from": true, "via": true},
	"set":        {"path": true, "value": true},
	"insert":     {"path": true, "value": true},
	"remove":     {"path": true},
	"move":       {"path": true, "to": true},
	"addTool":    {"tool": true},
	"updateTool": {"name": true, "tool": true},
	"renameTool": {"name": true, "to": true},
	"deleteTool": {"name": true},
}

// NewOperation returns an operation with these members; it checks nothing.
func NewOperation(op string, members ...value.Entry) Operation {
	return Operation{op, value.FromEntries(members)}
}

// ParseOperations returns the operations of a list of objects.
func ParseOperations(list value.Value) ([]Operation, error) {
	if list.Kind() != value.Array {
		return nil, fmt.Errorf("expected a list of operations, found %s", list.Kind())
	}
	if list.Len() > MaxOperations {
		return nil, fmt.Errorf("there are %d operations, and one edit has at most %d", list.Len(), MaxOperations)
	}
	var all []Operation
	for i, v := range list.Elems() {
		o, err := parseOperation(v)
		if err != nil {
			return nil, &OperationError{i, o.op, err}
		}
		all = append(all, o)
	}
	return all, nil
}

// OperationError is the error of one operation in a list.
type OperationError struct {
	Index int
	Op    string // may be empty
	Err   error
}

// Error returns the error with the place of the operation, counted from 1.
func (e *OperationError) Error() string {
	if e.Op == "" {
		return fmt.Sprintf("operation %d: %v", e.Index+1, e.Err)
	}
	return fmt.Sprintf("operation %d (%s): %v", e.Index+1, e.Op, e.Err)
}

// Unwrap returns the error of the operation.
func (e *OperationError) Unwrap() error { return e.Err }

func parseOperation(v value.Value) (Operation, error) {
	if v.Kind() != value.Object {
		return Operation{}, fmt.Errorf("expected an object, found %s", v.Kind())
	}
	o := Operation{v.Get("op").Str(), v}
	known, ok := operands[o.op]
	if !ok {
		names := slices.Collect(maps.Keys(operands))
		if near, ok := diag.Nearest(o.op, names); ok {
			return o, fmt.Errorf("there is no such op; did you mean %q?", near)
		}
		return o, fmt.Errorf(`"op" is one of %s`, diag.List(names))
	}
	for _, e := range v.Entries() {
		if _, ok := known[e.Key]; !ok && e.Key != "op" {
			return o, fmt.Errorf("unexpected member %q; expected %s", e.Key, diag.List(slices.Collect(maps.Keys(known))))
		}
		if err := o.checkMember(e.Key, e.Value); err != nil {
			return o, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if known[name] && !v.Has(name) {
			return o, fmt.Errorf("missing %q", name)
		}
	}
	return o, nil
}

// checkMember checks the type of a member.
func (o Operation) checkMember(name string, v value.Value) error {
	want := value.String
	switch {
	case name == "value" || name == "rule":
		return nil
	case name == "node" && o.op == "addNode", name == "tool":
		want = value.Object
	case name == "to" && o.op == "move":
		want = value.Number
		if f := v.Float(); v.Kind() == want && (f < 0 || f != math.Trunc(f) || f > 1e6) {
			return fmt.Errorf("%q must be an index, found %s", name, v.JSON())
		}
	case name == "reconnect":
		want = value.Bool
	}
	if v.Kind() != want {
		return fmt.Errorf("%q must be of type %s, found %s", name, want, v.Preview(60))
	}
	return nil
}

func (o Operation) text(name string) string { return o.fields.Get(name).Str() }
