package serving

import (
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Kinds of the members of prompts, resources and templates, and of what is in their lists
// (MCP 2025-11-25, schema). Other members are not checked.
var (
	listedMembers = map[string]value.Kind{
		"name": value.String, "title": value.String, "description": value.String, "mimeType": value.String,
		"size": value.Number, "arguments": value.Array, "icons": value.Array, "annotations": value.Object, "_meta": value.Object,
	}
	elementMembers = map[string]value.Kind{
		"name": value.String, "title": value.String, "description": value.String, "required": value.Bool,
		"src": value.String, "mimeType": value.String, "sizes": value.Array, "theme": value.String,
	}
	// elementKeys are the members that elements of lists must have.
	elementKeys = map[string]string{"arguments": "name", "icons": "src"}
)

// cleaned returns an entry of a server's list without what MCP does not allow in it. Many
// clients refuse a whole list, also of other servers, for one wrong member. An entry
// without a name is called by its key: uri or uriTemplate.
func cleaned(v value.Value, key string) value.Value {
	out, same := withKinds(v, listedMembers)
	if out.Has("name") && same && !v.Has("arguments") && !v.Has("icons") {
		return v
	}
	b := value.NewBuilder(out.Len() + 1)
	for _, e := range out.Entries() {
		if needs := elementKeys[e.Key]; needs != "" {
			e.Value = cleanedElements(e.Value, needs)
		}
		b.Set(e.Key, e.Value)
	}
	if !out.Has("name") {
		b.Set("name", v.Get(key))
	}
	return b.Value()
}

// cleanedElements returns a list of objects without those that lack a text under needs.
func cleanedElements(list value.Value, needs string) value.Value {
	elements := slices.Clone(list.Elems())
	for i, e := range elements {
		if e.Kind() == value.Object {
			elements[i], _ = withKinds(e, elementMembers)
		}
	}
	return value.FromArray(slices.DeleteFunc(elements, func(e value.Value) bool { return e.Get(needs).Kind() != value.String }))
}

// withKinds returns an object without the members that have another kind than kinds say,
// and reports whether it is the same object.
func withKinds(v value.Value, kinds map[string]value.Kind) (out value.Value, same bool) {
	wrong := func(e value.Entry) bool {
		kind, known := kinds[e.Key]
		return known && e.Value.Kind() != kind
	}
	if !slices.ContainsFunc(v.Entries(), wrong) {
		return v, true
	}
	return value.FromEntries(slices.DeleteFunc(slices.Clone(v.Entries()), wrong)), false
}
