package graph

import (
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/jsonschema"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// schemaContents is what JSON Schemas, all of which may apply to a value,
// declare about its properties.
type schemaContents struct {
	root  value.Value
	parts []schemaPart
	// unknown is set where some schema is not followed.
	unknown bool
	depth   int
	// What was found of the value, once something was asked.
	asked    bool
	scalar   string // see kinds
	array    bool
	each     *schemaContents // of the elements
	names    *diag.Names     // of the properties
	patterns map[string]jsonschema.Regexp
	steps    map[string]schemaStep
}

// schemaPart is one schema. sure means that every value fits it, which is not
// so of the branches of an anyOf and the like.
type schemaPart struct {
	schema value.Value
	sure   bool
}

const (
	// maxParts bounds how many schemas are looked at for one value.
	maxParts = 200
	// maxContentsDepth bounds how far a path is followed: a schema may be that
	// of its own elements.
	maxContentsDepth = 50
)

func newSchemaContents(root value.Value) *schemaContents {
	return (&schemaContents{root: root}).with([]schemaPart{{root, true}})
}

// with returns the contents that the schemas declare, including the schemas
// that they refer to.
func (c *schemaContents) with(parts []schemaPart) *schemaContents {
	out := &schemaContents{root: c.root, parts: slices.Clone(parts), depth: c.depth + 1}
	out.unknown = out.depth > maxContentsDepth
	for i := 0; i < len(out.parts); i++ {
		if i == maxParts {
			out.unknown = true
			break
		}
		out.expand(out.parts[i])
	}
	return out
}

// expand adds the schemas that a schema applies to the same value.
func (c *schemaContents) expand(p schemaPart) {
	add := func(v value.Value, sure bool) {
		if len(c.parts) > maxParts {
			c.unknown = true
			return
		}
		if !slices.ContainsFunc(c.parts, func(o schemaPart) bool { return o.sure == sure && value.Same(o.schema, v) }) {
			c.parts = append(c.parts, schemaPart{v, sure})
		}
	}
	for _, e := range p.schema.Entries() {
		switch e.Key {
		case "$ref":
			target, ok := c.resolve(e.Value)
			if !ok {
				c.unknown = true
				continue
			}
			add(target, p.sure)
		case "$dynamicRef", "$recursiveRef":
			c.unknown = true
		case "allOf":
			for _, v := range e.Value.Elems() {
				add(v, p.sure)
			}
		case "anyOf", "oneOf":
			for _, v := range e.Value.Elems() {
				add(v, p.sure && e.Value.Len() == 1)
			}
		case "if", "then", "else":
			add(e.Value, false)
		case "dependentSchemas", "dependencies":
			for _, d := range e.Value.Entries() {
				add(d.Value, false)
			}
		}
	}
}

// resolve follows a reference inside the schema.
func (c *schemaContents) resolve(ref value.Value) (value.Value, bool) {
	text := ref.Str()
	if text != "#" && !strings.HasPrefix(text, "#/") {
		return value.Undef, false
	}
	v := c.root
	for _, step := range fragment(text) {
		if v = v.Get(step); v.Kind() != value.Object && v.Kind() != value.Bool {
			return value.Undef, false
		}
	}
	return v, true
}

func (c *schemaContents) step(name string) (contents, *absent) {
	if c.unknown {
		return nil, nil
	}
	if known, ok := c.steps[name]; ok {
		return known.below, known.wrong
	}
	below, wrong := c.find(name)
	if c.steps == nil {
		c.steps = map[string]schemaStep{}
	}
	c.steps[name] = schemaStep{below, wrong}
	return below, wrong
}

// schemaStep is what is known of a property.
type schemaStep struct {
	below contents
	wrong *absent
}

func (c *schemaContents) find(name string) (contents, *absent) {
	if !c.asked {
		c.scalar, c.array = c.kinds()
		c.asked, c.patterns = true, map[string]jsonschema.Regexp{}
	}
	switch {
	case c.scalar != "":
		return nil, &absent{scalar: c.scalar}
	case c.array:
		if isIndex(name) {
			return c.eachElement(), nil
		}
		return c.eachElement().step(name)
	}
	s := &stepper{name: name, patterns: c.patterns}
	for _, p := range c.parts {
		s.look(p)
	}
	switch {
	case s.failed:
		return nil, nil
	case len(s.below) > 0:
		return c.with(s.below), nil
	}
	names := c.propertyNames()
	if names.Has(name) {
		return nil, nil
	}
	if s.closed || s.unevaluated {
		return nil, &absent{others: names}
	}
	if _, misspelt := names.Misspelt(name); misspelt && !s.open {
		return nil, &absent{others: names, guess: true}
	}
	return nil, nil
}

// eachElement returns what the schemas declare about the elements of an array.
func (c *schemaContents) eachElement() *schemaContents {
	if c.each == nil {
		c.each = c.with(c.elements())
	}
	return c.each
}

// propertyNames returns the names that the schemas have for properties.
func (c *schemaContents) propertyNames() *diag.Names {
	if c.names == nil {
		var all []string
		for _, p := range c.parts {
			p.addNames(func(name string) { all = append(all, name) })
		}
		c.names = diag.NewNames(all)
	}
	return c.names
}

// kinds reports whether the value is surely a scalar, and of what type, or else
// whether it is to be looked at as an array.
func (c *schemaContents) kinds() (scalar string, array bool) {
	properties, items := false, false
	for _, p := range c.parts {
		properties = properties || p.schema.Has("properties")
		items = items || p.schema.Has("items") || p.schema.Has("prefixItems")
		types := p.schema.Get("type")
		list := types.Elems()
		if types.Kind() == value.String {
			list = []value.Value{types}
		}
		if !p.sure || len(list) == 0 {
			continue
		}
		var names []string
		for _, t := range list {
			names = append(names, t.Str())
		}
		object, inArray := slices.Contains(names, "object"), slices.Contains(names, "array")
		switch {
		case !object && !inArray:
			return describeTypes(names), false
		case inArray && !object:
			return "", true
		case object && !inArray:
			items = false
		}
	}
	return "", items && !properties
}

// describeTypes names the types of a schema: "a string or null".
func describeTypes(names []string) string {
	for i, name := range names {
		switch name {
		case "null":
		case "integer", "array", "object":
			names[i] = "an " + name
		default:
			names[i] = "a " + name
		}
	}
	return strings.Join(names, " or ")
}

// elements returns the schemas of the elements of an array.
func (c *schemaContents) elements() []schemaPart {
	var out []schemaPart
	for _, p := range c.parts {
		alone := p.sure && !p.schema.Has("prefixItems")
		switch items := p.schema.Get("items"); items.Kind() {
		case value.Object, value.Bool:
			out = append(out, schemaPart{items, alone})
		case value.Array: // up to draft 2019-09
			for _, v := range items.Elems() {
				out = append(out, schemaPart{v, false})
			}
		}
		for _, v := range p.schema.Get("prefixItems").Elems() {
			out = append(out, schemaPart{v, false})
		}
		if v := p.schema.Get("additionalItems"); v.Kind() == value.Object {
			out = append(out, schemaPart{v, false})
		}
	}
	return out
}

// maxPatterns bounds the patternProperties that a property is compared with.
const maxPatterns = 100

// stepper looks for one property in many schemas.
type stepper struct {
	name        string
	patterns    map[string]jsonschema.Regexp // that were compiled before
	below       []schemaPart                 // the schemas of the property
	closed      bool                         // a schema that surely applies has others alone
	unevaluated bool                         // so do all together
	open        bool                         // a schema says that there may be any
	failed      bool
}

func (s *stepper) look(p schemaPart) {
	found := false
	if v := p.schema.Get("properties").Get(s.name); !v.IsUndefined() {
		s.below = append(s.below, schemaPart{v, p.sure})
		found = true
	}
	for _, e := range p.schema.Get("patternProperties").Entries() {
		s.open = true
		switch re := s.pattern(e.Key); {
		case re == nil:
			s.failed = true
			return
		case re.MatchString(s.name):
			s.below = append(s.below, schemaPart{e.Value, p.sure})
			found = true
		}
	}
	switch more := p.schema.Get("additionalProperties"); {
	case more.Kind() == value.Bool && !more.Bool():
		s.closed = s.closed || p.sure && !found
	case !more.IsUndefined():
		s.open = true
		if !found && more.Kind() == value.Object {
			s.below = append(s.below, schemaPart{more, p.sure})
		}
	}
	switch more := p.schema.Get("unevaluatedProperties"); {
	case more.Kind() == value.Bool && !more.Bool():
		s.unevaluated = s.unevaluated || p.sure
	case !more.IsUndefined():
		s.open = true
	}
}

// pattern returns a compiled pattern, or nil if it does not compile or if there are
// too many.
func (s *stepper) pattern(text string) jsonschema.Regexp {
	re, ok := s.patterns[text]
	if !ok && len(s.patterns) < maxPatterns {
		if compiled, err := compilePattern(text); err == nil {
			re = compiled
		}
		s.patterns[text] = re
	}
	return re
}

// addNames calls add for the names that a schema has for properties.
func (p schemaPart) addNames(add func(string)) {
	for _, e := range p.schema.Get("properties").Entries() {
		add(e.Key)
	}
	for _, name := range p.schema.Get("required").Elems() {
		add(name.Str())
	}
	for _, e := range p.schema.Get("dependentRequired").Entries() {
		for _, name := range e.Value.Elems() {
			add(name.Str())
		}
	}
}
