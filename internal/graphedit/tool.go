package graphedit

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Tool returns the whole definition of a tool of a file: as it is written or, in
// the flat layout, with the nodes that it reaches under "nodes".
func Tool(root value.Value, name string) (value.Value, error) {
	_, t, err := toolNamed(root, name)
	if err != nil || !isFlat(root, name) {
		return t, err
	}
	var list []value.Value
	for _, i := range reached(root, name) {
		list = append(list, root.Get("nodes").Elems()[i])
	}
	return withMember(t, "nodes", value.FromArray(list)), nil
}

// resolveTool begins a path at the tool of the edit. It returns the pointer of
// where the steps that are left begin, and what is there.
func resolveTool(w *work, steps []string) (string, value.Value, []string, error) {
	at, t, err := toolNamed(w.root(), w.opts.Tool)
	if err != nil {
		return "", value.Undef, nil, err
	}
	if len(steps) == 0 {
		return "", value.Undef, nil, errors.New("the path is empty; expected one such as /nodes/0; updateTool replaces a whole tool")
	}
	if !isFlat(w.root(), w.opts.Tool) || steps[0] != "nodes" {
		return at, t, steps, nil
	}
	if len(steps) == 1 {
		return "", value.Undef, nil, errors.New("the list of nodes is shared by all tools of the file; edit its nodes one by one")
	}
	all := w.root().Get("nodes")
	own := reached(w.root(), w.opts.Tool)
	var list []value.Value
	for _, i := range own {
		list = append(list, all.Elems()[i])
	}
	key, node := stepInto(value.FromArray(list), unescapeStep.Replace(steps[1]))
	switch i, err := strconv.Atoi(key); {
	case !node.IsUndefined() && err == nil:
		return "/nodes", all, append([]string{strconv.Itoa(own[i])}, steps[2:]...), nil
	case key == "-" && len(steps) == 2:
		return "/nodes", all, []string{"-"}, nil
	}
	return "", value.Undef, nil, missingStep("/nodes", value.FromArray(list), steps[1])
}

// withMember returns an object with one member set.
func withMember(v value.Value, key string, to value.Value) value.Value {
	b := value.NewBuilder(v.Len() + 1)
	for _, e := range v.Entries() {
		b.Set(e.Key, e.Value)
	}
	b.Set(key, to)
	return b.Value()
}

// withoutMember returns an object without one member.
func withoutMember(v value.Value, key string) value.Value {
	return value.FromEntries(slices.DeleteFunc(slices.Clone(v.Entries()), func(e value.Entry) bool { return e.Key == key }))
}

// reached returns the indexes of the nodes of the flat layout that belong to a
// tool: those that its entry and its catch lead to, and those that name it.
func reached(root value.Value, tool string) []int {
	list := root.Get("nodes").Elems()
	index := map[string]int{}
	for i, n := range list {
		if id := n.Get("id").Str(); id != "" {
			index[id] = i
		}
	}
	in := map[int]bool{}
	var open []int
	visit := func(i int) {
		if !in[i] {
			in[i] = true
			open = append(open, i)
		}
	}
	follow := func(s source) {
		for _, e := range s.edges() {
			if i, ok := index[e.target]; ok {
				visit(i)
			}
		}
	}
	for i, n := range list {
		if typ := n.Get("type").Str(); (typ == "entry" || typ == "exit") && n.Get("tool").Str() == tool {
			visit(i)
		}
	}
	if _, t, err := toolNamed(root, tool); err == nil {
		follow(source{v: t, lists: []string{"catch"}})
	}
	for len(open) > 0 {
		i := open[0]
		open = open[1:]
		follow(nodeSource(place{"/nodes", i, list[i]}))
	}
	var all []int
	for i := range list {
		if in[i] {
			all = append(all, i)
		}
	}
	return all
}

// shared reports whether another tool reaches a node of the flat layout, too.
func shared(root value.Value, tool string, index int) bool {
	for _, t := range root.Get("tools").Elems() {
		if name := t.Get("name").Str(); name != tool && slices.Contains(reached(root, name), index) {
			return true
		}
	}
	return false
}

// addTool adds a tool or, if prompts/ or resources/ stands before its name, a prompt
// or resource.
func addTool(w *work, tool value.Value) error {
	name := tool.Get("name").Str()
	if name == "" {
		return errors.New(`the tool has no "name"`)
	}
	root := w.root()
	if _, _, err := toolNamed(root, name); err == nil {
		return fmt.Errorf("there is a %s already", graph.Quoted(name))
	}
	own := tool.Get("nodes")
	if isFlat(root, name) {
		tool = withoutMember(tool, "nodes")
	}
	key, short := sectionOf(name)
	if short == "" {
		return fmt.Errorf("the name %q ends after the slash", name)
	}
	tool = withMember(tool, "name", value.FromString(short))
	var err error
	switch tools := root.Get(key); tools.Kind() {
	case value.Array:
		err = w.insert("/"+key+"/-", tool)
	case value.Undefined:
		err = w.insert("/"+key, value.FromArray([]value.Value{tool}))
	default:
		err = w.set("/"+key, value.FromArray([]value.Value{tool}))
	}
	if err != nil || !isFlat(root, name) {
		return err
	}
	return mergeNodes(w, name, own)
}

func updateTool(w *work, name string, tool value.Value) error {
	pointer, old, err := toolNamed(w.root(), name)
	if err != nil {
		return err
	}
	to := tool.Get("name").Str()
	if to == "" {
		return errors.New(`the tool has no "name"`)
	}
	to = FullName(name, to)
	_, short := sectionOf(to)
	tool = withMember(tool, "name", value.FromString(short))
	if to != name {
		if err := renameTool(w, name, to); err != nil {
			return err
		}
		pointer, old, _ = toolNamed(w.root(), to)
	}
	if !isFlat(w.root(), name) {
		return w.become(pointer, old, tool)
	}
	if err := w.become(pointer, old, withoutMember(tool, "nodes")); err != nil {
		return err
	}
	return mergeNodes(w, to, tool.Get("nodes"))
}

// mergeNodes makes nodes those of a tool in the flat layout.
func mergeNodes(w *work, tool string, list value.Value) error {
	if list.Kind() != value.Array {
		return errors.New(`the tool has no list "nodes"`)
	}
	root := w.root()
	own := reached(root, tool)
	keep := map[string]bool{}
	for i, n := range list.Elems() {
		id := n.Get("id").Str()
		if id == "" {
			return fmt.Errorf(`node %d has no "id"`, i+1)
		}
		if keep[id] {
			return fmt.Errorf("there are two nodes %q", id)
		}
		keep[id] = true
	}
	for _, i := range slices.Backward(own) {
		if n := root.Get("nodes").Elems()[i]; !keep[n.Get("id").Str()] && !shared(root, tool, i) {
			if err := w.edit(edit.Remove(join("/nodes", i))); err != nil {
				return err
			}
		}
	}
	var taken []string
	for _, n := range list.Elems() {
		if typ := n.Get("type").Str(); typ == "entry" || typ == "exit" {
			n = withTool(n, tool)
		}
		id := n.Get("id")
		at, old := withID(w.root().Get("nodes"), id.Str())
		var err error
		switch {
		case old.IsUndefined() && w.root().Get("nodes").Kind() != value.Array:
			err = w.set("/nodes", value.FromArray([]value.Value{n}))
		case old.IsUndefined():
			err = w.insert("/nodes/-", n)
		case !slices.ContainsFunc(own, func(i int) bool { return value.Equal(root.Get("nodes").Elems()[i].Get("id"), id) }):
			taken = append(taken, id.Str())
		default:
			err = w.become(join("/nodes", at), old, n)
		}
		if err != nil {
			return err
		}
	}
	if taken != nil {
		return fmt.Errorf("other tools have nodes with these ids, and all tools of this file share one list: %s; use ids such as %q", diag.List(taken), tool+"_"+taken[0])
	}
	return nil
}

// withID returns the index of the node with an id, and the node.
func withID(list value.Value, id string) (int, value.Value) {
	for i, n := range list.Elems() {
		if n.Get("id").Str() == id {
			return i, n
		}
	}
	return -1, value.Undef
}

// withTool returns an entry or exit node of the flat layout with the name of its
// tool behind its type.
func withTool(n value.Value, tool string) value.Value {
	b := value.NewBuilder(n.Len() + 1)
	for _, e := range n.Entries() {
		if e.Key == "tool" {
			continue
		}
		b.Set(e.Key, e.Value)
		if e.Key == "type" {
			b.Set("tool", value.FromString(tool))
		}
	}
	return b.Value()
}

// renameTool gives a tool another name. The nodes that name it follow.
func renameTool(w *work, name, to string) error {
	pointer, _, err := toolNamed(w.root(), name)
	switch {
	case err != nil:
		return err
	case to == "":
		return errors.New("the new name is empty")
	case name == to:
		return nil
	}
	if _, _, err := toolNamed(w.root(), to); err == nil {
		return fmt.Errorf("there is a %s already", graph.Quoted(to))
	}
	_, short := sectionOf(to)
	if prefixOf(to) != prefixOf(name) || short == "" {
		return fmt.Errorf("the new name of %s must begin with %q too", graph.Quoted(name), prefixOf(name))
	}
	ops := []edit.Operation{edit.Set(join(pointer, "name"), value.FromString(short))}
	follow := func(p place) bool {
		switch typ := p.v.Get("type").Str(); {
		case p.v.Get("tool").Str() != name:
		case typ == "call", isFlat(w.root(), name) && (typ == "entry" || typ == "exit"):
			ops = append(ops, edit.Set(join(p.pointer(), "tool"), value.FromString(to)))
		}
		return true
	}
	for _, s := range sections {
		for i, t := range w.root().Get(s.key).Elems() {
			walk(join("", s.key, i, "nodes"), t.Get("nodes"), follow)
			for _, key := range []string{"messages", "arguments", "complete"} {
				ops = append(ops, renamedCalls(join("", s.key, i, key), t.Get(key), name, to)...)
			}
		}
	}
	walk("/nodes", w.root().Get("nodes"), follow)
	return w.edit(ops...)
}

// renamedCalls returns the edits of the expressions below a pointer that call a tool
// with $call.
func renamedCalls(pointer string, v value.Value, name, to string) (ops []edit.Operation) {
	source := v.Get("expr")
	if source.Kind() == value.String {
		text := source.Str()
		if prog, err := expr.CompileWithCalls(text); err == nil {
			for _, c := range slices.Backward(prog.Calls()) {
				if c.Tool == name {
					text = text[:c.Offset] + string(value.AppendString(nil, to)) + text[c.End:]
				}
			}
		}
		if text != source.Str() {
			ops = append(ops, edit.Set(join(pointer, "expr"), value.FromString(text)))
		}
	}
	for _, e := range v.Entries() {
		ops = append(ops, renamedCalls(join(pointer, e.Key), e.Value, name, to)...)
	}
	for i, e := range v.Elems() {
		ops = append(ops, renamedCalls(join(pointer, i), e, name, to)...)
	}
	return ops
}

// deleteTool removes a tool and, in the flat layout, the nodes that no other tool
// reaches.
func deleteTool(w *work, name string) error {
	root := w.root()
	pointer, _, err := toolNamed(root, name)
	if err != nil {
		return err
	}
	ops := []edit.Operation{edit.Remove(pointer)}
	if isFlat(root, name) {
		for _, i := range slices.Backward(reached(root, name)) {
			if !shared(root, name, i) {
				ops = append(ops, edit.Remove(join("/nodes", i)))
			}
		}
	}
	return w.edit(ops...)
}
