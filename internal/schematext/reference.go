package schematext

import (
	"strconv"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Resolve returns the schema that a schema of root refers to with $ref, or the
// schema itself if it has a type or no reference into root. A reference that leads
// nowhere, or back to itself, gives an undefined value.
func Resolve(root, schema value.Value) value.Value {
	for range maxLeaps {
		ref := schema.Get("$ref").Str()
		if ref == "" || !schema.Get("type").IsUndefined() {
			return schema
		}
		schema = lookup(root, ref)
	}
	return value.Undef
}

// lookup returns what a reference of the form #/a/b names, undefined if there is
// no such thing.
func lookup(root value.Value, ref string) value.Value {
	if ref == "#" {
		return root
	}
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return value.Undef
	}
	at := root
	for _, key := range strings.Split(path, "/") {
		if at.Kind() == value.Array {
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= at.Len() {
				return value.Undef
			}
			at = at.Elems()[i]
			continue
		}
		at = at.Get(pointer.Replace(key))
	}
	return at
}

// pointer undoes the escapes of a JSON pointer (RFC 6901, section 4).
var pointer = strings.NewReplacer("~1", "/", "~0", "~")
