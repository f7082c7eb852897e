package language

import (
	"strconv"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// quoteKey returns a key as YAML, to be written where the quote already stands.
func quoteKey(s string, quote byte) string { return quoteValue(s, quote, false) }

// quoteValue returns a string as YAML. typed is true for one that stands for a
// value of another type, such as true.
func quoteValue(s string, quote byte, typed bool) string {
	switch {
	case quote == '"':
		q := strconv.Quote(s)
		return q[1 : len(q)-1]
	case quote == '\'':
		return strings.ReplaceAll(s, "'", "''")
	case typed && (s == "true" || s == "false" || s == "null"):
		return s
	}
	if n, ds := config.ParseYAML("", []byte("[{a: "+s+"}]")); len(ds) == 0 {
		if v := n.At(0, "a"); v.IsString() && v.Text().String() == s && !strings.ContainsAny(s, "\n#") {
			return s
		}
	}
	return strconv.Quote(s)
}
