package graphedit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/mcpgraph/mcpgraph/internal/language"
	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// addNode adds a node: into an edge, to the end of a body, or to the end of the
// nodes of the tool, where nothing leads to it.
func addNode(w *work, o Operation) error {
	node, after, via, inBody := o.fields.Get("node"), o.text("after"), o.text("via"), o.text("body")
	id := node.Get("id").Str()
	tool, list := w.opts.Tool, ""
	switch {
	case id == "":
		return errors.New(`the node has no "id"`)
	case node.Get("type").Str() == "":
		return errors.New(`the node has no "type"`)
	case after == "" && via != "":
		return errors.New(`"via" names an edge of the node "after", which is missing`)
	case after != "":
		tool, _ = w.split(after)
	case inBody != "":
		tool, _ = w.split(inBody)
	}
	list, all, err := listOf(w.root(), tool)
	if err != nil {
		return err
	}
	if !walk(list, all, func(p place) bool { return p.id() != id }) {
		return fmt.Errorf("there is a node %q already", id)
	}
	switch {
	case after != "":
		return addBehind(w, node, after, cmp.Or(via, "next"))
	case inBody != "":
		return addToBody(w, node, inBody)
	case all.Kind() != value.Array:
		return w.set(list, value.FromArray([]value.Value{node}))
	}
	return w.insert(join(list, "-"), node)
}

// addBehind inserts a node into an edge of another one.
func addBehind(w *work, node value.Value, after, via string) error {
	p, err := w.node(after)
	if err != nil {
		return err
	}
	e, past, err := nodeSource(p).edge(via)
	if err != nil {
		return err
	}
	if past {
		return fmt.Errorf("node %q has no edge %q to add the node into", p.id(), via)
	}
	return insertBehind(w, node, p, e)
}

// insertBehind puts a node behind the one that the edge leaves.
func insertBehind(w *work, node value.Value, p place, e edge) error {
	at := join(p.list, p.index+1)
	if err := w.set(e.pointer, node.Get("id")); err != nil {
		return err
	}
	if plain, _ := edgeFields(node.Get("type").Str()); e.target != "" && !node.Has("next") && slices.Contains(plain, "next") {
		node = withMember(node, "next", value.FromString(e.target))
	}
	return w.insert(at, node)
}

// addToBody puts a node behind the last one of a body and, if that has no other
// end, leads its end to the node.
func addToBody(w *work, node value.Value, key string) error {
	b, err := w.body(key)
	if err != nil {
		return err
	}
	list := join(b.pointer, b.nodesKey...)
	if n := b.nodes.Len(); n > 0 {
		last := place{list, n - 1, b.nodes.Elems()[n-1]}
		if last.v.Get("type").Str() == "exit" && n > 1 { // the node before it leads to it
			last = place{list, n - 2, b.nodes.Elems()[n-2]}
		}
		if e, _, err := nodeSource(last).edge("next"); err == nil && last.v.Get("type").Str() != "switch" {
			return insertBehind(w, node, last, e)
		}
		return w.insert(join(list, "-"), node)
	}
	if b.nodes.Kind() == value.Array {
		return w.insert(join(list, "-"), node)
	}
	return w.set(list, value.FromArray([]value.Value{node}))
}

// removeNode removes a node. reconnect leads the edges to it on to its next or, at
// the end of a body, removes them.
func removeNode(w *work, key string, reconnect bool) error {
	p, err := w.node(key)
	if err != nil {
		return err
	}
	if reconnect {
		next := p.v.Get("next").Str()
		if next == p.id() {
			next = ""
		}
		tool, _ := w.split(key)
		if err := leadOn(w, tool, p.id(), next); err != nil {
			return err
		}
	}
	return w.edit(edit.Remove(p.pointer()))
}

// leadOn leads all edges to a node on to another one, or removes them if that is
// empty.
func leadOn(w *work, tool, id, next string) error {
	all, err := sourcesOf(w.root(), tool)
	if err != nil {
		return err
	}
	for _, s := range all {
		// From the end, so that the places of the others stay.
		for _, e := range slices.Backward(s.edges()) {
			switch {
			case e.target != id:
				continue
			case next != "":
				err = w.set(e.pointer, value.FromString(next))
			case e.rule == "":
				err = w.edit(edit.Remove(e.pointer))
			default:
				return fmt.Errorf("node %q has no next to which %s could lead; connect it to another node first", id, s.name)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// sourcesOf returns everything in a tool, or in the list that all tools share, that
// edges leave.
func sourcesOf(root value.Value, tool string) ([]source, error) {
	list, nodes, err := listOf(root, tool)
	if err != nil {
		return nil, err
	}
	var all []source
	for _, s := range sections {
		for i, t := range root.Get(s.key).Elems() {
			if name := s.prefix + t.Get("name").Str(); name == tool || isFlat(root, tool) && isFlat(root, name) {
				all = append(all, source{join("", s.key, i), t, graph.Quoted(name), nil, []string{"catch"}})
			}
		}
	}
	walk(list, nodes, func(p place) bool {
		all = append(all, nodeSource(p))
		for _, b := range bodiesOf(p) {
			if b.isMap {
				v := p.v.Get("body")
				if b.name != "" {
					v = p.v.Get("branches").Get(b.name)
				}
				all = append(all, source{b.pointer, v, fmt.Sprintf("the body of node %q", p.id()), nil, []string{"catch"}})
			}
		}
		return true
	})
	return all, nil
}

// renameNode gives a node another id. Edges and expressions follow.
func renameNode(w *work, key, to string) error {
	p, err := w.node(key)
	if err != nil {
		return err
	}
	tool, _ := w.split(key)
	source := w.doc.Source()
	text := bytes.TrimPrefix(source, []byte("\ufeff"))
	mark := len(source) - len(text)
	known, err := language.NewContext(w.ctx, w.path, string(text), language.Options{Config: true, Memory: w.opts.Memory}, nil)
	if err != nil {
		return err
	}
	edits, err := language.RenameNode(known, tool, p.id(), to)
	if err != nil {
		return err
	}
	slices.SortFunc(edits, func(a, b language.Edit) int { return cmp.Compare(a.From, b.From) })
	var changes []edit.TextEdit
	for _, e := range edits {
		changes = append(changes, edit.TextEdit{Start: mark + e.From, End: mark + e.To, Text: e.New})
	}
	doc, err := edit.Parse(w.path, edit.Apply(source, changes))
	if err != nil {
		return err
	}
	w.doc = doc
	return nil
}
