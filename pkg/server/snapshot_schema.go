package server

import (
	"net/url"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Clients read less of JSON Schema than there is, and one schema that they do not read
// makes them refuse the whole list. What means the same is served in the form that all
// of them read.

// Keywords with schemas below them.
var (
	namedSchemas  = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
	listedSchemas = []string{"allOf", "anyOf", "oneOf", "prefixItems", "items"}
	singleSchemas = []string{
		"items", "additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties",
		"contains", "propertyNames", "not", "if", "then", "else", "contentSchema",
	}
)

const (
	draft04 = "http://json-schema.org/draft-04/schema"
	draft07 = "http://json-schema.org/draft-07/schema#"
)

// eachSchema returns a schema with what f makes of the schemas right below it.
func eachSchema(key string, v value.Value, f func(value.Value) value.Value) value.Value {
	isSchema := v.Kind() == value.Object || v.Kind() == value.Bool
	switch {
	case slices.Contains(namedSchemas, key) && v.Kind() == value.Object:
		entries := slices.Clone(v.Entries())
		for i, e := range entries {
			if e.Value.Kind() == value.Object || e.Value.Kind() == value.Bool { // dependencies have lists of names, too
				entries[i].Value = f(e.Value)
			}
		}
		return value.FromEntries(entries)
	case slices.Contains(listedSchemas, key) && v.Kind() == value.Array:
		elems := slices.Clone(v.Elems())
		for i, e := range elems {
			elems[i] = f(e)
		}
		return value.FromArray(elems)
	case slices.Contains(singleSchemas, key) && isSchema:
		return f(v)
	}
	return v
}

// readable returns a schema that means the same in the form that all clients read:
// without schemas of properties that are true or false, and without the keywords of
// draft-04 that later drafts have in another form.
func readable(schema value.Value) value.Value {
	dialect := schema.Get("$schema").Str()
	old := strings.TrimSuffix(dialect, "#") == draft04
	return readablePart(schema, old, refsAlone(dialect), true)
}

// refsAlone reports whether what stands beside a reference does not count, as up to
// draft-07. Some validators make it count.
func refsAlone(dialect string) bool { return strings.Contains(dialect, "/draft-0") }

func readablePart(schema value.Value, old, alone, root bool) value.Value {
	if schema.Kind() != value.Object {
		return schema
	}
	if ref := schema.Get("$ref"); alone && !root && ref.Kind() == value.String {
		return value.FromEntries([]value.Entry{{Key: "$ref", Value: ref}})
	}
	b := value.NewBuilder(schema.Len())
	never := false // enum is empty
	for _, e := range schema.Entries() {
		switch {
		case e.Key == "$schema" && old:
			b.Set(e.Key, value.FromString(draft07))
		case e.Key == "id" && e.Value.Kind() == value.String:
			if old {
				b.Set("$id", e.Value)
			} // else it means nothing, and validators refuse it
		case (e.Key == "exclusiveMinimum" || e.Key == "exclusiveMaximum") && e.Value.Kind() == value.Bool:
			bound := schema.Get(boundOf[e.Key])
			if old && e.Value.Bool() && !bound.IsUndefined() {
				b.Set(e.Key, bound)
			}
		case (e.Key == "minimum" || e.Key == "maximum") && old && schema.Get(exclusiveOf[e.Key]).Bool():
		case e.Key == "nullable" && !schema.Has("type"):
		case e.Key == "enum" && e.Value.Kind() == value.Array && e.Value.Len() == 0 && !schema.Has("not"):
			never = true
		default:
			b.Set(e.Key, eachSchema(e.Key, e.Value, func(v value.Value) value.Value {
				if v.Kind() == value.Bool && slices.Contains(namedSchemas, e.Key) {
					return asObject(v)
				}
				return readablePart(v, old, alone, false)
			}))
		}
	}
	if never {
		b.Set("not", value.FromEntries(nil))
	}
	return b.Value()
}

var (
	boundOf     = map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
	exclusiveOf = map[string]string{"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}
)

// asObject returns a schema that is true or false as an object.
func asObject(v value.Value) value.Value {
	if v.Bool() {
		return value.FromEntries(nil)
	}
	return value.FromEntries([]value.Entry{{Key: "not", Value: value.FromEntries(nil)}})
}

// maxInlined is how many values a schema may have with its references inlined.
const maxInlined = 20_000

// inlined returns a schema whose references to its own definitions are replaced by what
// they lead to, for clients that drop $defs before they read the rest. It reports false
// for one that cannot be written so: references that are recursive, or by other names
// than their path, or a schema that gets too large.
func inlined(schema value.Value) (value.Value, bool) {
	dialect := schema.Get("$schema").Str()
	i := &inliner{root: schema, ok: true, alone: refsAlone(dialect)}
	out := i.part(schema)
	if !i.found {
		return schema, i.ok
	}
	b := value.NewBuilder(out.Len())
	for _, e := range out.Entries() {
		if e.Key != "$defs" && e.Key != "definitions" {
			b.Set(e.Key, e.Value)
		}
	}
	return b.Value(), i.ok
}

type inliner struct {
	root   value.Value
	open   []string // references that are being followed
	values int
	found  bool // a reference
	alone  bool // what stands beside a reference does not count, as up to draft-07
	ok     bool
}

func (i *inliner) part(schema value.Value) value.Value {
	if i.values++; i.values > maxInlined {
		i.ok = false
	}
	if !i.ok || schema.Kind() != value.Object {
		return schema
	}
	b := value.NewBuilder(schema.Len())
	target := value.Undef
	for _, e := range schema.Entries() {
		switch e.Key {
		case "$ref":
			target = i.follow(e.Value)
		case "$dynamicRef", "$recursiveRef":
			i.ok = false
		case "$defs", "definitions":
			if i.values == 1 {
				continue // they are reached by the references
			}
			b.Set(e.Key, e.Value)
		default:
			b.Set(e.Key, eachSchema(e.Key, e.Value, i.part))
		}
	}
	rest := b.Value()
	switch {
	case target.IsUndefined():
		return rest
	case rest.Len() == 0 || i.alone:
		return target
	}
	all := rest.Get("allOf").Elems()
	whole := value.NewBuilder(rest.Len() + 1)
	for _, e := range rest.Entries() {
		if e.Key != "allOf" {
			whole.Set(e.Key, e.Value)
		}
	}
	whole.Set("allOf", value.FromArray(append(slices.Clone(all), target)))
	return whole.Value()
}

// follow returns what a reference leads to, inlined.
func (i *inliner) follow(ref value.Value) value.Value {
	i.found = true
	path, own := strings.CutPrefix(ref.Str(), "#/")
	if !own || slices.Contains(i.open, path) {
		i.ok = false
		return value.Undef
	}
	at := i.root
	for step := range strings.SplitSeq(path, "/") {
		if plain, err := url.PathUnescape(step); err == nil {
			step = plain
		}
		at = at.Get(strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
	}
	if at.Kind() != value.Object && at.Kind() != value.Bool {
		i.ok = false
		return value.Undef
	}
	i.open = append(i.open, path)
	defer func() { i.open = i.open[:len(i.open)-1] }()
	if at.Kind() == value.Bool {
		return asObject(at)
	}
	return i.part(at)
}
