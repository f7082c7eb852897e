package repotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// differences has a call for each row of docs/typescript.md that says what a
// tool does, by the start of its first cell. nodes stand between entry and exit;
// the first is "a".
var differences = []struct {
	row, nodes, schemas, args, want string
}{
	{"a result of `0`", `{id: a, type: transform, transform: {expr: '0'}, next: exit}`, "", `{}`, "0\n"},
	{"the result `\"done\"`", `{id: a, type: transform, transform: {expr: '"done"'}, next: exit}`, "", `{}`, "\"done\"\n"},
	{"`n: \"three\"` with `outputSchema`", `{id: a, type: transform, transform: {expr: '{"n": $string($.entry.n)}'}, next: exit}`,
		"outputSchema: {type: object, properties: {n: {type: number}}}", `{"n": "three"}`, "does not fit its outputSchema: n: expected a number"},
	{"argument `n: \"x\"` with `inputSchema`", `{id: a, type: transform, transform: {expr: '$.entry'}, next: exit}`,
		"inputSchema: {type: object, properties: {n: {type: number}}}", `{"n": "x"}`, "n: expected a number, found the string \"x\""},
	{"`$error(\"no\")`", `{id: a, type: transform, transform: {expr: '$error("no")'}, next: exit}`, "", `{}`, "config.yaml:9:"},
	{"`{some: [{var: entry.xs}", `{id: a, type: switch, conditions: [{rule: {some: [{var: entry.xs}, {">": [{var: ""}, 2]}]}, target: yes}, {target: exit}]}`, "", `{"xs": [1, 3]}`, "true\n"},
	{"`{var: [entry.n, 5]}`", `{id: a, type: switch, conditions: [{rule: {"==": [{var: [entry.n, 5]}, 5]}, target: yes}, {target: exit}]}`, "", `{}`, "true\n"},
	{"`{\"==\": [{var: entry.x}, 3]}`", `{id: a, type: switch, conditions: [{rule: {"==": [{var: entry.x}, 3]}, target: yes}, {target: exit}]}`, "", `{"x": {"+": [1, 2]}}`, "\"exit\"\n"},

	{"`descripton: …`", `{id: a, type: transform, transform: {expr: '1'}, next: exit}`, "descripton: x", `{}`, `did you mean "description"?`},
	{"`position: {x: 1}`", `{id: a, type: transform, transform: {expr: '1'}, position: {x: 1}, next: exit}`, "", `{}`, `warning: unknown field "position"`},
	{"a tool without `outputSchema`", `{id: a, type: transform, transform: {expr: '1'}, next: exit}`, "", `{}`, "1\n"},
}

// elsewhere are the rows that other tests hold.
var elsewhere = []string{
	"`enum`, `items`",                // every keyword of a schema reaches clients
	"the date `2024-01-02`",          // plain dates are strings
	"`env: {KEY: value}`",            // the settings of upstream servers
	"`${NAME}` in `mcpServers`",      // the environment
	"`requestInit: {credentials: in", // entries of other programs
}

// TestDifferencesFromTypeScriptAreAsThePageSays calls the example of every row
// of the tables of docs/typescript.md whose first column is "example".
func TestDifferencesFromTypeScriptAreAsThePageSays(t *testing.T) {
	t.Parallel()
	var rows []string
	for _, table := range regexp.MustCompile(`(?m)^\| example .*\n\|[-|]+\|\n((?:\|.*\n)+)`).FindAllStringSubmatch(readFile(t, "docs/typescript.md"), -1) {
		rows = append(rows, strings.Split(strings.TrimSpace(table[1]), "\n")...)
	}
	if want := len(differences) + len(elsewhere); len(rows) != want {
		t.Errorf("the page has %d rows, the tests %d", len(rows), want)
	}
	has := func(start string) bool {
		for _, r := range rows {
			if strings.HasPrefix(r, "| "+start) {
				return true
			}
		}
		return false
	}
	for _, start := range elsewhere {
		if !has(start) {
			t.Errorf("the page has no row %s", start)
		}
	}
	for _, d := range differences {
		t.Run(d.row, func(t *testing.T) {
			if !has(d.row) {
				t.Errorf("the page has no row %s", d.row)
			}
			schemas := d.schemas
			if !strings.Contains(schemas, "inputSchema") {
				schemas += "\n    inputSchema: {type: object}"
			}
			text := "version: \"1.0\"\nserver: {name: t, version: \"1\"}\ntools:\n  - name: t\n    description: d\n    nodes:\n" +
				"      - {id: entry, type: entry, next: a}\n      - {id: exit, type: exit}\n      - " + d.nodes + "\n"
			if strings.Contains(d.nodes, "target: yes") {
				text += "      - {id: \"yes\", type: transform, transform: {expr: 'true'}, next: exit}\n"
			}
			text += "    " + strings.TrimSpace(schemas) + "\n"
			file := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("mcpgraph", "run", file, "t", "--args", d.args)
			cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+t.TempDir())
			if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), d.want) {
				t.Errorf("got\n%s\nwant %s in it, of\n%s", out, d.want, text)
			}
		})
	}
}

// TestFileForBothProgramsRuns calls the file that docs/typescript.md shows.
func TestFileForBothProgramsRuns(t *testing.T) {
	t.Parallel()
	for place, block := range blocks(t, "yaml") {
		if !strings.HasPrefix(place, "docs/typescript.md") || !strings.HasPrefix(block, "version:") {
			continue
		}
		file := filepath.Join(t.TempDir(), "sums.yaml")
		if err := os.WriteFile(file, []byte(block), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("mcpgraph", "run", file, "sum_to", "--arg", "n=4").CombinedOutput()
		if err != nil || string(out) != "{\"sum\":10}\n" {
			t.Errorf("%s: %v\n%s", place, err, out)
		}
		return
	}
	t.Error("the page shows no whole file")
}
