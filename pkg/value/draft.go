package value

import "unsafe"

// Draft is a deep copy of a value whose objects can still be changed in
// place, so that every Value that leads to one of them sees the change. It is
// for one goroutine, and for use before the copy is shared: once it is, nothing
// may be changed any more.
type Draft struct {
	objects []object
	value   Value
}

// NewDraft returns a copy of v. Each scalar passes through leaf where it is not
// nil. Flags of arrays are dropped. The caller sees to it that v is not nested
// too deeply to be walked.
func NewDraft(v Value, leaf func(Value) Value) *Draft {
	d := &Draft{}
	d.objects = make([]object, 0, countObjects(v))
	d.value = d.copy(v, leaf)
	return d
}

// Value returns the copy.
func (d *Draft) Value() Value { return d.value }

func countObjects(v Value) int {
	n := 0
	switch v.Kind() {
	case Array:
		for _, e := range v.Elems() {
			n += countObjects(e)
		}
	case Object:
		n = 1
		for _, e := range v.Entries() {
			n += countObjects(e.Value)
		}
	}
	return n
}

func (d *Draft) copy(v Value, leaf func(Value) Value) Value {
	switch v.Kind() {
	case Array:
		elems := v.Elems()
		out := make([]Value, len(elems))
		for i := range elems {
			out[i] = d.copy(elems[i], leaf)
		}
		return FromArray(out)
	case Object:
		d.objects = append(d.objects, object{})
		o := &d.objects[len(d.objects)-1]
		entries := v.Entries()
		o.entries = make([]Entry, len(entries))
		for i := range entries {
			o.entries[i] = Entry{entries[i].Key, d.copy(entries[i].Value, leaf)}
		}
		return fromObject(o)
	}
	if leaf != nil {
		return leaf(v)
	}
	return v
}

// Owns reports whether v is an object of this draft, which Set and Delete
// demand.
func (d *Draft) Owns(v Value) bool { return d.find(v) != nil }

func (d *Draft) find(v Value) *object {
	if v.Kind() != Object || v.repr() != plain || len(d.objects) == 0 {
		return nil
	}
	p := uintptr(v.ptr)
	first := uintptr(unsafe.Pointer(&d.objects[0]))
	if p < first || p >= first+uintptr(len(d.objects))*unsafe.Sizeof(object{}) {
		return nil
	}
	return (*object)(v.ptr)
}

// Set puts a member into an object of the draft and reports whether it is one.
// The caller sees to it that v does not hold obj, which would make the value
// endless.
func (d *Draft) Set(obj Value, key string, v Value) bool {
	o := d.find(obj)
	if o == nil {
		return false
	}
	if i := o.find(key); i >= 0 {
		o.entries[i].Value = v
		return true
	}
	o.entries = append(o.entries, Entry{key, v})
	if index := o.index.Load(); index != nil {
		(*index)[key] = len(o.entries) - 1
	}
	return true
}

// Delete takes members out of an object of the draft and reports whether it
// is one.
func (d *Draft) Delete(obj Value, keys []string) bool {
	o := d.find(obj)
	if o == nil {
		return false
	}
	gone := make([]bool, len(o.entries))
	for _, key := range keys {
		if i := o.find(key); i >= 0 {
			gone[i] = true
		}
	}
	kept := o.entries[:0]
	for i, e := range o.entries {
		if !gone[i] {
			kept = append(kept, e)
		}
	}
	clear(o.entries[len(kept):])
	o.entries = kept
	o.index.Store(nil)
	return true
}
