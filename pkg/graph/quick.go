package graph

import (
	"math"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// quick is a schema made of the plainest keywords alone, by which most values
// can be accepted without being converted for the library. It never refuses:
// what it does not accept, the library judges.
type quick struct {
	types      []string // nil: any
	enum       []value.Value
	required   []string
	properties []quickProperty
	items      *quick
}

type quickProperty struct {
	key    string
	schema *quick
}

// newQuick returns the quick form of a schema, or nil if it has keywords that
// are not plain. Its meaning is that of draft 2020-12.
func newQuick(schema value.Value) *quick {
	if schema.Kind() == value.Bool && schema.Bool() {
		return &quick{}
	}
	if schema.Kind() != value.Object {
		return nil
	}
	q := &quick{}
	for _, e := range schema.Entries() {
		if !q.keyword(e.Key, e.Value) {
			return nil
		}
	}
	return q
}

// keyword takes in one keyword and reports whether it is plain.
func (q *quick) keyword(name string, v value.Value) bool {
	switch name {
	case "title", "description", "default", "examples", "$comment", "deprecated", "readOnly", "writeOnly", "$defs":
		return true
	case "additionalProperties":
		return v.Kind() == value.Bool && v.Bool()
	case "type":
		if v.Kind() == value.String {
			q.types = []string{v.Str()}
		}
		for _, t := range v.Elems() {
			q.types = append(q.types, t.Str())
		}
		return true
	case "enum":
		q.enum = v.Elems()
		return len(q.enum) > 0
	case "required":
		for _, key := range v.Elems() {
			q.required = append(q.required, key.Str())
		}
		return true
	case "properties":
		for _, e := range v.Entries() {
			schema := newQuick(e.Value)
			if schema == nil {
				return false
			}
			q.properties = append(q.properties, quickProperty{e.Key, schema})
		}
		return true
	case "items":
		q.items = newQuick(v)
		return q.items != nil
	}
	return false
}

// accepts reports that v fits; false means that this is not known.
func (q *quick) accepts(v value.Value) bool {
	if q.types != nil && !slices.ContainsFunc(q.types, func(t string) bool { return hasType(v, t) }) {
		return false
	}
	if q.enum != nil && !slices.ContainsFunc(q.enum, func(e value.Value) bool { return value.Equal(e, v) }) {
		return false
	}
	switch v.Kind() {
	case value.Undefined, value.Func:
		return false
	case value.Object:
		for _, key := range q.required {
			if !v.Has(key) {
				return false
			}
		}
		for _, p := range q.properties {
			if member := v.Get(p.key); !member.IsUndefined() && !p.schema.accepts(member) {
				return false
			}
		}
	case value.Array:
		if q.items != nil {
			for _, e := range v.Elems() {
				if !q.items.accepts(e) {
					return false
				}
			}
		}
	}
	return true
}

func hasType(v value.Value, name string) bool {
	switch v.Kind() {
	case value.Null:
		return name == "null"
	case value.Bool:
		return name == "boolean"
	case value.Number:
		f := v.Float()
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return false
		}
		return name == "number" || name == "integer" && f == math.Trunc(f)
	case value.String:
		return name == "string"
	case value.Array:
		return name == "array"
	case value.Object:
		return name == "object"
	}
	return false
}
