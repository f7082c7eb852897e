package graphedit

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// edge is a place that names the next node.
type edge struct {
	pointer string // of the name, which may not be there yet
	target  string // empty if it is not there
	rule    string // the pointer of the condition or rule that it belongs to; empty if there is none
	sole    bool   // the rule is not in a list
}

// viaForm matches the names of edges, such as next, conditions[0] and catch[0].next.
var viaForm = regexp.MustCompile(`^([A-Za-z]+)(?:\[(\d{1,6})\])?(?:\.(?:next|target))?$`)

// source is what edges leave: a node, a tool or a body.
type source struct {
	pointer string
	v       value.Value
	name    string // for messages
	// plain are the fields that hold an edge, lists those that hold rules with one.
	plain, lists []string
}

// sourceAt returns what a key stands for in an operation on an edge.
func sourceAt(w *work, key string) (source, error) {
	tool, rest := w.split(key)
	if rest == "" {
		at, v, err := toolNamed(w.root(), tool)
		return source{at, v, graph.Quoted(tool), nil, []string{"catch"}}, err
	}
	p, err := w.node(key)
	if err == nil {
		return nodeSource(p), nil
	}
	if b, no := w.body(key); no == nil {
		if !b.isMap {
			return source{}, fmt.Errorf("the body %q is a list; write it as a map with nodes and catch first", key)
		}
		v, err := w.at(b.pointer)
		return source{b.pointer, v, fmt.Sprintf("the body %q", key), nil, []string{"catch"}}, err
	}
	return source{}, err
}

func nodeSource(p place) source {
	s := source{pointer: p.pointer(), v: p.v, name: fmt.Sprintf("node %q", p.id())}
	s.plain, s.lists = edgeFields(p.v.Get("type").Str())
	return s
}

// edgeFields returns the fields of a type of nodes that hold edges, and those that
// hold lists of rules with edges.
func edgeFields(typ string) (plain, lists []string) {
	for _, k := range nodes.All {
		if k.Name != typ {
			continue
		}
		for _, f := range graph.FieldsOf(k, false, true) {
			switch {
			case f.Type == graph.EdgeField:
				plain = append(plain, f.Name)
			case slices.ContainsFunc(f.Fields, func(g *graph.Field) bool { return g.Type == graph.EdgeField }):
				lists = append(lists, f.Name)
			}
		}
	}
	return plain, lists
}

// edges returns all edges that are written in a source.
func (s source) edges() []edge {
	var all []edge
	for _, name := range s.plain {
		if v := s.v.Get(name); v.Kind() == value.String {
			all = append(all, edge{pointer: join(s.pointer, name), target: v.Str()})
		}
	}
	for _, name := range s.lists {
		rules := s.v.Get(name)
		if rules.Kind() == value.Object {
			all = append(all, ruleEdge(join(s.pointer, name), rules, true))
		}
		for i, r := range rules.Elems() {
			all = append(all, ruleEdge(join(s.pointer, name, i), r, false))
		}
	}
	return all
}

func ruleEdge(pointer string, rule value.Value, sole bool) edge {
	key := "next"
	if rule.Has("target") && !rule.Has("next") {
		key = "target"
	}
	return edge{join(pointer, key), rule.Get(key).Str(), pointer, sole}
}

// edge returns an edge of a source. past is true for the edge that a rule behind
// the last one would have.
func (s source) edge(via string) (found edge, past bool, err error) {
	m := viaForm.FindStringSubmatch(via)
	if m == nil {
		return edge{}, false, fmt.Errorf("%q names no edge; expected one such as next, conditions[0] or catch[0]", via)
	}
	name, index := m[1], 0
	if m[2] != "" {
		index, _ = strconv.Atoi(m[2]) // of few digits
	}
	switch {
	case slices.Contains(s.plain, name) && m[2] == "":
		return edge{pointer: join(s.pointer, name), target: s.v.Get(name).Str()}, false, nil
	case !slices.Contains(s.lists, name):
		return edge{}, false, fmt.Errorf("%s has no edge %q; it can have %s", s.name, via, s.ways())
	}
	rules := s.v.Get(name)
	n := rules.Len()
	if rules.Kind() == value.Object {
		n = 1
	}
	switch {
	case index > n:
		return edge{}, false, fmt.Errorf("%s has no edge %q: %s has %d", s.name, via, name, n)
	case index == n:
		return edge{pointer: join(s.pointer, name)}, true, nil
	case rules.Kind() == value.Object:
		return ruleEdge(join(s.pointer, name), rules, true), false, nil
	}
	return ruleEdge(join(s.pointer, name, index), rules.Elems()[index], false), false, nil
}

// ways lists the edges that a source can have.
func (s source) ways() string {
	text := ""
	add := func(name string) {
		if text != "" {
			text += ", "
		}
		text += name
	}
	for _, name := range s.plain {
		add(name)
	}
	for _, name := range s.lists {
		add(name + "[N]")
	}
	if text == "" {
		return "none"
	}
	return text
}

func connect(w *work, o Operation) error {
	from, err := sourceAt(w, o.text("from"))
	if err != nil {
		return err
	}
	to, err := w.node(o.text("to"))
	if err != nil {
		return err
	}
	id := value.FromString(to.id())
	e, past, err := from.edge(o.text("via"))
	if err != nil {
		return err
	}
	if past {
		return addRule(w, from, e.pointer, o.fields.Get("rule"), id)
	}
	if rule := o.fields.Get("rule"); !rule.IsUndefined() {
		if e.rule == "" {
			return fmt.Errorf("an edge %q has no rule", o.text("via"))
		}
		if err := w.set(join(e.rule, "rule"), rule); err != nil {
			return err
		}
	}
	return w.set(e.pointer, id)
}

// addRule adds a condition or a rule for failures behind those of a source.
func addRule(w *work, from source, pointer string, rule, to value.Value) error {
	isCatch := pointer == join(from.pointer, "catch")
	next := value.Entry{Key: "next", Value: to}
	entry := value.FromEntries([]value.Entry{next})
	switch {
	case isCatch && !rule.IsUndefined():
		return fmt.Errorf("catch has no rule; set its errors and its when by path")
	case !isCatch && rule.IsUndefined():
		return fmt.Errorf("a new condition needs a rule, as the member \"rule\"")
	case !isCatch:
		entry = value.FromEntries([]value.Entry{{Key: "rule", Value: rule}, next})
	}
	list, err := w.at(pointer)
	switch {
	case err != nil && isCatch:
		return w.insert(pointer, entry)
	case err != nil:
		return w.insert(pointer, value.FromArray([]value.Value{entry}))
	case list.Kind() == value.Object:
		return w.set(pointer, value.FromArray([]value.Value{list, entry}))
	case list.Kind() != value.Array: // null
		return w.set(pointer, value.FromArray([]value.Value{entry}))
	}
	return w.insert(join(pointer, "-"), entry)
}

// disconnect removes an edge, with the condition or rule that leads to it.
func disconnect(w *work, from, via string) error {
	s, err := sourceAt(w, from)
	if err != nil {
		return err
	}
	e, past, err := s.edge(via)
	switch {
	case err != nil:
		return err
	case past || e.target == "":
		return fmt.Errorf("%s has no edge %q", s.name, via)
	case e.rule == "":
		return w.edit(edit.Remove(e.pointer))
	}
	return removeRule(w, s, e)
}

// removeRule removes the rule of an edge and, with the last rule for failures, the
// key of the list.
func removeRule(w *work, s source, e edge) error {
	if catch := join(s.pointer, "catch"); e.rule == catch+"/0" && s.v.Get("catch").Len() == 1 {
		return w.edit(edit.Remove(catch))
	}
	return w.edit(edit.Remove(e.rule))
}
