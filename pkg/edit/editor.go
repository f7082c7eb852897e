package edit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// editor finds the edits of one operation.
type editor struct {
	printer
	now   version
	kind  part
	edits []TextEdit
}

// slot is a value with the place where it stands.
type slot struct {
	v     *config.Layout
	kind  part
	key   *config.Layout // in a map
	after int            // the offset behind the colon or dash, 0 for the root
	col   int            // of the items of the map or list around it
	item  bool           // in a list
	flow  bool           // in braces or brackets
}

// run applies an operation and checks that nothing else has changed.
func (e *editor) run(path string, op Operation) (version, error) {
	at, err := steps(op.path)
	if err != nil {
		return version{}, err
	}
	if len(at) == 0 {
		return version{}, fmt.Errorf("%w: the whole file cannot be edited", ErrPath)
	}
	if !e.now.layout.IsOrdered() {
		return version{}, fmt.Errorf("%w: the file has an unusual form", ErrUnsafe)
	}
	around, err := e.find(at[:len(at)-1])
	if err != nil {
		return version{}, err
	}
	change, err := e.operate(around, at[len(at)-1], op)
	if err != nil {
		return version{}, err
	}
	slices.SortStableFunc(e.edits, func(a, b TextEdit) int { return a.Start - b.Start })
	for i := 1; i < len(e.edits); i++ {
		if e.edits[i].Start < e.edits[i-1].End {
			return version{}, fmt.Errorf("%w: two edits overlap", ErrUnsafe)
		}
	}
	next, err := parse(path, Apply(e.src, e.edits))
	if err != nil {
		return version{}, fmt.Errorf("%w: the result would not be valid YAML", ErrUnsafe)
	}
	return next, e.check(next, changed(e.now.value, at, change))
}

// check returns an error if a text has another value than the wanted one, or
// if a comment was lost that stands outside of the edits.
func (e *editor) check(next version, want value.Value) error {
	if next.value.JSON() != want.JSON() {
		return fmt.Errorf("%w: other values would change, too; an anchor may be in use elsewhere", ErrUnsafe)
	}
	var kept, found []string
	i := 0
	for _, c := range commentsOf(e.src, e.now.layout) {
		for i < len(e.edits) && e.edits[i].End <= c.at {
			i++
		}
		if i == len(e.edits) || e.edits[i].Start > c.at {
			kept = append(kept, c.text)
		}
	}
	for _, c := range commentsOf(next.text, next.layout) {
		found = append(found, c.text)
	}
	slices.Sort(kept)
	slices.Sort(found)
	if !slices.Equal(kept, found) {
		// A moved element takes its comments along.
		all := comments(e.src, e.now.layout)
		slices.Sort(all)
		if !slices.Equal(all, found) {
			return fmt.Errorf("%w: a comment would change", ErrUnsafe)
		}
	}
	return nil
}

// find returns the map or list at a path.
func (e *editor) find(path []string) (slot, error) {
	s := slot{v: e.now.layout, kind: e.kind, col: -indentation}
	for _, step := range path {
		next, err := e.child(s, step)
		if err != nil {
			return slot{}, err
		}
		s = next
	}
	if s.v.Style == config.AliasStyle {
		return slot{}, fmt.Errorf("%w: the value is the alias *%s; edit what has the anchor", ErrPath, s.v.Text)
	}
	if s.v.Kind == config.Scalar {
		return slot{}, fmt.Errorf("%w: there is no map or list", ErrPath)
	}
	if s.v.Style == config.BlockStyle && !e.isRegular(s.v) {
		return slot{}, fmt.Errorf("%w: the map or list has an unusual form", ErrUnsafe)
	}
	return s, nil
}

// child returns a value in a map or list.
func (e *editor) child(s slot, step string) (slot, error) {
	l := s.v
	switch {
	case l.Style == config.AliasStyle:
		return slot{}, fmt.Errorf("%w: it leads through the alias *%s; edit what has the anchor", ErrPath, l.Text)
	case l.Kind == config.Scalar:
		return slot{}, fmt.Errorf("%w: there is no map or list with %q", ErrPath, step)
	case l.Kind == config.List:
		i, err := index(step, len(l.Items))
		if err != nil {
			return slot{}, err
		}
		return e.element(s, i), nil
	}
	for i := 0; i < len(l.Items); i += 2 {
		if k := l.Items[i]; k.Kind == config.Scalar && k.Style != config.AliasStyle && k.Text == step {
			return e.entry(s, i/2), nil
		}
	}
	return slot{}, fmt.Errorf("%w: there is no key %q", ErrPath, step)
}

// element returns an element of a list.
func (e *editor) element(s slot, i int) slot {
	c := slot{v: s.v.Items[i], kind: e.grammar.item(s.kind), item: true, flow: s.v.Style == config.FlowStyle}
	if !c.flow {
		at := s.v.Content
		if i > 0 {
			before := e.element(s, i-1)
			at = max(before.v.End, before.after)
		}
		dash := e.dash(at)
		c.after, c.col = dash+1, e.column(dash)
	}
	return c
}

// entry returns the value of a key of a map.
func (e *editor) entry(s slot, i int) slot {
	key := s.v.Items[2*i]
	c := slot{v: s.v.Items[2*i+1], key: key, kind: e.grammar.child(s.kind, s.v, key.Text), flow: s.v.Style == config.FlowStyle}
	if colon := e.colon(key.End); colon >= 0 {
		c.after = colon + 1
	} else {
		c.after = key.End
	}
	if !c.flow {
		c.col = e.column(s.v.Items[0].Start)
	}
	return c
}

// items returns the number of elements, or of keys.
func (s slot) items() int {
	if s.v.Kind == config.Map {
		return len(s.v.Items) / 2
	}
	return len(s.v.Items)
}

func (e *editor) at(s slot, i int) slot {
	if s.v.Kind == config.Map {
		return e.entry(s, i)
	}
	return e.element(s, i)
}

func (e *editor) edit(start, end int, text string) {
	if start == end && text == "" {
		return
	}
	if end == len(e.src) && strings.Contains(text, "\n") && !e.isLineStart(end) {
		text += "\n" // a block scalar needs the line break at its end
	}
	e.edits = append(e.edits, TextEdit{start, end, text})
}

// end returns the offset behind a value, without the line break that may belong
// to it.
func (e *editor) end(s slot) int {
	if s.v.IsEmpty() {
		return s.after
	}
	if e.isLineStart(s.v.End) {
		return s.v.End - 1
	}
	return s.v.End
}

// regionEnd returns the end of the last line of a value, with the comments below
// it that belong to it.
func (e *editor) regionEnd(s slot) int {
	found := lineEnd(e.src, e.end(s))
	for at := found + 1; at < len(e.src); {
		end := lineEnd(e.src, at)
		content := bytes.TrimLeft(e.src[at:end], " \t")
		if len(content) > 0 {
			if content[0] != '#' || end-at-len(content) <= s.col {
				break
			}
			found = end
		}
		at = end + 1
	}
	return found
}

// operate finds the edits. It returns the change of the value of the map or list.
func (e *editor) operate(around slot, step string, op Operation) (func(value.Value, string) value.Value, error) {
	isList := around.v.Kind == config.List
	here, err := e.child(around, step)
	switch op.kind {
	case setKind:
		if err != nil && isList {
			return nil, err
		}
		if err == nil {
			return func(v value.Value, _ string) value.Value { return withItem(v, step, op.value) }, e.replaceValue(here, op.value)
		}
		return e.insertKey(around, step, op.value)
	case insertKind:
		if isList {
			return e.insertElement(around, step, op.value)
		}
		if err == nil {
			return nil, fmt.Errorf("%w: there is a key %q already", ErrPath, step)
		}
		return e.insertKey(around, step, op.value)
	}
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(around.v.Items, func(l *config.Layout) bool { return l == here.v })
	if !isList {
		i /= 2
	}
	switch op.kind {
	case removeKind:
		return func(v value.Value, _ string) value.Value { return without(v, i) }, e.remove(around, i)
	case renameKind:
		return func(v value.Value, _ string) value.Value { return renamed(v, i, op.key) }, e.rename(around, here, op.key)
	default:
		if !isList || op.to < 0 || op.to >= around.items() {
			return nil, fmt.Errorf("%w: there is no place %d to move to", ErrPath, op.to)
		}
		return func(v value.Value, _ string) value.Value { return moved(v, i, op.to) }, e.move(around, i, op.to)
	}
}

func withItem(v value.Value, step string, to value.Value) value.Value {
	if v.Kind() == value.Array {
		list := slices.Clone(v.Elems())
		i, _ := index(step, len(list))
		list[i] = to
		return value.FromArray(list)
	}
	fields := slices.Clone(v.Entries())
	for i := range fields {
		if fields[i].Key == step {
			fields[i].Value = to
		}
	}
	return value.FromEntries(fields)
}

func without(v value.Value, i int) value.Value {
	if v.Kind() == value.Array {
		return value.FromArray(slices.Delete(slices.Clone(v.Elems()), i, i+1))
	}
	return value.FromEntries(slices.Delete(slices.Clone(v.Entries()), i, i+1))
}

func renamed(v value.Value, i int, key string) value.Value {
	fields := slices.Clone(v.Entries())
	fields[i].Key = key
	return value.FromEntries(fields)
}

func moved(v value.Value, from, to int) value.Value {
	list := slices.Clone(v.Elems())
	item := list[from]
	return value.FromArray(slices.Insert(slices.Delete(list, from, from+1), to, item))
}

func (e *editor) rename(around, here slot, key string) error {
	for i := range around.items() {
		if k := around.v.Items[2*i]; k != here.key && k.Text == key {
			return fmt.Errorf("%w: there is a key %q already", ErrPath, key)
		}
	}
	if here.key == nil {
		return fmt.Errorf("%w: elements of a list have no name", ErrPath)
	}
	e.edit(here.key.Content, here.key.End, scalarText(value.FromString(key), here.key.Style))
	return nil
}
