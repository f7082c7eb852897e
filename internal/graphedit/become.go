package graphedit

import (
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// become makes the value at a pointer another one with edits that are as small as
// possible, so that comments and styles of what is the same in both stay.
func (t *text) become(pointer string, old, next value.Value) error {
	if value.Equal(old, next) {
		return nil
	}
	before := t.doc
	err := error(nil)
	switch {
	case old.Kind() == value.Object && next.Kind() == value.Object && old.Len() > 0 && next.Len() > 0:
		err = t.becomeMap(pointer, old, next)
	case old.Kind() == value.Array && next.Kind() == value.Array && old.Len() > 0 && next.Len() > 0:
		err = t.becomeList(pointer, old, next)
	default:
		return t.set(pointer, next)
	}
	if err == nil {
		return nil
	}
	// Something in it cannot be edited by itself, such as an alias.
	t.doc = before
	if t.set(pointer, next) != nil {
		return err
	}
	return nil
}

func (t *text) becomeMap(pointer string, old, next value.Value) error {
	// New keys come first, so that the map is never empty in between.
	for _, e := range next.Entries() {
		var err error
		if old.Has(e.Key) {
			err = t.become(join(pointer, e.Key), old.Get(e.Key), e.Value)
		} else {
			err = t.insert(join(pointer, e.Key), e.Value)
		}
		if err != nil {
			return err
		}
	}
	for _, e := range old.Entries() {
		if !next.Has(e.Key) {
			if err := t.edit(edit.Remove(join(pointer, e.Key))); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *text) becomeList(pointer string, old, next value.Value) error {
	was, now := names(old), names(next)
	if was != nil && now != nil && slices.ContainsFunc(was, func(name string) bool { return slices.Contains(now, name) }) {
		return t.becomeNamed(pointer, old, next, was, now)
	}
	a, b := old.Elems(), next.Elems()
	from := 0
	for from < min(len(a), len(b)) && value.Equal(a[from], b[from]) {
		from++
	}
	tail := 0
	for tail < min(len(a), len(b))-from && value.Equal(a[len(a)-1-tail], b[len(b)-1-tail]) {
		tail++
	}
	a, b = a[from:len(a)-tail], b[from:len(b)-tail]
	for i := range min(len(a), len(b)) {
		if err := t.become(join(pointer, from+i), a[i], b[i]); err != nil {
			return err
		}
	}
	for i := len(a); i < len(b); i++ {
		if err := t.insert(join(pointer, from+i), b[i]); err != nil {
			return err
		}
	}
	for i := len(a) - 1; i >= len(b); i-- {
		if err := t.edit(edit.Remove(join(pointer, from+i))); err != nil {
			return err
		}
	}
	return nil
}

// names returns the ids or names of the elements of a list; nil unless all have
// one, and each another one.
func names(list value.Value) []string {
	var all []string
	for _, v := range list.Elems() {
		name := nameOf(v)
		if v.Kind() != value.Object || name == "" || slices.Contains(all, name) {
			return nil
		}
		all = append(all, name)
	}
	return all
}

// becomeNamed is becomeList for elements with names: those of the same name are the
// same element. At least one is in both lists.
func (t *text) becomeNamed(pointer string, old, next value.Value, was, now []string) error {
	was = slices.Clone(was)
	items := slices.Clone(old.Elems())
	for i, name := range slices.Backward(slices.Clone(was)) {
		if slices.Contains(now, name) {
			continue
		}
		if err := t.edit(edit.Remove(join(pointer, i))); err != nil {
			return err
		}
		was, items = slices.Delete(was, i, i+1), slices.Delete(items, i, i+1)
	}
	kept := slices.DeleteFunc(slices.Clone(now), func(name string) bool { return !slices.Contains(was, name) })
	for i := 0; i < len(kept); {
		if was[i] == kept[i] {
			i++
			continue
		}
		// What stands too early goes to its place, unless what belongs here is
		// farther away.
		from, to := slices.Index(was, kept[i]), i
		if at := slices.Index(kept, was[i]); at-i > from-i {
			from, to = i, at
		}
		if err := t.edit(edit.Move(join(pointer, from), to)); err != nil {
			return err
		}
		name, item := was[from], items[from]
		was = slices.Insert(slices.Delete(was, from, from+1), to, name)
		items = slices.Insert(slices.Delete(items, from, from+1), to, item)
	}
	for i, name := range now {
		v := next.Elems()[i]
		at := slices.Index(was, name)
		if at < 0 {
			if err := t.insert(join(pointer, i), v); err != nil {
				return err
			}
			was, items = slices.Insert(was, i, name), slices.Insert(items, i, v)
			continue
		}
		if err := t.become(join(pointer, at), items[at], v); err != nil {
			return err
		}
	}
	return nil
}
