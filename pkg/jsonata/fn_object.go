package jsonata

import (
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

var objectFunctions = []native{
	{"keys", mustSignature("<x-:a<s>>"), 1, fnKeys},
	{"lookup", mustSignature("<x-s:x>"), 2, fnLookup},
	{"spread", mustSignature("<x-:a<o>>"), 1, fnSpread},
	{"merge", mustSignature("<a<o>:o>"), 1, fnMerge},
	{"clone", mustSignature("<(oa)-:x>"), 1, fnClone},
}

func fnKeys(ev *evaluator, args []value.Value) (value.Value, *Error) {
	var out []value.Value
	if args[0].Kind() == value.Array {
		b := value.NewBuilder(8)
		if err := keysOf(ev, args[0], b, 0); err != nil {
			return value.Undef, err
		}
		return fnKeys(ev, []value.Value{b.Value()})
	}
	entries := args[0].Entries()
	if err := ev.cells(len(entries)); err != nil {
		return value.Undef, err
	}
	if len(entries) > 0 {
		out = make([]value.Value, 0, len(entries))
	}
	for i := range entries {
		out = append(out, value.FromString(entries[i].Key))
	}
	return sequence(out), nil
}

func keysOf(ev *evaluator, v value.Value, b *value.Builder, depth int) *Error {
	if depth > maxValueDepth {
		return stopped(-1, "a value is nested too deeply")
	}
	for _, e := range v.Elems() {
		entries := e.Entries()
		if err := ev.spend(len(entries) + 1); err != nil {
			return err
		}
		before := b.Len()
		for i := range entries {
			b.Set(entries[i].Key, value.True)
		}
		if err := ev.meter(3 * entryBytes * (b.Len() - before)); err != nil {
			return err
		}
		if e.Kind() == value.Array {
			if err := keysOf(ev, e, b, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func fnLookup(ev *evaluator, args []value.Value) (value.Value, *Error) {
	known := !args[1].IsUndefined()
	if args[0].Kind() != value.Array {
		if !known {
			return value.Undef, nil
		}
		return memberOf(ev, args[0], args[1].Str())
	}
	var out []value.Value
	if !known {
		return sequence(out), nil
	}
	err := membersOf(ev, args[0].Elems(), args[1].Str(), &out, 0)
	return sequence(out), err
}

func fnSpread(ev *evaluator, args []value.Value) (value.Value, *Error) {
	v := args[0]
	if v.Kind() != value.Array && v.Kind() != value.Object {
		return v, nil
	}
	var out []value.Value
	if err := spreadOf(ev, v, &out, 0); err != nil {
		return value.Undef, err
	}
	// Of one object, or of items that are all undefined, it is a sequence.
	if v.Kind() == value.Array && !allOf(v.Elems(), value.Undefined) {
		return value.FromArray(out), nil
	}
	return sequence(out), nil
}

func spreadOf(ev *evaluator, v value.Value, out *[]value.Value, depth int) *Error {
	if depth > maxValueDepth {
		return stopped(-1, "a value is nested too deeply")
	}
	switch v.Kind() {
	case value.Array:
		if err := ev.spend(v.Len()); err != nil {
			return err
		}
		for _, e := range v.Elems() {
			if err := spreadOf(ev, e, out, depth+1); err != nil {
				return err
			}
		}
		return nil
	case value.Object:
		entries := v.Entries()
		if err := ev.spend(len(entries)); err != nil {
			return err
		}
		if err := ev.meter(2 * entryBytes * len(entries)); err != nil {
			return err
		}
		for _, e := range entries {
			var err *Error
			if *out, err = ev.push(*out, value.FromEntries([]value.Entry{e})); err != nil {
				return err
			}
		}
		return nil
	case value.Undefined:
		return nil
	}
	var err *Error
	*out, err = ev.push(*out, v)
	return err
}

func fnMerge(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	b := value.NewBuilder(8)
	for _, o := range args[0].Elems() {
		entries := o.Entries()
		if err := ev.spend(len(entries) + 1); err != nil {
			return value.Undef, err
		}
		if err := ev.meter(80 * len(entries)); err != nil {
			return value.Undef, err
		}
		for i := range entries {
			b.Set(entries[i].Key, entries[i].Value)
		}
	}
	ev.built++
	return b.Value(), nil
}

func fnClone(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	d, err := draftOf(ev, args[0])
	if err != nil {
		return value.Undef, err
	}
	return d.Value(), nil
}
