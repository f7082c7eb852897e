package value

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// Entry is one member of an object.
type Entry struct {
	Key   string
	Value Value
}

// Source answers for an object whose members are not stored but looked up,
// such as the document of a run. What it answers must never change. Lookup
// gives the undefined Value for an absent key.
type Source interface {
	Lookup(key string) Value
	Entries() []Entry
}

// indexFrom is the size from which an object is looked up through a map; up to
// it a scan over the keys is faster.
const indexFrom = 24

type object struct {
	entries []Entry
	index   atomic.Pointer[map[string]int]
}

type sourced struct {
	src     Source
	once    sync.Once
	entries []Entry
}

func (s *sourced) all() []Entry {
	s.once.Do(func() { s.entries = s.src.Entries() })
	return s.entries
}

// scan returns the place of key among a few entries, or -1.
func scan(entries []Entry, key string) int {
	for i := range entries {
		if entries[i].Key == key {
			return i
		}
	}
	return -1
}

// find returns the place of key, or -1. Safe for concurrent use.
func (o *object) find(key string) int {
	if len(o.entries) < indexFrom {
		return scan(o.entries, key)
	}
	idx := o.index.Load()
	if idx == nil {
		m := make(map[string]int, len(o.entries))
		for i := range o.entries {
			m[o.entries[i].Key] = i
		}
		idx = &m
		o.index.Store(idx)
	}
	if i, ok := (*idx)[key]; ok {
		return i
	}
	return -1
}

func fromObject(o *object) Value { return Value{meta: uint32(Object), ptr: unsafe.Pointer(o)} }

// FromEntries returns an object with these members in this order. It takes
// ownership of entries; keys must be unique (a [Builder] sees to that).
func FromEntries(entries []Entry) Value {
	if isShort(entries) {
		return fromShort(entries)
	}
	return fromObject(&object{entries: entries})
}

// isShort reports whether entries need no object around them: there are some,
// and few enough to be looked up one by one.
func isShort(entries []Entry) bool { return len(entries) > 0 && len(entries) < indexFrom }

func fromShort(entries []Entry) Value {
	return Value{meta: uint32(Object) | uint32(short), ptr: unsafe.Pointer(unsafe.SliceData(entries)), num: uint64(len(entries))}
}

func (v Value) shortEntries() []Entry { return unsafe.Slice((*Entry)(v.ptr), int(v.num)) }

// FromSource returns an object that src answers for.
func FromSource(src Source) Value {
	return Value{meta: uint32(Object) | uint32(virtual), ptr: unsafe.Pointer(&sourced{src: src})}
}

// Entries returns the members of an object in their order, nil for any other
// kind. The slice must not be modified.
func (v Value) Entries() []Entry {
	if v.Kind() != Object {
		return nil
	}
	switch v.repr() {
	case lazy:
		return (*lazyText)(v.ptr).value().Entries()
	case virtual:
		return (*sourced)(v.ptr).all()
	case short:
		return v.shortEntries()
	}
	return (*object)(v.ptr).entries
}

// Get returns the member of an object under key, or the undefined Value if
// there is none or v is not an object.
func (v Value) Get(key string) Value {
	if v.Kind() != Object {
		return Value{}
	}
	switch v.repr() {
	case lazy:
		return (*lazyText)(v.ptr).value().Get(key)
	case virtual:
		return (*sourced)(v.ptr).src.Lookup(key)
	case short:
		entries := v.shortEntries()
		for i := range entries {
			if entries[i].Key == key {
				return entries[i].Value
			}
		}
		return Value{}
	}
	o := (*object)(v.ptr)
	if i := o.find(key); i >= 0 {
		return o.entries[i].Value
	}
	return Value{}
}

// Has reports whether an object has a member under key.
func (v Value) Has(key string) bool {
	if v.Kind() != Object {
		return false
	}
	switch v.repr() {
	case lazy:
		return (*lazyText)(v.ptr).value().Has(key)
	case virtual:
		return !(*sourced)(v.ptr).src.Lookup(key).IsUndefined()
	case short:
		return scan(v.shortEntries(), key) >= 0
	}
	return (*object)(v.ptr).find(key) >= 0
}

// ObjectOf returns an object of keys and values in turn. A value is a [Value], a
// string, bool, int, float64 or a list of Values; an undefined one is left out.
func ObjectOf(pairs ...any) Value {
	b := NewBuilder(len(pairs) / 2)
	for i := 0; i < len(pairs); i += 2 {
		if v := of(pairs[i+1]); !v.IsUndefined() {
			b.Set(pairs[i].(string), v)
		}
	}
	return b.Value()
}

func of(x any) Value {
	switch x := x.(type) {
	case string:
		return FromString(x)
	case bool:
		return FromBool(x)
	case int:
		return FromInt(int64(x))
	case float64:
		return FromFloat(x)
	case []Value:
		return FromArray(x)
	}
	return x.(Value)
}

// Builder collects the members of an object. Setting a key again replaces its
// value and keeps its place. A Builder is for one goroutine.
type Builder struct {
	entries []Entry
	index   map[string]int
}

// NewBuilder returns a Builder with room for n members.
func NewBuilder(n int) *Builder {
	return &Builder{entries: make([]Entry, 0, n)}
}

func (b *Builder) find(key string) int {
	if b.index != nil {
		if i, ok := b.index[key]; ok {
			return i
		}
		return -1
	}
	for i := range b.entries {
		if b.entries[i].Key == key {
			return i
		}
	}
	return -1
}

// Set puts v under key.
func (b *Builder) Set(key string, v Value) {
	if i := b.find(key); i >= 0 {
		b.entries[i].Value = v
		return
	}
	if b.index != nil {
		b.index[key] = len(b.entries)
	} else if len(b.entries) == indexFrom {
		b.index = make(map[string]int, 2*indexFrom)
		for i := range b.entries {
			b.index[b.entries[i].Key] = i
		}
		b.index[key] = len(b.entries)
	}
	b.entries = append(b.entries, Entry{key, v})
}

// Get returns what was set under key, or the undefined Value.
func (b *Builder) Get(key string) Value {
	if i := b.find(key); i >= 0 {
		return b.entries[i].Value
	}
	return Value{}
}

// Len returns the number of members so far.
func (b *Builder) Len() int { return len(b.entries) }

// Value returns the object. The Builder must not be used afterwards.
func (b *Builder) Value() Value {
	if isShort(b.entries) {
		return fromShort(b.entries)
	}
	o := &object{entries: b.entries}
	if b.index != nil {
		o.index.Store(&b.index)
	}
	return fromObject(o)
}
