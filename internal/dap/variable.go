package dap

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	dap "github.com/google/go-dap"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Bounds of what is shown.
const (
	maxReferences = 100_000
	maxChildren   = 1000     // of a value, at a time
	maxPreview    = 200      // bytes of a value in a list
	maxShown      = 64 << 10 // bytes of one that is evaluated
	manyElements  = 100      // from which arrays are shown in parts
)

// kind is what a reference leads to.
type kind uint8

const (
	frameRef kind = iota
	documentRef
	variablesRef
	valueRef
)

// reference is something that the editor can ask about while the run is paused.
type reference struct {
	what  kind
	scope executor.Scope
	node  *graph.Node // of a frame
	value value.Value
	path  string // an expression for it, empty if there is none
	// root is the node whose output the value is part of, steps the way to it; they
	// are empty where it cannot be changed.
	root  string
	steps []string
}

// references are what the editor was told of since the run is paused.
type references struct {
	first int // the number of the first
	list  []reference
}

func (l *references) add(r reference) int {
	if len(l.list) >= maxReferences {
		return 0
	}
	if l.first == 0 {
		l.first = 1
	}
	l.list = append(l.list, r)
	return l.first + len(l.list) - 1
}

// clear forgets all, and gives their numbers to no others.
func (l *references) clear() { l.first, l.list = max(l.first, 1)+len(l.list), nil }

func (l *references) get(s *server, id int) (reference, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := id - l.first; l.first > 0 && i >= 0 && i < len(l.list) {
		return l.list[i], nil
	}
	return reference{}, fmt.Errorf("there is no reference %d (any more): the run has gone on", id)
}

func (l *references) frame(s *server, id int) (reference, error) {
	r, err := l.get(s, id)
	if err == nil && r.what != frameRef {
		err = fmt.Errorf("%d is not a frame", id)
	}
	return r, err
}

func isContainer(v value.Value) bool {
	return (v.Kind() == value.Array || v.Kind() == value.Object) && v.Len() > 0
}

// typeOf names the type of a value.
func typeOf(v value.Value) string {
	switch v.Kind() {
	case value.Undefined:
		return "undefined"
	case value.Bool:
		return "boolean"
	case value.Number:
		return "number"
	case value.String:
		return "string"
	case value.Array:
		return fmt.Sprintf("array (%d)", v.Len())
	case value.Object:
		return "object"
	}
	return "null"
}

// shown returns the text of a value, up to so many bytes.
func shown(v value.Value, most int) string {
	if v.IsUndefined() {
		return "undefined"
	}
	return v.Preview(most)
}

// child is a member of a reference.
type child struct {
	name  string
	value value.Value
	path  string
}

// children returns the members of a reference from a place on, and how many there are.
func children(t *target, r reference) []child {
	var list []child
	switch r.what {
	case documentRef:
		entries := t.session.Document(r.scope.Latest()).Entries()
		for i := len(entries) - 1; i >= 0; i-- { // in the order of execution
			list = append(list, child{entries[i].Key, entries[i].Value, "$" + member(entries[i].Key)})
		}
	case variablesRef:
		for _, v := range t.session.Variables(r.scope) {
			list = append(list, child{"$" + v.Key, v.Value, "$" + v.Key})
		}
	case valueRef:
		inner := func(step string) string {
			if r.path == "" {
				return ""
			}
			return r.path + step
		}
		if r.value.Kind() == value.Array {
			for i, e := range r.value.Elems() {
				index := "[" + strconv.Itoa(i) + "]"
				list = append(list, child{index, e, inner(index)})
			}
			break
		}
		for _, e := range r.value.Entries() {
			list = append(list, child{e.Key, e.Value, inner(member(e.Key))})
		}
	}
	return list
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// member returns the step of an expression to a member.
func member(name string) string {
	switch {
	case plainName.MatchString(name):
		return "." + name
	case strings.Contains(name, "`"):
		return ".$lookup(" + strconv.Quote(name) + ")"
	}
	return ".`" + name + "`"
}

func variables(s *server, t *target, a dap.VariablesArguments) (any, error) {
	r, err := s.refs.get(s, a.VariablesReference)
	if err != nil {
		return nil, err
	}
	body := dap.VariablesResponseBody{Variables: []dap.Variable{}}
	if r.root != "" { // it may have been set meanwhile
		if now, ok := follow(t.session.Document(r.scope.Latest()).Get(r.root), r.steps); ok {
			r.value = now
		}
	}
	list := children(t, r)
	isArray := r.what == valueRef && r.value.Kind() == value.Array
	if a.Filter == "named" && isArray || a.Filter == "indexed" && !isArray {
		return body, nil
	}
	total := len(list)
	from := min(max(a.Start, 0), total)
	to := min(total, from+maxChildren)
	if a.Count > 0 {
		to = min(to, from+a.Count)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range list[from:to] {
		body.Variables = append(body.Variables, shownVariable(s, r, c))
	}
	if a.Count <= 0 && to < total {
		body.Variables = append(body.Variables, dap.Variable{Name: "…", Value: fmt.Sprintf("%d more", total-to)})
	}
	return body, nil
}

// shownVariable describes a member of a reference; s.mu is held.
func shownVariable(s *server, of reference, c child) dap.Variable {
	v := dap.Variable{Name: c.name, Value: shown(c.value, maxPreview), Type: typeOf(c.value), EvaluateName: c.path}
	if isContainer(c.value) {
		next := reference{what: valueRef, scope: of.scope, value: c.value, path: c.path}
		if root, steps, ok := of.way(c.name); ok {
			next.root, next.steps = root, steps
		}
		v.VariablesReference = s.refs.add(next)
		v.NamedVariables, v.IndexedVariables = sizes(c.value)
	}
	return v
}

// sizes returns how many members a value has, if they are shown in parts.
func sizes(v value.Value) (named, indexed int) {
	if v.Kind() == value.Array && v.Len() > manyElements {
		return 0, v.Len()
	}
	return 0, 0
}

// way returns the node whose output a member is part of, and the way to it.
func (r *reference) way(name string) (root string, steps []string, ok bool) {
	switch {
	case r.what == documentRef:
		return name, nil, true
	case r.root != "":
		return r.root, append(r.steps[:len(r.steps):len(r.steps)], name), true
	}
	return "", nil, false
}

// setVariable sets the output of a node, or a part of it.
func setVariable(s *server, t *target, a dap.SetVariableArguments) (any, error) {
	r, err := s.refs.get(s, a.VariablesReference)
	if err != nil {
		return nil, err
	}
	root, steps, ok := r.way(a.Name)
	if !ok {
		return nil, errors.New("only outputs of nodes can be set: those in the scope Document")
	}
	v, err := value.ParseStrict(a.Value)
	if err != nil {
		return nil, fmt.Errorf("the value is not JSON: %w; strings need quotes", err)
	}
	whole := v
	if len(steps) > 0 {
		scope := r.scope.Latest()
		whole = t.session.Document(scope).Get(root)
		if raw := scope.Document().Get(root); raw.JSON() != whole.JSON() {
			return nil, fmt.Errorf("the output of %q has secrets, which are not shown: set all of it", root)
		}
		if whole, err = replaced(whole, steps, v); err != nil {
			return nil, err
		}
	}
	if err := t.session.SetOutput(root, whole); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	one := shownVariable(s, r, child{name: a.Name, value: v})
	return dap.SetVariableResponseBody{Value: one.Value, Type: one.Type, VariablesReference: one.VariablesReference, IndexedVariables: one.IndexedVariables}, nil
}

// follow returns what stands at the end of a way in a value.
func follow(v value.Value, steps []string) (value.Value, bool) {
	for _, step := range steps {
		if v.Kind() == value.Array {
			i, ok := elementOf(v, step)
			if !ok {
				return value.Undef, false
			}
			v = v.Elems()[i]
		} else if v = v.Get(step); v.IsUndefined() {
			return v, false
		}
	}
	return v, true
}

// elementOf returns the index of the element of an array that a step such as [3] means.
func elementOf(v value.Value, step string) (int, bool) {
	i, err := strconv.Atoi(strings.Trim(step, "[]"))
	return i, err == nil && i >= 0 && i < v.Len()
}

// replaced returns a copy of a value with another one at the end of a way.
func replaced(v value.Value, steps []string, by value.Value) (value.Value, error) {
	if len(steps) == 0 {
		return by, nil
	}
	if v.Kind() == value.Array {
		i, ok := elementOf(v, steps[0])
		if !ok {
			return v, fmt.Errorf("there is no element %s", steps[0])
		}
		var err error
		elems := append([]value.Value(nil), v.Elems()...)
		elems[i], err = replaced(elems[i], steps[1:], by)
		return value.FromArray(elems), err
	}
	if v.Kind() != value.Object || !v.Has(steps[0]) {
		return v, fmt.Errorf("there is no member %q", steps[0])
	}
	b := value.NewBuilder(v.Len())
	for _, e := range v.Entries() {
		one := e.Value
		if e.Key == steps[0] {
			var err error
			if one, err = replaced(one, steps[1:], by); err != nil {
				return v, err
			}
		}
		b.Set(e.Key, one)
	}
	return b.Value(), nil
}
