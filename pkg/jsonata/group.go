package jsonata

import "github.com/mcpgraph/mcpgraph/pkg/value"

// groupNode is what stands in the braces of an object constructor or a
// group-by: entries whose values see all items that gave the same key.
type groupNode struct {
	members  []member
	constant bool // all keys are different strings as they stand
	off      int
}

type member struct {
	name  string // the key, where it is a string as it stands
	key   node
	value node
	off   int
}

// objectNode is an object constructor: a grouping of the context.
type objectNode struct{ group *groupNode }

func (n *objectNode) eval(ev *evaluator, f *frame, in value.Value) (value.Value, *Error) {
	var one [1]value.Value
	return n.group.eval(ev, f, stream{in, in.Kind() == value.Array}.items(&one))
}

// bucket is one key of a grouping and the items that gave it. Items are counted
// before they are gathered, so that all find room at once.
type bucket struct {
	key    string
	member int
	at     int           // in the list of buckets
	count  int           // items that are not undefined
	size   int           // those, arrays flattened
	item   value.Value   // the first of them
	items  []value.Value // all of them, where there are several
}

func (b *bucket) note(item value.Value) {
	switch item.Kind() {
	case value.Undefined:
		return
	case value.Array:
		b.size += item.Len()
	default:
		b.size++
	}
	if b.count++; b.count == 1 {
		b.item = item
	}
}

// reserve makes room for the items of a bucket.
func (b *bucket) reserve(ev *evaluator) *Error {
	if b.count < 2 {
		return nil
	}
	if err := ev.cells(0, b.size); err != nil {
		return err
	}
	b.items = make([]value.Value, 0, b.size)
	return nil
}

// gather takes an item for which there is room.
func (b *bucket) gather(item value.Value) {
	if b.count > 1 && !item.IsUndefined() {
		b.items = appendTo(b.items, item)
	}
}

// appendTo appends a value, or the elements of an array.
func appendTo(list []value.Value, v value.Value) []value.Value {
	if v.Kind() == value.Array {
		return append(list, v.Elems()...)
	}
	return append(list, v)
}

func (b *bucket) context() value.Value {
	if b.items != nil {
		return value.FromArray(b.items)
	}
	return b.item
}

func (g *groupNode) eval(ev *evaluator, f *frame, items []value.Value) (value.Value, *Error) {
	if err := ev.enter(g.off); err != nil {
		return value.Undef, err
	}
	if len(items) == 0 {
		items = []value.Value{value.Undef}
	}
	var v value.Value
	var err *Error
	if len(items) == 1 && g.constant {
		v, err = g.plain(ev, f, items[0])
	} else {
		v, err = g.buckets(ev, f, items)
	}
	ev.leave()
	return v, err
}

// plain is for the usual object constructor: one item, fixed keys.
func (g *groupNode) plain(ev *evaluator, f *frame, in value.Value) (value.Value, *Error) {
	if err := ev.construct(2 * len(g.members)); err != nil {
		return value.Undef, err
	}
	entries := make([]value.Entry, 0, len(g.members))
	for i := range g.members {
		m := &g.members[i]
		v, err := m.value.eval(ev, f, in)
		if err != nil {
			return value.Undef, err
		}
		if !v.IsUndefined() {
			entries = append(entries, value.Entry{Key: m.name, Value: v})
		}
	}
	return value.FromEntries(entries), nil
}

// construct counts an array or object that a constructor makes.
func (ev *evaluator) construct(cells int) *Error {
	ev.built++
	return ev.meter(48 + 24*cells)
}

func (g *groupNode) buckets(ev *evaluator, f *frame, items []value.Value) (value.Value, *Error) {
	var set bucketSet
	var owners []int32 // the bucket of each item and member, -1 for none
	if len(items) > 1 {
		if err := ev.meter(4 * len(items) * len(g.members)); err != nil {
			return value.Undef, err
		}
		owners = make([]int32, len(items)*len(g.members))
	}
	for k, item := range items {
		for i := range g.members {
			if owners != nil {
				owners[k*len(g.members)+i] = -1
			}
			key, ok, err := g.members[i].keyFor(ev, f, item)
			if err != nil {
				return value.Undef, err
			}
			if !ok {
				continue
			}
			b, err := set.get(ev, key, i, g.members[i].off)
			if err != nil {
				return value.Undef, err
			}
			b.note(item)
			if owners != nil {
				owners[k*len(g.members)+i] = int32(b.at)
			}
		}
	}
	for _, b := range set.list {
		if err := b.reserve(ev); err != nil {
			return value.Undef, err
		}
	}
	for i, at := range owners {
		if at >= 0 {
			set.list[at].gather(items[i/len(g.members)])
		}
	}
	if err := ev.construct(2 * len(set.list)); err != nil {
		return value.Undef, err
	}
	entries := make([]value.Entry, 0, len(set.list))
	for _, b := range set.list {
		v, err := g.members[b.member].value.eval(ev, f, b.context())
		if err != nil {
			return value.Undef, err
		}
		if !v.IsUndefined() {
			entries = append(entries, value.Entry{Key: b.key, Value: v})
		}
	}
	return value.FromEntries(entries), nil
}

// keyFor evaluates the key of an entry for one item; not ok where there is
// none.
func (m *member) keyFor(ev *evaluator, f *frame, item value.Value) (string, bool, *Error) {
	if err := ev.spend(1); err != nil {
		return "", false, err
	}
	k, err := m.key.eval(ev, f, item)
	if err != nil || k.IsUndefined() {
		return "", false, err
	}
	if k.Kind() != value.String {
		return "", false, newError("T1003", m.off, details{value: k})
	}
	return k.Str(), true, nil
}

// bucketSet finds buckets by key and keeps their order.
type bucketSet struct {
	list  []*bucket
	index map[string]*bucket
}

func (s *bucketSet) get(ev *evaluator, key string, member, off int) (*bucket, *Error) {
	var found *bucket
	if s.index != nil {
		found = s.index[key]
	} else {
		for _, b := range s.list {
			if b.key == key {
				found = b
				break
			}
		}
	}
	if found != nil {
		if found.member != member {
			return nil, newError("D1009", off, details{value: value.FromString(key)})
		}
		return found, nil
	}
	if err := ev.meter(160); err != nil {
		return nil, err
	}
	b := &bucket{key: key, member: member, at: len(s.list)}
	s.list = append(s.list, b)
	switch {
	case s.index != nil:
		s.index[key] = b
	case len(s.list) > 8:
		s.index = make(map[string]*bucket, 32)
		for _, b := range s.list {
			s.index[b.key] = b
		}
	}
	return b, nil
}
