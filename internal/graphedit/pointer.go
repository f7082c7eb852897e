package graphedit

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

var (
	escapeStep   = strings.NewReplacer("~", "~0", "/", "~1")
	unescapeStep = strings.NewReplacer("~1", "/", "~0", "~")
)

// join returns the pointer of something in what a pointer leads to. Steps are
// strings and ints.
func join(pointer string, steps ...any) string {
	for _, s := range steps {
		pointer += "/" + escapeStep.Replace(fmt.Sprint(s))
	}
	return pointer
}

// editPath sets, inserts, removes or moves what a path leads to.
func (w *work) editPath(o Operation) error {
	if to := o.fields.Get("value"); w.opts.Relative && o.op == "set" && o.text("path") == "/name" && to.Kind() == value.String {
		err := renameTool(w, w.opts.Tool, to.Str())
		if err == nil {
			w.opts.Tool = to.Str()
		}
		return err
	}
	path, old, err := w.resolve(o.text("path"), o.op == "set" || o.op == "insert")
	if err != nil {
		return err
	}
	switch o.op {
	case "set":
		if old.IsUndefined() {
			return w.insert(path, o.fields.Get("value"))
		}
		return w.become(path, old, o.fields.Get("value"))
	case "insert":
		return w.insert(path, o.fields.Get("value"))
	case "remove":
		return w.edit(edit.Remove(path))
	}
	return w.edit(edit.Move(path, int(o.fields.Get("to").Float())))
}

// resolve returns the JSON pointer in the file that a path stands for, and what is
// there. fresh permits that its last step is not there yet.
func (w *work) resolve(path string, fresh bool) (pointer string, v value.Value, err error) {
	if path == "" || path[0] != '/' {
		return "", value.Undef, fmt.Errorf("%q is no path; expected one such as /nodes/0/args", path)
	}
	steps := strings.Split(path, "/")[1:]
	v = w.root()
	if w.opts.Relative {
		if pointer, v, steps, err = resolveTool(w, steps); err != nil {
			return "", value.Undef, err
		}
	}
	return descend(pointer, v, steps, fresh)
}

// descend follows the steps of a path from a pointer, which leads to v.
func descend(pointer string, v value.Value, steps []string, fresh bool) (string, value.Value, error) {
	for i, step := range steps {
		step = unescapeStep.Replace(step)
		key, next := stepInto(v, step)
		if next.IsUndefined() {
			isEnd := key == "-" || key == strconv.Itoa(v.Len())
			if !fresh || i < len(steps)-1 || v.Kind() != value.Object && (v.Kind() != value.Array || !isEnd) {
				return "", value.Undef, missingStep(pointer, v, step)
			}
		}
		pointer, v = join(pointer, key), next
	}
	return pointer, v, nil
}

// stepInto returns the key or index that a step of a path stands for, and what is
// there.
func stepInto(v value.Value, step string) (string, value.Value) {
	if v.Kind() != value.Array {
		return step, v.Get(step)
	}
	list := v.Elems()
	if i, err := strconv.Atoi(step); err == nil && strconv.Itoa(i) == step && i >= 0 {
		if i < len(list) {
			return step, list[i]
		}
		return step, value.Undef
	}
	for i, item := range list {
		if name := nameOf(item); name != "" && name == step {
			return strconv.Itoa(i), item
		}
	}
	return step, value.Undef
}

// nameOf returns the id or name of an element of a list; empty if it has none.
func nameOf(v value.Value) string {
	if id := v.Get("id").Str(); id != "" {
		return id
	}
	return v.Get("name").Str()
}

func missingStep(pointer string, v value.Value, step string) error {
	if pointer == "" {
		pointer = "the file"
	}
	var names []string
	switch v.Kind() {
	case value.Object:
		for _, e := range v.Entries() {
			names = append(names, e.Key)
		}
	case value.Array:
		for _, item := range v.Elems() {
			if name := nameOf(item); name != "" {
				names = append(names, name)
			}
		}
		if len(names) == 0 {
			return fmt.Errorf("there is no element %q in %s, a list of %d", step, pointer, v.Len())
		}
	default:
		return fmt.Errorf("there is no %q in %s: it is neither a map nor a list", step, pointer)
	}
	if near, ok := diag.Nearest(step, names); ok {
		return fmt.Errorf("there is no %q in %s; did you mean %q?", step, pointer, near)
	}
	if len(names) > 20 {
		names = names[:20]
	}
	return fmt.Errorf("there is no %q in %s; there are %s", step, pointer, diag.List(names))
}
