package graphedit

import (
	"fmt"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// place is a node in the file.
type place struct {
	list  string // the pointer of the list that it is in
	index int
	v     value.Value
}

func (p place) pointer() string { return join(p.list, p.index) }
func (p place) id() string      { return p.v.Get("id").Str() }

// isFlat reports whether the nodes of a tool are in the list that serves all tools.
// Prompts and resources have nodes of their own.
func isFlat(root value.Value, tool string) bool {
	return root.Has("nodes") && prefixOf(tool) == ""
}

// sections are the lists of the file that hold graphs, and what stands before the
// names of those in it.
var sections = []struct{ key, prefix string }{
	{"tools", ""}, {"prompts", config.Prompts}, {"resources", config.Resources},
}

// sectionOf returns the key of the list that a tool, prompt or resource is in, and
// its name there.
func sectionOf(name string) (key, own string) {
	for _, s := range sections[1:] {
		if own, ok := strings.CutPrefix(name, s.prefix); ok {
			return s.key, own
		}
	}
	return sections[0].key, name
}

// prefixOf returns what stands before the name of a prompt or resource; empty for a
// tool.
func prefixOf(name string) string {
	_, own := sectionOf(name)
	return strings.TrimSuffix(name, own)
}

// FullName returns the name of what becomes of a tool, prompt or resource if its
// definition has another name: that of a prompt or resource may be written there
// without prompts/ or resources/.
func FullName(before, to string) string {
	if prefix := prefixOf(before); prefix != "" && prefixOf(to) == "" {
		return prefix + to
	}
	return to
}

// toolNamed returns the pointer of a tool, prompt or resource, and what it is.
func toolNamed(root value.Value, name string) (string, value.Value, error) {
	key, own := sectionOf(name)
	var names []string
	for i, t := range root.Get(key).Elems() {
		if found := t.Get("name").Str(); found == own && own != "" {
			return join("", key, i), t, nil
		} else if found != "" {
			names = append(names, prefixOf(name)+found)
		}
	}
	if name == "" {
		return "", value.Undef, fmt.Errorf("the edit names no tool")
	}
	return "", value.Undef, unknown(strings.TrimSuffix(key, "s"), name, names)
}

// unknown is the error for a name that is not there.
func unknown(what, name string, names []string) error {
	if near, ok := diag.Nearest(name, names); ok {
		return fmt.Errorf("there is no %s %q; did you mean %q?", what, name, near)
	}
	switch {
	case len(names) == 0:
		return fmt.Errorf("there is no %s %q, and no other", what, name)
	case len(names) > 20:
		names = names[:20]
	}
	return fmt.Errorf("there is no %s %q; there are %s", what, name, diag.List(names))
}

// listOf returns the list of nodes that a tool has, or that all tools share.
func listOf(root value.Value, tool string) (pointer string, list value.Value, err error) {
	if isFlat(root, tool) {
		return "/nodes", root.Get("nodes"), nil
	}
	at, t, err := toolNamed(root, tool)
	if err == nil && t.Has("messages") {
		return "", value.Undef, fmt.Errorf("%s has messages and no nodes; edit the messages by their paths, such as /messages/0/text", graph.Quoted(tool))
	}
	return join(at, "nodes"), t.Get("nodes"), err
}

// walk calls visit for every node of a list and of the bodies in it, until visit
// returns false.
func walk(pointer string, list value.Value, visit func(place) bool) bool {
	for i, n := range list.Elems() {
		p := place{pointer, i, n}
		if !visit(p) {
			return false
		}
		for _, b := range bodiesOf(p) {
			if !walk(join(b.pointer, b.nodesKey...), b.nodes, visit) {
				return false
			}
		}
	}
	return true
}

// body is a list of nodes inside a node.
type body struct {
	name    string // empty for that of a map
	pointer string // of the map or list that it is
	// nodesKey leads from there to the list of nodes.
	nodesKey []any
	nodes    value.Value
	isMap    bool // it can have a catch of its own
}

// bodiesOf returns the bodies of a node.
func bodiesOf(p place) []body {
	var all []body
	add := func(name, pointer string, v value.Value) {
		switch v.Kind() {
		case value.Array:
			all = append(all, body{name: name, pointer: pointer, nodes: v})
		case value.Object:
			all = append(all, body{name: name, pointer: pointer, nodesKey: []any{"nodes"}, nodes: v.Get("nodes"), isMap: true})
		}
	}
	add("", join(p.pointer(), "nodes"), p.v.Get("nodes"))
	add("", join(p.pointer(), "body"), p.v.Get("body"))
	for _, e := range p.v.Get("branches").Entries() {
		add(e.Key, join(p.pointer(), "branches", e.Key), e.Value)
	}
	return all
}

// split returns the tool that a key names, or the one of the edit, and the rest of
// the key.
func (w *work) split(key string) (tool, rest string) {
	if tool, rest, ok := strings.Cut(key, "#"); ok {
		if _, _, err := toolNamed(w.root(), tool); err == nil {
			return tool, rest
		}
	}
	return w.opts.Tool, key
}

// node returns the node with an id or key.
func (w *work) node(key string) (place, error) {
	tool, rest := w.split(key)
	pointer, list, err := listOf(w.root(), tool)
	if err != nil {
		return place{}, err
	}
	var ids []string
	for _, id := range []string{rest, rest[strings.LastIndexByte(rest, '.')+1:]} {
		var found place
		ids = ids[:0]
		if !walk(pointer, list, func(p place) bool {
			found = p
			ids = append(ids, p.id())
			return p.id() != id || id == ""
		}) {
			return found, nil
		}
	}
	return place{}, unknown("node", rest, ids)
}

// body returns the body with a key such as sizes[] or both.news.
func (w *work) body(key string) (body, error) {
	owner, branch := key, ""
	if cut, ok := strings.CutSuffix(key, "[]"); ok {
		owner = cut
	} else if i := strings.LastIndexByte(key, '.'); i >= 0 {
		owner, branch = key[:i], key[i+1:]
	}
	p, err := w.node(owner)
	if err != nil {
		return body{}, fmt.Errorf("there is no body %q; expected a key such as sizes[] or both.news: %w", key, err)
	}
	var names []string
	for _, b := range bodiesOf(p) {
		if b.name == branch {
			return b, nil
		}
		names = append(names, b.name)
	}
	if branch == "" {
		return body{}, fmt.Errorf("node %q has no body; one of its branches has a key such as %s.NAME", p.id(), p.id())
	}
	return body{}, unknown("branch", branch, names)
}
