// Package value holds JSON values as they travel between the nodes of a graph.
//
// A [Value] is 24 bytes, immutable and safe to share between goroutines. It
// distinguishes undefined from null, keeps the order of object keys, carries
// numbers without an allocation, and shares strings with the text they were
// decoded from. Large documents can stay the text that came ([ParseLazy]) until
// somebody reads them.
//
// Strings are Go strings in UTF-8. A lone UTF-16 surrogate, which JSON can
// express and JavaScript keeps, is stored as its three-byte generalised UTF-8
// form (WTF-8) and written back as an escape.
package value

import (
	"unsafe"
)

// Kind is the type of a [Value].
type Kind uint8

// The kinds of values. Undefined is the kind of the zero Value: nothing is
// there, which JSON itself cannot express. Func is a function of an expression
// language; it has no JSON form.
const (
	Undefined Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
	Func
)

var kindNames = [...]string{"undefined", "null", "boolean", "number", "string", "array", "object", "function"}

// String returns the kind's name as messages show it.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// ArrayFlags mark an array for JSONata's rules of sequences. They belong to
// the Value, not to its elements: two Values may share elements and differ in
// flags. Encoding and [Equal] ignore them.
type ArrayFlags uint8

// Flags of arrays (JSONata, "Sequences").
const (
	// Sequence marks the result of a path or a function that yields many values.
	Sequence ArrayFlags = 1 << iota
	// KeepSingleton marks a sequence that stays an array when it has one element.
	KeepSingleton
	// Cons marks an array written by an array constructor.
	Cons
	// Outer marks an array that only wraps the input of an evaluation.
	Outer
)

// repr is what the pointer of a value leads to.
type repr uint32

const (
	plain   repr = iota << reprShift
	textual      // a number whose digits are kept; ptr is *string
	lazy         // an array or object still in its text; ptr is *lazyText
	virtual      // an object answered by a Source; ptr is *sourced
	short        // an object of few members; ptr is the first *Entry, num their number
)

// Where the parts of meta lie. The kind is the lowest byte.
const (
	flagsShift = 8
	reprShift  = 16
)

// Value is one JSON value, undefined, or a function. The zero Value is
// undefined. Values must not be compared with ==; see [Equal].
type Value struct {
	_   [0]func()
	ptr unsafe.Pointer // string data, first element, *object, or as repr says
	num uint64         // float bits, or length of a string, array or short object
	// Kind, ArrayFlags and repr in one word, so that a Value travels in three
	// registers.
	meta uint32
}

// Values without content.
var (
	Undef     = Value{}
	NullValue = Value{meta: uint32(Null)}
	True      = Value{meta: uint32(Bool), num: 1}
	False     = Value{meta: uint32(Bool)}
)

// FromBool returns b as a Value.
func FromBool(b bool) Value {
	if b {
		return True
	}
	return False
}

// FromString returns s as a Value; the bytes are shared, not copied.
func FromString(s string) Value {
	return Value{meta: uint32(String), ptr: unsafe.Pointer(unsafe.StringData(s)), num: uint64(len(s))}
}

// FromArray returns an array of elems. It takes ownership: elems must not be
// changed afterwards.
func FromArray(elems []Value) Value {
	return Value{meta: uint32(Array), ptr: unsafe.Pointer(unsafe.SliceData(elems)), num: uint64(len(elems))}
}

// FromFunc returns a function value that carries impl, which [Value.Func]
// gives back.
func FromFunc(impl any) Value {
	return Value{meta: uint32(Func), ptr: unsafe.Pointer(&impl)}
}

// Kind returns the value's kind.
func (v Value) Kind() Kind { return Kind(v.meta) }

func (v Value) repr() repr { return repr(v.meta) & (0xFF << reprShift) }

// IsUndefined reports whether nothing is there.
func (v Value) IsUndefined() bool { return v.Kind() == Undefined }

// IsNull reports whether v is JSON's null.
func (v Value) IsNull() bool { return v.Kind() == Null }

// Bool returns the boolean, or false where v is not a boolean.
func (v Value) Bool() bool { return v.Kind() == Bool && v.num != 0 }

// Truthy reports whether JavaScript takes v for true: all but undefined, null,
// false, 0, NaN and the empty string (ECMA-262, ToBoolean).
func (v Value) Truthy() bool {
	switch v.Kind() {
	case Undefined, Null:
		return false
	case Bool:
		return v.Bool()
	case Number:
		f := v.Float()
		return f != 0 && f == f
	case String:
		return v.Str() != ""
	}
	return true
}

// Str returns the string, or "" where v is not a string.
func (v Value) Str() string {
	if v.Kind() != String {
		return ""
	}
	return unsafe.String((*byte)(v.ptr), int(v.num))
}

// Func returns what [FromFunc] was given, or nil where v is not a function.
func (v Value) Func() any {
	if v.Kind() != Func {
		return nil
	}
	return *(*any)(v.ptr)
}

// Elems returns the elements of an array, nil for any other kind. The slice
// must not be modified.
func (v Value) Elems() []Value {
	if v.Kind() != Array {
		return nil
	}
	if v.repr() == lazy {
		return (*lazyText)(v.ptr).value().Elems()
	}
	return unsafe.Slice((*Value)(v.ptr), int(v.num))
}

// Len returns the number of elements of an array or entries of an object, 0
// for any other kind.
func (v Value) Len() int {
	switch v.Kind() {
	case Array:
		if v.repr() == lazy {
			return (*lazyText)(v.ptr).value().Len()
		}
		return int(v.num)
	case Object:
		return len(v.Entries())
	}
	return 0
}

// Flags returns the flags of an array, 0 for any other kind.
func (v Value) Flags() ArrayFlags { return ArrayFlags(v.meta >> flagsShift) }

// WithFlags returns v with its flags replaced; elements are shared. Only
// arrays carry flags, other kinds come back unchanged.
func (v Value) WithFlags(f ArrayFlags) Value {
	if v.Kind() == Array {
		v.meta = v.meta&^(0xFF<<flagsShift) | uint32(f)<<flagsShift
	}
	return v
}
