// Package schematext describes JSON Schemas in words: the fields of an object with
// their types, ranges and defaults, as help of tools shows them. Schemas come from
// servers, so they may be of any size, lead back to themselves, or be wrong: what
// cannot be described is left out.
package schematext

import (
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Bounds of a description.
const (
	maxDepth  = 4   // objects inside objects
	maxFields = 300 // in all
	maxValues = 20  // of an enum that are listed
	maxLeaps  = 16  // references that follow one another
)

// Field is one property of an object.
type Field struct {
	Name        string
	Type        string // in words, such as "integer from 1 to 100" or "a, b or c"
	Description string
	Required    bool
	Default     value.Value // undefined if there is none
	// Fields are the properties of its value, or of the elements of its value.
	Fields []Field
	// Schema is what the field was described from, references resolved.
	Schema value.Value
}

// Fields returns the properties of a schema, the required ones first. It returns
// at most 300 fields, nested ones included, and 4 levels of them; a schema that
// contains itself is described once.
func Fields(schema value.Value) []Field {
	d := &describer{root: schema, left: maxFields}
	return d.fields(schema, 0)
}

type describer struct {
	root value.Value
	left int      // fields that may still be described
	open []string // the references that lead to the current schema
}

func (d *describer) fields(schema value.Value, depth int) []Field {
	schema, refs := d.enter(schema)
	defer d.leave(refs)
	if depth == maxDepth || schema.Kind() != value.Object {
		return nil
	}
	var list []Field
	known := map[string]bool{}
	parts := append([]value.Value{schema}, schema.Get("allOf").Elems()...)
	required := map[string]bool{}
	for i, part := range parts {
		if i > 0 {
			part = Resolve(d.root, part)
		}
		for _, name := range part.Get("required").Elems() {
			required[name.Str()] = true
		}
		for _, p := range part.Get("properties").Entries() {
			if d.left == 0 {
				break
			}
			if known[p.Key] {
				continue
			}
			known[p.Key] = true
			d.left--
			resolved := Resolve(d.root, p.Value)
			f := Field{Name: p.Key, Type: d.kind(p.Value, 0), Default: p.Value.Get("default"), Schema: resolved}
			if f.Description = p.Value.Get("description").Str(); f.Description == "" {
				f.Description = resolved.Get("description").Str()
			}
			if f.Default.IsUndefined() {
				f.Default = resolved.Get("default")
			}
			f.Fields = d.nested(p.Value, depth+1)
			list = append(list, f)
		}
	}
	for i := range list {
		list[i].Required = required[list[i].Name]
	}
	slices.SortStableFunc(list, func(a, b Field) int {
		switch {
		case a.Required == b.Required:
			return 0
		case a.Required:
			return -1
		}
		return 1
	})
	return list
}

// nested returns the fields of a value of the schema: its own, those of its
// elements, or those of the alternatives that have some.
func (d *describer) nested(schema value.Value, depth int) []Field {
	schema, refs := d.enter(schema)
	defer d.leave(refs)
	if schema.Kind() != value.Object || depth == maxDepth {
		return nil
	}
	if list := d.fields(schema, depth); list != nil {
		return list
	}
	if items := schema.Get("items"); items.Kind() == value.Object {
		return d.nested(items, depth)
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		for _, one := range schema.Get(key).Elems() {
			if list := d.nested(one, depth); list != nil {
				return list
			}
		}
	}
	return nil
}

// enter follows the references of a schema, and returns undefined where one of
// them is being described already. leave undoes it.
func (d *describer) enter(schema value.Value) (value.Value, int) {
	before := len(d.open)
	for range maxLeaps {
		ref := schema.Get("$ref").Str()
		if ref == "" || !schema.Get("properties").IsUndefined() {
			return schema, before
		}
		if slices.Contains(d.open, ref) {
			return value.Undef, before
		}
		d.open = append(d.open, ref)
		schema = lookup(d.root, ref)
	}
	return value.Undef, before
}

func (d *describer) leave(before int) { d.open = d.open[:before] }
