package policy

import (
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// appendCanonical appends v as JSON in which members are in the order of their
// names, so that equal values have the same text (as RFC 8785 does, but for
// integers beyond 2^53, which keep their digits).
func appendCanonical(dst []byte, v value.Value) []byte {
	switch v.Kind() {
	case value.Array:
		dst = append(dst, '[')
		for i, e := range v.Elems() {
			if i > 0 {
				dst = append(dst, ',')
			}
			if !isJSON(e) {
				e = value.NullValue // as the request has it
			}
			dst = appendCanonical(dst, e)
		}
		return append(dst, ']')
	case value.Object:
		entries := slices.DeleteFunc(slices.Clone(v.Entries()), func(e value.Entry) bool { return !isJSON(e.Value) })
		slices.SortFunc(entries, func(a, b value.Entry) int { return strings.Compare(a.Key, b.Key) })
		dst = append(dst, '{')
		for i, e := range entries {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(value.AppendString(dst, e.Key), ':')
			dst = appendCanonical(dst, e.Value)
		}
		return append(dst, '}')
	}
	return v.Append(dst)
}

// isJSON reports whether JSON has v.
func isJSON(v value.Value) bool { return !v.IsUndefined() && v.Kind() != value.Func }
