package jsonata

import "github.com/mcpgraph/mcpgraph/pkg/value"

// transformNode is |pattern|update,delete|: a function that changes a copy of
// what it is given.
type transformNode struct {
	pattern, update, remove node
	off                     int
}

func (n *transformNode) eval(_ *evaluator, f *frame, _ value.Value) (value.Value, *Error) {
	return value.FromFunc(&transformer{n, f}), nil
}

type transformer struct {
	n   *transformNode
	env *frame
}

func (t *transformer) arity() int { return 1 }

var transformSignature = mustSignature("<(oa):o>")

func (t *transformer) call(ev *evaluator, args []value.Value, context value.Value) (value.Value, *Error) {
	args, err := transformSignature.bind(args, context)
	if err != nil {
		return value.Undef, err
	}
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	if err := ev.enter(t.n.off); err != nil {
		return value.Undef, err
	}
	draft, err := draftOf(ev, args[0])
	if err != nil {
		return value.Undef, err
	}
	matches, err := t.n.pattern.eval(ev, t.env, draft.Value())
	if err != nil {
		return value.Undef, err
	}
	var one [1]value.Value
	c := change{transformer: t, ev: ev, draft: draft}
	if !matches.IsUndefined() {
		for _, m := range (stream{matches, matches.Kind() == value.Array}).items(&one) {
			if err := c.apply(m); err != nil {
				return value.Undef, err
			}
		}
	}
	ev.leave()
	return draft.Value(), nil
}

// change is one call of a transformer.
type change struct {
	*transformer
	ev    *evaluator
	draft *value.Draft
	// Values that hold nothing of the draft, which cannot change any more: an
	// update often puts the same one into every match.
	foreign [4]value.Value
	known   int // so far
}

// apply updates one match in the copy.
func (t *change) apply(m value.Value) *Error {
	ev, draft := t.ev, t.draft
	update, err := t.n.update.eval(ev, t.env, m)
	if err != nil {
		return err
	}
	if !update.IsUndefined() {
		if update.Kind() != value.Object {
			return newError("T2011", t.n.off, details{value: update})
		}
		for _, e := range update.Entries() {
			v := e.Value
			// An object must not become part of itself: it gets a copy of what
			// it is now.
			inside, err := t.reaches(v, m)
			if err != nil {
				return err
			}
			if inside {
				copied, err := draftOf(ev, v)
				if err != nil {
					return err
				}
				v = copied.Value()
			}
			draft.Set(m, e.Key, v)
		}
	}
	if t.n.remove == nil {
		return nil
	}
	remove, err := t.n.remove.eval(ev, t.env, m)
	if err != nil || remove.IsUndefined() {
		return err
	}
	var one [1]value.Value
	keys := stream{remove, remove.Kind() == value.Array}.items(&one)
	if !allOf(keys, value.String) {
		return newError("T2012", t.n.off, details{value: remove})
	}
	if err := ev.spend(len(keys) + m.Len()); err != nil {
		return err
	}
	names := make([]string, len(keys))
	for i := range keys {
		names[i] = keys[i].Str()
	}
	draft.Delete(m, names)
	return nil
}

// reaches reports whether the object m is v or part of it.
func (t *change) reaches(v, m value.Value) (bool, *Error) {
	if v.Len() == 0 {
		return value.Same(v, m), nil
	}
	for i := range t.foreign {
		if value.Same(t.foreign[i], v) {
			return false, nil
		}
	}
	w := search{ev: t.ev, draft: t.draft, object: m, foreign: true}
	found, err := w.in(v, 0)
	if err == nil && w.foreign {
		t.foreign[t.known%len(t.foreign)] = v
		t.known++
	}
	return found, err
}

// search looks for an object of a draft in a value.
type search struct {
	ev      *evaluator
	draft   *value.Draft
	object  value.Value
	foreign bool // no object of the draft was seen
}

func (w *search) in(v value.Value, depth int) (bool, *Error) {
	if depth > maxValueDepth {
		return false, stopped(-1, "a value is nested too deeply")
	}
	if v.Kind() == value.Object {
		if value.Same(v, w.object) {
			return true, nil
		}
		w.foreign = w.foreign && !w.draft.Owns(v)
	}
	if err := w.ev.spend(1); err != nil {
		return false, err
	}
	for _, e := range v.Elems() {
		if found, err := w.in(e, depth+1); found || err != nil {
			return found, err
		}
	}
	for _, e := range v.Entries() {
		if found, err := w.in(e.Value, depth+1); found || err != nil {
			return found, err
		}
	}
	return false, nil
}
