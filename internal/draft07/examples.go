package draft07

import (
	"strconv"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const (
	maxExamples     = 3  // of one key
	maxExampleBytes = 90 // of an example, unless there is only a longer one
)

// WithExamples returns the schema document with examples for its keys: what the
// samples, which are documents that fit the schema, have there. alike maps the
// names of definitions to the name that similar ones share; a key without a
// value of its own in the samples gets the examples of a similar definition.
func WithExamples(document value.Value, samples []value.Value, alike func(definition string) string) value.Value {
	c := collector{document: document, alike: alike, found: map[string][]value.Value{}}
	for _, sample := range samples {
		c.collect("#", document, sample)
	}
	return c.annotate("#", document)
}

// collector finds what samples have at the keys of a schema.
type collector struct {
	document value.Value
	alike    func(string) string
	found    map[string][]value.Value // by the place of the key in the schema
}

// collect walks a schema together with a sample for it. It ends because each
// reference to a definition is followed with a part of the sample, or leads to
// other definitions.
func (c *collector) collect(at string, schema, sample value.Value) {
	if ref := schema.Get("$ref").Str(); strings.HasPrefix(ref, definitionsPath) {
		name := strings.TrimPrefix(ref, definitionsPath)
		c.collect(ref, c.document.Get("definitions").Get(name), sample)
		return
	}
	for _, keyword := range []string{"anyOf", "oneOf", "allOf"} {
		for i, part := range schema.Get(keyword).Elems() {
			c.collect(at+"/"+keyword+"/"+strconv.Itoa(i), part, sample)
		}
	}
	if then := schema.Get("then"); then.Kind() == value.Object && fitsConst(schema.Get("if"), sample) {
		c.collect(at+"/then", then, sample)
	}
	switch sample.Kind() {
	case value.Object:
		properties, others := schema.Get("properties"), schema.Get("additionalProperties")
		for _, e := range sample.Entries() {
			if property := properties.Get(e.Key); property.Kind() == value.Object {
				place := at + "/properties/" + e.Key
				c.found[place] = append(c.found[place], e.Value)
				if general := c.general(place); general != place {
					c.found[general] = append(c.found[general], e.Value)
				}
				c.collect(place, property, e.Value)
			} else if others.Kind() == value.Object {
				c.collect(at+"/additionalProperties", others, e.Value)
			}
		}
	case value.Array:
		if items := schema.Get("items"); items.Kind() == value.Object {
			for _, item := range sample.Elems() {
				c.collect(at+"/items", items, item)
			}
		}
	}
}

// fitsConst reports whether a sample has the constants that a condition asks
// for.
func fitsConst(condition, sample value.Value) bool {
	for _, e := range condition.Get("properties").Entries() {
		if want := e.Value.Get("const"); !value.Equal(want, sample.Get(e.Key)) {
			return false
		}
	}
	return true
}

// general returns the place that similar definitions share.
func (c *collector) general(place string) string {
	rest, ok := strings.CutPrefix(place, definitionsPath)
	if !ok {
		return place
	}
	name, inside, _ := strings.Cut(rest, "/")
	return "alike " + c.alike(name) + "/" + inside
}

// annotate returns a part of the schema with examples at all of its keys.
func (c *collector) annotate(at string, v value.Value) value.Value {
	switch v.Kind() {
	case value.Array:
		items := make([]value.Value, v.Len())
		for i, item := range v.Elems() {
			items[i] = c.annotate(at+"/"+strconv.Itoa(i), item)
		}
		return value.FromArray(items)
	case value.Object:
		b := value.NewBuilder(v.Len())
		inProperties := strings.HasSuffix(at, "/properties")
		for _, e := range v.Entries() {
			place := at + "/" + e.Key
			annotated := c.annotate(place, e.Value)
			if inProperties {
				found := c.found[place]
				if found == nil {
					found = c.found[c.general(place)]
				}
				if list := choose(found); list != nil {
					annotated = With(annotated, "examples", value.FromArray(list))
				}
			}
			b.Set(e.Key, annotated)
		}
		return b.Value()
	}
	return v
}

// choose returns a few different examples, in their order; where all are long,
// the shortest.
func choose(found []value.Value) []value.Value {
	var chosen []value.Value
	var shortest value.Value
	size := -1
	seen := map[string]bool{}
	for _, v := range found {
		text := string(v.Append(nil))
		if size < 0 || len(text) < size {
			shortest, size = v, len(text)
		}
		if len(text) <= maxExampleBytes && !seen[text] && len(chosen) < maxExamples {
			chosen = append(chosen, v)
			seen[text] = true
		}
	}
	if chosen == nil && size >= 0 {
		return []value.Value{shortest}
	}
	return chosen
}
