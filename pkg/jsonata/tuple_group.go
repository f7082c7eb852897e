package jsonata

import "github.com/mcpgraph/mcpgraph/pkg/value"

// evalTuples is a group-by over tuples: the value of an entry sees each
// variable with what it was in all tuples of the entry.
func (g *groupNode) evalTuples(ev *evaluator, f *frame, t *tupleScope, ts []tuple) (value.Value, *Error) {
	if err := ev.enter(g.off); err != nil {
		return value.Undef, err
	}
	var set bucketSet
	var members [][]int // of each bucket, the tuples
	for i := range ts {
		for m := range g.members {
			key, ok, err := g.members[m].keyFor(ev, t.enter(ev, f, &ts[i]), ts[i].at)
			if err != nil {
				return value.Undef, err
			}
			if !ok {
				continue
			}
			at, err := set.get(ev, key, m, g.members[m].off)
			if err != nil {
				return value.Undef, err
			}
			if at == len(members) {
				members = append(members, nil)
			}
			members[at] = append(members[at], i)
		}
	}
	if err := construct(ev, 2*len(set.list)); err != nil {
		return value.Undef, err
	}
	entries := make([]value.Entry, 0, len(set.list))
	for i := range set.list {
		b := &set.list[i]
		all, err := merged(ev, ts, members[i], t.size)
		if err != nil {
			return value.Undef, err
		}
		v, err := g.members[b.member].value.eval(ev, t.enter(ev, f, &all), all.at)
		if err != nil {
			return value.Undef, err
		}
		if !v.IsUndefined() {
			entries = append(entries, value.Entry{Key: b.key, Value: v})
		}
	}
	ev.leave()
	return value.FromEntries(entries), nil
}

// merged joins the items and the variables of several tuples.
func merged(ev *evaluator, ts []tuple, list []int, size int) (tuple, *Error) {
	if len(list) == 1 {
		return ts[list[0]], nil
	}
	if err := ev.meter(24 * len(list) * (1 + size)); err != nil {
		return tuple{}, err
	}
	var failed *Error
	join := func(get func(*tuple) value.Value) value.Value {
		var one [1]bucket
		b := &one[0]
		for _, i := range list {
			b.note(get(&ts[i]))
		}
		if err := reserve(ev, one[:]); err != nil {
			failed = err
			return value.Undef
		}
		for _, i := range list {
			b.gather(get(&ts[i]))
		}
		return b.context()
	}
	all := tuple{at: join(func(t *tuple) value.Value { return t.at }), cells: make([]cell, size)}
	for k := range size {
		if len(ts[list[0]].cells) == size && ts[list[0]].cells[k].set {
			all.cells[k] = cell{join(func(t *tuple) value.Value {
				if t.cells == nil {
					return value.Undef
				}
				return t.cells[k].v
			}), true}
		}
	}
	return all, failed
}
