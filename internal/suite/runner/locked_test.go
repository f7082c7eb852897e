package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// A call that the real server would refuse does not pass because a mock answers it.
func TestCallsFitTheLockFile(t *testing.T) {
	const config = `version: "1.0"
server: {name: x, version: "1"}
mcpServers: {web: {command: nope}}
tools:
  - name: fetch
    description: d
    inputSchema: {type: object, properties: {n: {}}}
    nodes:
      - {id: entry, type: entry, next: get}
      - {id: get, type: mcp, server: web, tool: get, args: {page: {expr: $.entry.n}}, next: exit, catch: [{errors: [timeout], next: exit}]}
      - {id: exit, type: exit}
`
	const locked = `{"name":"get","inputSchema":{"type":"object","properties":{"page":{"type":"integer"}},"required":["page"]}}`
	const refused = `server "web", tool "get": the arguments do not fit the tool's inputSchema: %s`
	tool, err := value.Parse(locked)
	if err != nil {
		t.Fatal(err)
	}
	file := (*lock.File)(nil).With(lock.NewServer("web", "", []value.Value{tool}, []string{"get"}))
	for _, c := range []struct{ arguments, reply, want string }{
		{`{n: 1}`, `{text: x}`, ""},
		{`{n: one}`, `{text: x}`, fmt.Sprintf(refused, `page: expected an integer, found a string`)},
		{`{}`, `{text: x}`, fmt.Sprintf(refused, `missing required property "page"; page: the expression $.entry.n gave nothing`)},
	} {
		path := suiteOf(t, config, "tests: [{name: a, tool: fetch, arguments: "+c.arguments+", mocks: [{server: web, tool: get, reply: "+c.reply+"}]}]\n")
		elsewhere := filepath.Join(t.TempDir(), "other.json")
		if err := os.WriteFile(elsewhere, file.Encode(), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := runFile(t, path, Options{}); r.Passed != 1 {
			t.Errorf("without a lock file:\n%s", told(r))
		}
		o := Options{LockFile: elsewhere, Getenv: func(string) (string, bool) { return "", false }}
		r := runFile(t, path, o)
		if text := told(r); (r.Passed == 1) != (c.want == "") || !strings.Contains(text, c.want) {
			t.Errorf("%s, %s: want %q, got\n%s", c.arguments, c.reply, c.want, text)
		}
		if paths := Load(context.Background(), []string{path}, o).Paths(); !slices.Contains(paths, elsewhere) {
			t.Errorf("--watch does not look at %s but at %q", elsewhere, paths)
		}
		if text := told(runFile(t, path, Options{LockRequired: true})); !strings.Contains(text, "there is no lock file") {
			t.Errorf("without a required lock file:\n%s", text)
		}
	}
}

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
