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
	draft, err := ev.draft(args[0])
	if err != nil {
		return value.Undef, err
	}
	matches, err := t.n.pattern.eval(ev, t.env, draft.Value())
	if err != nil {
		return value.Undef, err
	}
	var one [1]value.Value
	if !matches.IsUndefined() {
		for _, m := range (stream{matches, matches.Kind() == value.Array}).items(&one) {
			if err := t.change(ev, draft, m); err != nil {
				return value.Undef, err
			}
		}
	}
	ev.leave()
	return draft.Value(), nil
}

// change updates one match in the copy.
func (t *transformer) change(ev *evaluator, draft *value.Draft, m value.Value) *Error {
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
			inside, err := ev.reaches(v, m, 0)
			if err != nil {
				return err
			}
			if inside {
				copied, err := ev.draft(v)
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
	for _, k := range keys {
		draft.Delete(m, k.Str())
	}
	return nil
}

// reaches reports whether the object m is v or part of it.
func (ev *evaluator) reaches(v, m value.Value, depth int) (bool, *Error) {
	if depth > maxValueDepth {
		return false, stopped(-1, "a value is nested too deeply")
	}
	if v.Kind() == value.Object && value.Same(v, m) {
		return true, nil
	}
	if err := ev.spend(1); err != nil {
		return false, err
	}
	for _, e := range v.Elems() {
		if found, err := ev.reaches(e, m, depth+1); found || err != nil {
			return found, err
		}
	}
	for _, e := range v.Entries() {
		if found, err := ev.reaches(e.Value, m, depth+1); found || err != nil {
			return found, err
		}
	}
	return false, nil
}
