package schematext

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Type returns in words which values a schema of root allows.
func Type(root, schema value.Value) string {
	d := &describer{root: root, left: maxFields}
	return d.kind(schema, 0)
}

// maxTypeDepth bounds the types inside types: lists of lists, alternatives.
const maxTypeDepth = 4

func (d *describer) kind(schema value.Value, depth int) string {
	schema = Resolve(d.root, schema)
	switch schema.Kind() {
	case value.Object:
	case value.Bool:
		if !schema.Bool() {
			return "nothing"
		}
		return "any"
	default:
		return "any"
	}
	if v := schema.Get("const"); !v.IsUndefined() {
		return word(v)
	}
	if values := schema.Get("enum").Elems(); len(values) > 0 {
		return choices(values)
	}
	types := typesOf(schema)
	var words []string
	for _, t := range types {
		words = append(words, d.typeInWords(t, schema, depth))
	}
	if len(words) == 0 {
		words = d.alternatives(schema, depth)
	}
	if len(words) == 0 {
		words = []string{guess(schema)}
	}
	if schema.Get("nullable").Bool() && !slices.Contains(words, "null") {
		words = append(words, "null")
	}
	return strings.Join(words, " or ")
}

// Types returns the names of the JSON types that a schema of root allows: those of
// "type", else those of its values, or of its alternatives. It returns nil where
// it names none.
func Types(root, schema value.Value) []string {
	return typesIn(root, schema, 0)
}

func typesIn(root, schema value.Value, depth int) []string {
	schema = Resolve(root, schema)
	types := typesOf(schema)
	if types != nil || depth == maxTypeDepth {
		return types
	}
	add := func(more ...string) {
		for _, t := range more {
			if !slices.Contains(types, t) {
				types = append(types, t)
			}
		}
	}
	values := schema.Get("enum").Elems()
	if v := schema.Get("const"); !v.IsUndefined() {
		values = []value.Value{v}
	}
	for _, v := range values {
		add(v.Kind().String())
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		for _, one := range schema.Get(key).Elems() {
			more := typesIn(root, one, depth+1)
			if more == nil {
				return nil // anything
			}
			add(more...)
		}
	}
	return types
}

// typesOf returns the values of "type".
func typesOf(schema value.Value) []string {
	switch t := schema.Get("type"); t.Kind() {
	case value.String:
		return []string{t.Str()}
	case value.Array:
		var types []string
		for _, e := range t.Elems() {
			types = append(types, e.Str())
		}
		return types
	}
	return nil
}

// alternatives describes a schema that is made of others.
func (d *describer) alternatives(schema value.Value, depth int) []string {
	if depth == maxTypeDepth {
		return nil
	}
	var words []string
	for _, key := range []string{"anyOf", "oneOf"} {
		for _, one := range schema.Get(key).Elems() {
			if w := d.kind(one, depth+1); !slices.Contains(words, w) && len(words) < maxValues {
				words = append(words, w)
			}
		}
	}
	if words == nil {
		for _, one := range schema.Get("allOf").Elems() {
			if w := d.kind(one, depth+1); w != "any" {
				return []string{w}
			}
		}
	}
	return words
}

// guess names the type of a schema without one.
func guess(schema value.Value) string {
	switch {
	case !schema.Get("properties").IsUndefined():
		return "object"
	case !schema.Get("items").IsUndefined():
		return "array"
	}
	return "any"
}

func (d *describer) typeInWords(name string, schema value.Value, depth int) string {
	switch name {
	case "string":
		return name + note(schema.Get("format").Str()) + extent(schema, "minLength", "maxLength", "character") + pattern(schema)
	case "integer", "number":
		return name + interval(schema)
	case "array":
		if items := schema.Get("items"); items.Kind() == value.Object && depth < maxTypeDepth {
			if of := d.kind(items, depth+1); of != "any" {
				if strings.Contains(of, " or ") {
					of = "(" + of + ")"
				}
				name += " of " + of
			}
		}
		return name + extent(schema, "minItems", "maxItems", "element")
	case "object":
		if more := schema.Get("additionalProperties"); more.Kind() == value.Object && depth < maxTypeDepth && schema.Get("properties").Len() == 0 {
			if of := d.kind(more, depth+1); of != "any" {
				name += " with values: " + of
			}
		}
	}
	return name
}

func note(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// maxPattern is how much of a pattern is shown, in bytes.
const maxPattern = 60

func pattern(schema value.Value) string {
	p := schema.Get("pattern").Str()
	if p == "" || len(p) > maxPattern {
		return ""
	}
	return " that matches " + p
}

// extent describes the bounds of a length.
func extent(schema value.Value, lowest, highest, noun string) string {
	low, high := schema.Get(lowest), schema.Get(highest)
	plural := func(n value.Value) string {
		if n.JSON() == "1" {
			return "1 " + noun
		}
		return n.JSON() + " " + noun + "s"
	}
	hasLow := low.Kind() == value.Number && low.Float() > 0
	hasHigh := high.Kind() == value.Number
	switch {
	case hasLow && hasHigh && low.JSON() == high.JSON():
		return ", " + plural(low)
	case hasLow && hasHigh:
		return fmt.Sprintf(", %s to %s", low.JSON(), plural(high))
	case hasLow:
		return ", at least " + plural(low)
	case hasHigh:
		return ", at most " + plural(high)
	}
	return ""
}

// interval describes the bounds of a number.
func interval(schema value.Value) string {
	bound := func(inclusive, exclusive string) (v value.Value, open bool) {
		if v = schema.Get(exclusive); v.Kind() == value.Number {
			return v, true
		}
		return schema.Get(inclusive), v.Bool() // draft 4: a boolean beside the bound
	}
	low, lowOpen := bound("minimum", "exclusiveMinimum")
	high, highOpen := bound("maximum", "exclusiveMaximum")
	hasLow, hasHigh := low.Kind() == value.Number, high.Kind() == value.Number
	text := ""
	switch {
	case hasLow && hasHigh && !lowOpen && !highOpen:
		text = fmt.Sprintf(" from %s to %s", low.JSON(), high.JSON())
	default:
		var parts []string
		if hasLow && lowOpen {
			parts = append(parts, "more than "+low.JSON())
		} else if hasLow {
			parts = append(parts, "at least "+low.JSON())
		}
		if hasHigh && highOpen {
			parts = append(parts, "less than "+high.JSON())
		} else if hasHigh {
			parts = append(parts, "at most "+high.JSON())
		}
		if parts != nil {
			text = ", " + strings.Join(parts, " and ")
		}
	}
	if step := schema.Get("multipleOf"); step.Kind() == value.Number && step.JSON() != "1" {
		text += ", a multiple of " + step.JSON()
	}
	return text
}

// choices lists the values of an enum.
func choices(values []value.Value) string {
	var words []string
	for _, v := range values[:min(len(values), maxValues)] {
		words = append(words, word(v))
	}
	text := strings.Join(words, ", ")
	if more := len(values) - len(words); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// word returns a value as --arg takes it: a string as it is, anything else as JSON.
func word(v value.Value) string {
	if v.Kind() == value.String {
		return v.Str()
	}
	return v.JSON()
}
