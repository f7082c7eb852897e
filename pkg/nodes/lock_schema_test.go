package nodes_test

import (
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// nested returns a schema whose lists and maps are nested 2n+1 levels deep.
func nested(n int) string {
	return strings.Repeat(`{"type":"object","properties":{"a":`, n) + `{"type":"string"}` + strings.Repeat("}}", n)
}

// TestSchemasAreBounded compares calls with schemas of a server that no library should
// compile.
func TestSchemasAreBounded(t *testing.T) {
	long := strings.ReplaceAll(nested(60), `"a"`, `"`+strings.Repeat("a", 20_000)+`"`)
	for _, test := range []struct{ name, schema, args, want string }{
		{"as deep as may be", nested(99), "{a: 1}", `expected an object, found the number 1`},
		{"deeper", nested(100), "{a: 1}", `does not compile, so its arguments were not checked: it is nested more than 200 levels deep`},
		{"very deep", nested(4000), "{a: 1}", `nested more than 200 levels deep`},
		{"long paths", long, "{a: 1}", `it is too large: the paths to its parts take more than 32 MiB`},
		{"nothing to compare", nested(4000), `{expr: "$.entry"}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			listed, err := value.Parse(`[{"name":"deep","inputSchema":` + test.schema + `}]`)
			if err != nil {
				t.Fatal(err)
			}
			locked := (*lock.File)(nil).With(lock.NewServer("s", "", listed.Elems(), []string{"deep"}))
			set := build(t, "", "      - {id: a, type: mcp, server: s, tool: deep, args: "+test.args+", next: exit}", "")
			ds := set.CheckLock(locked)
			if test.want == "" && len(ds) > 0 || test.want != "" && (len(ds) != 1 || !strings.Contains(ds[0].Message, test.want)) {
				t.Errorf("got %v", ds)
			}
		})
	}
}
