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
	return n.group.eval(ev, f, stream{in, in.Kind() == value.Array})
}

// bucket is one key of a grouping and the items that gave it. Items are counted
// before they are gathered, so that all find room at once.
type bucket struct {
	key    string
	member int
	count  int           // items that are not undefined
	size   int           // those, arrays flattened
	nested bool          // there are arrays among them
	item   value.Value   // the first of them
	items  []value.Value // all of them, where there are several
}

func (b *bucket) note(item value.Value) {
	switch item.Kind() {
	case value.Undefined:
		return
	case value.Array:
		b.size += item.Len()
		b.nested = true
	default:
		b.size++
	}
	if b.count++; b.count == 1 {
		b.item = item
	}
}

// reserve makes room for the items of buckets.
func reserve(ev *evaluator, buckets []bucket) *Error {
	size := 0
	for i := range buckets {
		if buckets[i].count > 1 {
			size += buckets[i].size
			if err := ev.cells(buckets[i].size); err != nil {
				return err
			}
		}
	}
	room := make([]value.Value, size)
	for i := range buckets {
		if b := &buckets[i]; b.count > 1 {
			b.items, room = room[:0:b.size], room[b.size:]
		}
	}
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

func (g *groupNode) eval(ev *evaluator, f *frame, in stream) (value.Value, *Error) {
	if err := ev.enter(g.off); err != nil {
		return value.Undef, err
	}
	if in.many {
		switch elems := in.v.Elems(); len(elems) {
		case 0:
			in = stream{}
		case 1:
			in = stream{v: elems[0]}
		}
	}
	var v value.Value
	var err *Error
	switch {
	case !g.constant:
		var one [1]value.Value
		v, err = g.buckets(ev, f, in.items(&one))
	case in.many:
		if in.v, err = joinItems(ev, in.v.Elems()); err == nil {
			v, err = g.plain(ev, f, in.v)
		}
	default:
		v, err = g.plain(ev, f, in.v)
	}
	ev.leave()
	return v, err
}

// joinItems returns the context that items of one key make together.
func joinItems(ev *evaluator, items []value.Value) (value.Value, *Error) {
	if err := ev.spend(len(items) >> 3); err != nil {
		return value.Undef, err
	}
	var all [1]bucket
	b := &all[0]
	for _, item := range items {
		b.note(item)
	}
	if b.count == len(items) && !b.nested {
		return value.FromArray(items), nil // they never change
	}
	if err := reserve(ev, all[:]); err != nil {
		return value.Undef, err
	}
	for _, item := range items {
		b.gather(item)
	}
	return b.context(), nil
}

// plain is for the usual object constructor: one context, fixed keys.
func (g *groupNode) plain(ev *evaluator, f *frame, in value.Value) (value.Value, *Error) {
	if err := construct(ev, 2*len(g.members)); err != nil {
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
func construct(ev *evaluator, cells int) *Error {
	ev.built++
	return ev.meter(48 + 24*cells)
}

func (g *groupNode) buckets(ev *evaluator, f *frame, items []value.Value) (value.Value, *Error) {
	var set bucketSet
	// The bucket of each item and member, -1 for none.
	owners, base, err := ev.numbers(len(items) * len(g.members))
	if err != nil {
		return value.Undef, err
	}
	for k, item := range items {
		for i := range g.members {
			owner := &owners[k*len(g.members)+i]
			*owner = -1
			key, ok, err := g.members[i].keyFor(ev, f, item)
			if err != nil {
				return value.Undef, err
			}
			if !ok {
				continue
			}
			at, err := set.get(ev, key, i, g.members[i].off)
			if err != nil {
				return value.Undef, err
			}
			set.list[at].note(item)
			*owner = int32(at)
		}
	}
	if err := reserve(ev, set.list); err != nil {
		return value.Undef, err
	}
	for i, at := range owners {
		if at >= 0 {
			set.list[at].gather(items[i/len(g.members)])
		}
	}
	ev.dropNumbers(base)
	if err := construct(ev, 2*len(set.list)); err != nil {
		return value.Undef, err
	}
	entries := make([]value.Entry, 0, len(set.list))
	for i := range set.list {
		b := &set.list[i]
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

// keyFor evaluates the key of an entry for one item; not ok if there is none.
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
	list  []bucket
	index map[string]int // once there are many
}

// find returns the place of a key, or -1.
func (s *bucketSet) find(key string) int {
	if s.index != nil {
		if at, ok := s.index[key]; ok {
			return at
		}
		return -1
	}
	for i := range s.list {
		if s.list[i].key == key {
			return i
		}
	}
	return -1
}

// get returns the place of the bucket of a key that a member gave.
func (s *bucketSet) get(ev *evaluator, key string, member, off int) (int, *Error) {
	if at := s.find(key); at >= 0 {
		if s.list[at].member != member {
			return 0, newError("D1009", off, details{value: value.FromString(key)})
		}
		return at, nil
	}
	if err := ev.meter(320); err != nil {
		return 0, err
	}
	at := len(s.list)
	s.list = append(s.list, bucket{key: key, member: member})
	switch {
	case s.index != nil:
		s.index[key] = at
	case at == 16:
		s.index = make(map[string]int, 64)
		for i := range s.list {
			s.index[s.list[i].key] = i
		}
	}
	return at, nil
}
