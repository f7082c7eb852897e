package runner

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestLockedHintsDecideAboutRetries(t *testing.T) {
	const config = `version: "1.0"
server: {name: x, version: "1"}
mcpServers: {web: {command: nope, retry: {maxAttempts: 2}}}
tools:
  - name: fetch
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: get}
      - {id: get, type: mcp, server: web, tool: get, next: exit}
      - {id: exit, type: exit}
`
	const tests = "tests: [{name: a, tool: fetch, mocks: [{server: web, tool: get, replies: [{failure: timeout}, {text: x}]}]}]\n"
	for _, c := range []struct {
		annotations string
		passes      int
	}{
		{`{"readOnlyHint":true}`, 1}, {`{"idempotentHint":true}`, 1}, {`{"readOnlyHint":false}`, 0}, {``, 0},
	} {
		path := suiteOf(t, config, tests)
		if c.annotations != "" {
			tool, err := value.Parse(`{"name":"get","inputSchema":{"type":"object"},"annotations":` + c.annotations + `}`)
			if err != nil {
				t.Fatal(err)
			}
			file := (*lock.File)(nil).With(lock.NewServer("web", "", []value.Value{tool}, []string{"get"}))
			configs, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range configs {
				if err := os.WriteFile(lock.Path(one), file.Encode(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		if r := runFile(t, path, Options{}); r.Passed != c.passes || r.Passed+r.Failed != 1 {
			t.Errorf("%s: %d passed, %d failed\n%s", c.annotations, r.Passed, r.Failed, told(r))
		}
	}
}
