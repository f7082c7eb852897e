package value

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Any returns v in the types of encoding/json: map[string]any, []any, string,
// float64 (json.Number where a float64 would lose digits), bool and nil.
// Undefined and functions are nil; undefined members are left out.
func (v Value) Any() any {
	switch v.Kind() {
	case Bool:
		return v.num != 0
	case Number:
		if text, ok := v.NumberText(); ok {
			return json.Number(text)
		}
		return v.Float()
	case String:
		return v.Str()
	case Array:
		out := make([]any, v.Len())
		for i, e := range v.Elems() {
			out[i] = e.Any()
		}
		return out
	case Object:
		out := make(map[string]any, v.Len())
		for _, e := range v.Entries() {
			if e.Value.Kind() != Undefined && e.Value.Kind() != Func {
				out[e.Key] = e.Value.Any()
			}
		}
		return out
	}
	return nil
}

// FromAny converts a Go value: the types of encoding/json, integers, Values
// and slices and maps of these directly, anything else by way of its JSON
// form. The keys of Go maps come in sorted order. The error is that of
// json.Marshal.
func FromAny(x any) (Value, error) {
	switch x := x.(type) {
	case nil:
		return NullValue, nil
	case Value:
		return x, nil
	case bool:
		return FromBool(x), nil
	case string:
		return FromString(x), nil
	case float64:
		return FromFloat(x), nil
	case int:
		return FromInt(int64(x)), nil
	case int64:
		return FromInt(x), nil
	case json.Number:
		return Parse(string(x))
	case json.RawMessage:
		return Parse(string(x))
	case []any:
		elems := make([]Value, len(x))
		for i, e := range x {
			v, err := FromAny(e)
			if err != nil {
				return Value{}, err
			}
			elems[i] = v
		}
		return FromArray(elems), nil
	case map[string]any:
		entries := make([]Entry, 0, len(x))
		for k, e := range x {
			v, err := FromAny(e)
			if err != nil {
				return Value{}, err
			}
			entries = append(entries, Entry{k, v})
		}
		slices.SortFunc(entries, func(a, b Entry) int { return CompareStrings(a.Key, b.Key) })
		return FromEntries(entries), nil
	}
	text, err := json.Marshal(x)
	if err != nil {
		return Value{}, fmt.Errorf("a %T has no JSON form: %w", x, err)
	}
	return Parse(string(text))
}
