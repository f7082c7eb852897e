package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// keywords are those of JSON Schema, draft 4 to 2020-12, and of OpenAPI.
var keywords = []string{
	"$anchor", "$comment", "$defs", "$dynamicAnchor", "$dynamicRef", "$id", "$recursiveAnchor", "$recursiveRef", "$ref",
	"$schema", "$vocabulary", "additionalItems", "additionalProperties", "allOf", "anyOf", "const", "contains",
	"contentEncoding", "contentMediaType", "contentSchema", "default", "definitions", "dependencies",
	"dependentRequired", "dependentSchemas", "deprecated", "description", "discriminator", "else", "enum", "example",
	"examples", "exclusiveMaximum", "exclusiveMinimum", "externalDocs", "format", "id", "if", "items", "maxContains",
	"maxItems", "maxLength", "maxProperties", "maximum", "minContains", "minItems", "minLength", "minProperties",
	"minimum", "multipleOf", "not", "nullable", "oneOf", "pattern", "patternProperties", "prefixItems", "properties",
	"propertyNames", "readOnly", "required", "then", "title", "type", "unevaluatedItems", "unevaluatedProperties",
	"uniqueItems", "writeOnly", "xml",
}

var schemaTypes = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

// under which keywords further schemas stand: one, a list, or a map of them.
// plain ones describe another value than the schema itself does, so that the
// schema there is a whole of its own; the others add to what stands beside them.
var inner = map[string]struct{ plain bool }{
	"properties": {true}, "items": {true}, "prefixItems": {true}, "additionalProperties": {true}, "contains": {true},
	"patternProperties": {true}, "unevaluatedItems": {true}, "unevaluatedProperties": {true}, "additionalItems": {true},
	"$defs": {}, "definitions": {}, "allOf": {}, "anyOf": {}, "oneOf": {}, "not": {}, "if": {}, "then": {}, "else": {},
	"dependentSchemas": {},
}

// mapped are the keywords under which schemas stand by name.
var mapped = map[string]bool{
	"properties": true, "patternProperties": true, "$defs": true, "definitions": true, "dependentSchemas": true,
}

// IsKeyword reports whether a key is one of JSON Schema, draft 4 to 2020-12, or of
// OpenAPI.
func IsKeyword(key string) bool { return slices.Contains(keywords, key) }

// InnerSchemas reports whether schemas stand under a keyword, and if so, whether
// they stand there by name, as under properties. Otherwise it is one or a list.
func InnerSchemas(keyword string) (schemas, byName bool) {
	_, schemas = inner[keyword]
	return schemas, mapped[keyword]
}

// checkKeywords reports what a schema surely means otherwise: keys that are no
// keywords, and required properties that it does not describe. whole is true
// for one that is not part of the description of a value by several schemas.
func checkKeywords(b *reporter, src *config.Node, what string, whole bool) {
	if src.Kind() != config.Map {
		return
	}
	for _, f := range src.Fields() {
		key := f.Key.String()
		checkKeyword(b, src, f, what)
		below, ok := inner[key]
		if !ok {
			continue
		}
		switch v := f.Value; {
		case mapped[key]:
			for _, named := range v.Fields() {
				checkKeywords(b, named.Value, what, below.plain)
			}
		case v.Kind() == config.List:
			for _, item := range v.Items() {
				checkKeywords(b, item, what, below.plain)
			}
		default:
			checkKeywords(b, v, what, below.plain)
		}
	}
	checkRequired(b, src, what, whole)
}

// checkKeyword reports a key of a schema that is nearly a keyword, or that YAML read
// as a key because its colon or the space behind it is missing.
func checkKeyword(b *reporter, schema *config.Node, f config.Field, what string) {
	key := f.Key.String()
	if config.IsFree(key) || slices.Contains(keywords, key) {
		return
	}
	d := f.Key.Problem(diag.CodeKeyword, fmt.Sprintf("%q in %s is not a keyword of JSON Schema and has no effect", key, what))
	word, rest, cut := cutAny(key, ": ")
	near, misspelt := diag.Misspelt(key, keywords)
	switch {
	case cut && f.Value.IsNull() && slices.Contains(keywords, word):
		d.Hint = fmt.Sprintf("write %s: %s", word, strings.TrimLeft(rest, ": "))
	case misspelt:
		d.Hint = fmt.Sprintf("did you mean %q?", near)
	case schema.Get("properties") == nil && schema.Get("type").Text().String() == "object" &&
		slices.Contains(schemaTypes, f.Value.Get("type").Text().String()):
		d.Hint = fmt.Sprintf("write properties: {%s: …}", key)
	default:
		return
	}
	b.report(d)
}

// cutAny cuts s at the first of some characters.
func cutAny(s, chars string) (before, after string, found bool) {
	i := strings.IndexAny(s, chars)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// describers are the keywords beside which properties may be described
// elsewhere.
var describers = []string{
	"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas",
	"dependencies", "patternProperties",
}

// checkRequired reports the names under "required" that no property has.
func checkRequired(b *reporter, src *config.Node, what string, whole bool) {
	properties := src.Get("properties")
	if properties == nil || properties.Kind() != config.Map {
		return
	}
	for _, key := range describers {
		whole = whole && src.Get(key) == nil
	}
	// A schema that explicitly allows other properties may mean it.
	if more := src.Get("additionalProperties"); more != nil {
		whole = whole && more.Text().String() == "false"
	}
	var names *diag.Names // of the properties, once they are needed
	for _, item := range src.Get("required").Items() {
		name := item.Text().String()
		if !item.IsString() || properties.Get(name) != nil {
			continue
		}
		if names == nil {
			names = namesOf(properties)
		}
		near, misspelt := names.Nearest(name)
		if _, sure := names.Misspelt(name); !whole && !sure {
			continue
		}
		d := item.Problem(diag.CodeRequired, fmt.Sprintf("%q is required in %s but not among its properties", name, what))
		d.Hint = cmp.Or(diag.Meant(near, misspelt), fmt.Sprintf("describe it under \"properties\", or write %s: true there", name))
		b.report(d)
	}
}

// namesOf returns the keys of a map.
func namesOf(n *config.Node) *diag.Names {
	var keys []string
	for _, f := range n.Fields() {
		keys = append(keys, f.Key.String())
	}
	return diag.NewNames(keys)
}

// shorthand returns what to write for the part of a schema at path that is only
// the name of a type.
func shorthand(n *config.Node, path []string) string {
	if n.IsString() && len(path) > 0 && slices.Contains(schemaTypes, n.Text().String()) && path[len(path)-1] != "type" {
		return fmt.Sprintf("write {type: %s}", n.Text().String())
	}
	return ""
}
