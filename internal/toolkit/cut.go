package toolkit

import (
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const defaultMaxBytes = 20_000

// maxBytes returns how long values in the answer may be.
func maxBytes(c *call) int {
	if n := c.args.Get("maxBytes"); n.Kind() == value.Number {
		return int(min(n.Float(), 4<<20))
	}
	return defaultMaxBytes
}

// cut returns a value, or if its JSON is longer than limit bytes, how long it is and
// its beginning. A secret that is cut in two is still redacted: see [value.CutMark].
func cut(v value.Value, limit int) (value.Value, bool) {
	if !v.LongerThan(limit) {
		return v, false
	}
	return value.ObjectOf("$cut", value.ObjectOf("bytes", v.TextSize(), "preview", v.Preview(limit/2))), true
}

// cutText returns the beginning of a text.
func cutText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + value.CutMark
}

// cutMembers returns an object whose members have no more than limit bytes each:
// a text stays one, others are cut.
func cutMembers(v value.Value, limit int) value.Value {
	if !v.LongerThan(limit) {
		return v
	}
	b := value.NewBuilder(v.Len())
	for _, e := range v.Entries() {
		one := e.Value
		if one.Kind() == value.String {
			one = value.FromString(cutText(one.Str(), limit))
		} else {
			one, _ = cut(one, limit)
		}
		b.Set(e.Key, one)
	}
	return b.Value()
}
