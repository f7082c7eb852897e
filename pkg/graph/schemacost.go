package graph

import (
	"fmt"

	"github.com/mcpgraph/mcpgraph/internal/jsonschema"
)

// maxApplied is how many schemas may apply to one value.
const maxApplied = 10_000

// checkApplied refuses a schema that applies too many parts of itself to one value: a
// chain in which each allOf has two references to the next one doubles their number
// with each step. The check costs what the schema is long.
func checkApplied(root *jsonschema.Schema) error {
	a := applied{map[*jsonschema.Schema]int{}}
	todo, seen := []*jsonschema.Schema{root}, map[*jsonschema.Schema]bool{root: true}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if a.count(s) > maxApplied {
			return fmt.Errorf("more than %d schemas apply to one value, because each part of a chain of allOf, anyOf, oneOf or $ref applies others more than once", maxApplied)
		}
		for _, list := range [][]*jsonschema.Schema{sameValue(s), otherValues(s)} {
			for _, part := range list {
				if !seen[part] {
					seen[part] = true
					todo = append(todo, part)
				}
			}
		}
	}
	return nil
}

// applied counts the schemas that apply to one value.
type applied struct{ counts map[*jsonschema.Schema]int }

func (a *applied) count(s *jsonschema.Schema) int {
	if n, ok := a.counts[s]; ok {
		return n
	}
	a.counts[s] = 0 // a cycle ends the check of a value
	n := 1
	for _, part := range sameValue(s) {
		n = min(n+a.count(part), maxApplied+1)
	}
	a.counts[s] = n
	return n
}

// sameValue returns the schemas that a schema applies to the value that it is for.
func sameValue(s *jsonschema.Schema) []*jsonschema.Schema {
	var parts []*jsonschema.Schema
	add := func(list ...*jsonschema.Schema) {
		for _, part := range list {
			if part != nil {
				parts = append(parts, part)
			}
		}
	}
	add(s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else)
	if s.DynamicRef != nil {
		add(s.DynamicRef.Ref)
	}
	add(s.AllOf...)
	add(s.AnyOf...)
	add(s.OneOf...)
	for _, part := range s.DependentSchemas {
		add(part)
	}
	for _, part := range s.Dependencies {
		if part, ok := part.(*jsonschema.Schema); ok {
			add(part)
		}
	}
	return parts
}

// otherValues returns the schemas that a schema applies to parts of its value.
func otherValues(s *jsonschema.Schema) []*jsonschema.Schema {
	var parts []*jsonschema.Schema
	add := func(list ...*jsonschema.Schema) {
		for _, part := range list {
			if part != nil {
				parts = append(parts, part)
			}
		}
	}
	add(s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems, s.ContentSchema)
	add(s.PrefixItems...)
	for _, part := range s.Properties {
		add(part)
	}
	for _, part := range s.PatternProperties {
		add(part)
	}
	for _, one := range []any{s.AdditionalProperties, s.Items, s.AdditionalItems} {
		switch one := one.(type) {
		case *jsonschema.Schema:
			add(one)
		case []*jsonschema.Schema:
			add(one...)
		}
	}
	return parts
}
