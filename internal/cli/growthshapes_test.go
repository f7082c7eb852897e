package cli_test

import (
	"fmt"
	"strings"
)

// shape is a kind of file that grows. What is done with it must cost as much more as
// the file is longer.
type shape struct {
	name string
	n    int // the smallest size that is measured
	file func(n int) string
	// tests is the text of its test file; nil: one test of a tool that may not exist.
	tests func(n int) string
}

const growthHead = "version: \"1.0\"\nserver: {name: s, version: \"1\"}\n"

// oneTool returns a file with one tool. nodes stand between entry and exit; the entry
// leads to the node n0.
func oneTool(schema, nodes string) string {
	return growthHead + "tools:\n  - name: t\n    description: d\n    inputSchema:\n" + schema +
		"    nodes:\n      - {id: entry, type: entry, next: n0}\n" + nodes + "      - {id: exit, type: exit}\n"
}

const anyInput = "      type: object\n"

// each returns the texts of a format for 0 to n-1.
func each(n int, format string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.NewReplacer("#+", fmt.Sprint(i+1), "#", fmt.Sprint(i)).Replace(format))
	}
	return b.String()
}

func growingTools(n int, nodes string) string {
	return growthHead + "tools:\n" + each(n, "  - name: t#\n    description: d\n    inputSchema: {type: object}\n    nodes:\n      - {id: entry, type: entry, next: a}\n"+nodes+"      - {id: exit, type: exit}\n")
}

// chain ends the way through n nodes at the exit.
func chain(n int, format string) string {
	return strings.ReplaceAll(each(n, format), fmt.Sprintf("next: n%d}", n), "next: exit}")
}

// complete returns switch nodes each of which leads to all others.
func completeGraph(n int, rule string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "      - id: n%d\n        type: switch\n        conditions:\n", i)
		for j := range n {
			if i != j {
				fmt.Fprintf(&b, "          - {rule: %s, next: n%d}\n", strings.ReplaceAll(rule, "#", fmt.Sprint(j)), j)
			}
		}
		b.WriteString("          - {next: exit}\n")
	}
	return b.String()
}

func defs(n int, schema, last string) string {
	return "      type: object\n      $ref: \"#/$defs/a0\"\n      $defs:\n" +
		strings.ReplaceAll(strings.ReplaceAll(each(n, "        a~: "+schema+"\n"), "~", ""), "@", "#") +
		fmt.Sprintf("        a%d: %s\n", n, last)
}

const step = "      - {id: n#, type: transform, transform: {expr: \"%s\"}, next: n#+}\n"

var shapes = []shape{
	{name: "valid tools", n: 50, file: func(n int) string {
		return growingTools(n, "      - {id: a, type: transform, transform: {expr: \"$.entry.x\"}, next: exit}\n")
	}, tests: func(n int) string {
		return "config: tools.yaml\ntests:\n" + each(n, "  - {name: p#, tool: t#}\n")
	}},
	{name: "calls of unknown tools", n: 100, file: func(n int) string {
		return growingTools(n, "      - {id: a, type: call, tool: nothing_like_it_#, next: exit}\n")
	}},
	{name: "unknown servers", n: 100, file: func(n int) string {
		return growthHead + "mcpServers:\n" + each(n, "  srv#: {command: x}\n") + "tools:\n" +
			each(n, "  - name: t#\n    description: d\n    inputSchema: {type: object}\n    nodes:\n      - {id: entry, type: entry, next: a}\n      - {id: a, type: mcp, server: other_than_#, tool: x, next: exit}\n      - {id: exit, type: exit}\n")
	}},
	{name: "entries that are no tools", n: 300, file: func(n int) string { return growthHead + "tools:\n" + each(n, "  - bad: #\n") }},
	{name: "bad tools on one line", n: 300, file: func(n int) string { return growthHead + "tools: [" + each(n, "{bad: é}, ") + "1]\n" }},
	{name: "merge keys in a chain", n: 800, file: func(n int) string {
		return growthHead + "tools: []\nx-merged:\n  - &a0 {k0: 0}\n" + each(n, "  - &a#+ {<<: *a#, k#+: 1}\n")
	}},
	{name: "wrong reads of properties", n: 100, file: func(n int) string {
		return oneTool("      type: object\n      additionalProperties: false\n      properties:\n"+each(n, "        right_#: {type: string}\n"), chain(n, fmt.Sprintf(step, "$.entry.wrong_#")))
	}},
	{name: "wrong reads of outputs", n: 100, file: func(n int) string {
		return oneTool(anyInput, "      - {id: n0, type: transform, transform: {expr: '{"+each(n, "\"right_#\": 1, ")+"\"x\": 1}'}, next: n1}\n"+
			strings.ReplaceAll(each(n, "      - {id: n#+, type: transform, transform: {expr: \"$.n0.wrong_#\"}, next: @#+@}\n"), "@", "x"))
	}},
	{name: "unknown required properties", n: 100, file: func(n int) string {
		return oneTool("      type: object\n      properties:\n"+each(n, "        right_#: {type: string}\n")+"      required:\n"+each(n, "        - wrong_#\n"), "      - {id: n0, type: transform, transform: {expr: \"1\"}, next: exit}\n")
	}},
	{name: "misspelt keys", n: 200, file: func(n int) string {
		return oneTool(anyInput, "      - {id: n0, type: transform, transform: {expr: \"1\"}, next: exit}\n      - id: bad\n        type: transform\n"+each(n, "        trnsform#: 1\n"))
	}},
	{name: "misspelt keywords", n: 200, file: func(n int) string {
		return oneTool("      type: object\n      properties:\n"+each(n, "        p#: {tpye: string, minimun: 1}\n"), "      - {id: n0, type: transform, transform: {expr: \"1\"}, next: exit}\n")
	}},
	{name: "schemas with two references", n: 50, file: func(n int) string {
		return oneTool(defs(n, `{allOf: [{$ref: "@/$defs/a#+"}, {$ref: "@/$defs/a#+"}]}`, "{type: object}"), "      - {id: n0, type: transform, transform: {expr: \"$.entry.x\"}, next: exit}\n")
	}},
	{name: "properties with two references", n: 50, file: func(n int) string {
		return oneTool(defs(n, `{properties: {x: {$ref: "@/$defs/a#+"}, y: {$ref: "@/$defs/a#+"}}}`, "{type: object}"), "      - {id: n0, type: transform, transform: {expr: \"$.entry.x\"}, next: exit}\n")
	}},
	{name: "wide anyOf", n: 100, file: func(n int) string {
		return oneTool("      type: object\n      properties:\n        x:\n          default: 0\n          anyOf:\n"+each(n, "            - {type: object, required: [k#]}\n"), "      - {id: n0, type: transform, transform: {expr: \"$.entry.x.y\"}, next: exit}\n")
	}},
	{name: "calls of tools behind globs", n: 100, file: func(n int) string {
		return growthHead + "mcpServers:\n  s:\n    command: x\n    tools:\n      allow:\n" + each(n, "        - \"g#_/*\"\n        - \"n/#\"\n") + "tools:\n" +
			each(n, "  - name: t#\n    description: d\n    inputSchema: {type: object}\n    nodes:\n      - {id: entry, type: entry, next: a}\n      - {id: a, type: mcp, server: s, tool: x/#, next: exit}\n      - {id: exit, type: exit}\n")
	}},
	{name: "unset variables", n: 100, file: func(n int) string {
		return growthHead + "mcpServers:\n  s:\n    command: x\n    env:\n" + each(n, "      V#: ${NOT_SET_#}\n") + "tools: []\n"
	}},
	{name: "bad fields of a server", n: 100, file: func(n int) string {
		return growthHead + "mcpServers:\n  s:\n    command: x\n" + each(n, "    wrong#: 1\n") + "tools: []\n"
	}},
	{name: "bad servers", n: 100, file: func(n int) string {
		return growthHead + "mcpServers:\n" + each(n, "  s#: {comand: x, timeoutMs: no}\n") + "tools: []\n"
	}},
	{name: "a long name with bad fields", n: 200, file: func(n int) string {
		return growthHead + "mcpServers:\n  " + strings.Repeat("x", 10*n) + ":\n    command: x\n" + each(n, "    wrong#: 1\n") + "tools: []\n"
	}},
	{name: "long words", n: 5000, file: func(n int) string {
		long := strings.Repeat("x", n)
		return growthHead + "tools:\n  - name: " + long + "\n    description: d\n    inputSchema: {type: " + long + "}\n    " + long + ": 1\n    nodes:\n      - {id: " + long + ", type: " + long + ", next: " + long + "}\n"
	}},
	{name: "edges to unknown nodes", n: 100, file: func(n int) string {
		return oneTool(anyInput, each(n, "      - {id: n#, type: transform, transform: {expr: \"1\"}, next: elsewhere_#}\n"))
	}},
	{name: "references to unknown nodes", n: 100, file: func(n int) string {
		return oneTool(anyInput, chain(n, fmt.Sprintf(step, "$.elsewhere_#")))
	}},
	{name: "references to later nodes", n: 100, file: func(n int) string {
		return oneTool(anyInput, chain(n, fmt.Sprintf(step, "$.n#+")))
	}},
	{name: "duplicate ids", n: 100, file: func(n int) string {
		return oneTool(anyInput, each(n, "      - {id: n0, type: transform, transform: {expr: \"1\"}, next: exit}\n"))
	}},
	{name: "unbound variables", n: 100, file: func(n int) string {
		return oneTool(anyInput, "      - {id: n0, type: transform, transform: {expr: '("+each(n, "$b# := 1; ")+each(n, "$unbound_#; ")+"1)'}, next: exit}\n")
	}},
	{name: "unknown functions", n: 100, file: func(n int) string {
		return oneTool(anyInput, chain(n, fmt.Sprintf(step, "$upercase_#(1)")))
	}},
	{name: "wrong arguments of a call", n: 100, file: func(n int) string {
		return oneTool("      type: object\n      additionalProperties: false\n      properties:\n"+each(n, "        right_#: {type: string}\n"),
			"      - id: n0\n        type: call\n        tool: t\n        next: exit\n        args:\n"+each(n, "          wrong_#: 1\n"))
	}},
	{name: "calls with wrong arguments", n: 100, file: func(n int) string {
		return oneTool("      type: object\n      additionalProperties: false\n      properties:\n"+each(n, "        right_#: {type: string}\n"),
			chain(n, "      - {id: n#, type: call, tool: t, args: {wrong_#: 1}, next: n#+}\n"))
	}},
	{name: "unknown failures in a chain of calls", n: 50, file: func(n int) string {
		return growingTools(n+1, "      - {id: a, type: call, tool: t#+, catch: {errors: [unknown_#], next: exit}, next: exit}\n")
	}},
	{name: "constant rules in a complete graph", n: 10, file: func(n int) string {
		return oneTool(anyInput, completeGraph(n, "{\"==\": [1, 1]}"))
	}},
	{name: "references in a complete graph", n: 10, file: func(n int) string {
		return oneTool(anyInput, completeGraph(n, "{var: n#.x}"))
	}},
	{name: "nested bodies", n: 10, file: func(n int) string {
		var b strings.Builder
		for i := range n {
			in := strings.Repeat("    ", i)
			fmt.Fprintf(&b, "%s      - id: n%d\n%s        type: map\n%s        items: {expr: $.elsewhere}\n%s        nodes:\n", in, i, in, in, in)
		}
		fmt.Fprintf(&b, "%s      - {id: last, type: transform, transform: {expr: \"1\"}}\n", strings.Repeat("    ", n))
		return oneTool(anyInput, b.String())
	}},
	{name: "prompts", n: 50, file: func(n int) string {
		return growthHead + "prompts:\n" + each(n, "  - {name: p#, description: d, arguments: [{name: a}], messages: [{role: user, text: {expr: \"$.wrong_#\"}}]}\n") +
			"tools:\n" + each(n, "  - bad: #\n")
	}},
	{name: "flat layout", n: 200, // from here on near names are no longer looked for
		file: func(n int) string {
			return growthHead + "tools:\n" + each(n, "  - {name: t#, description: d, inputSchema: {type: object}}\n") + "nodes:\n" +
				each(n, "  - {id: entry_#, type: entry, tool: t#, next: a_#}\n  - {id: a_#, type: transform, transform: {expr: \"$.b_#+\"}, next: exit_#}\n  - {id: exit_#, type: exit, tool: t_#}\n")
		}},
	{name: "failing tests", n: 20, file: func(int) string {
		return oneTool(anyInput, "      - {id: n0, type: transform, transform: {expr: \"1\"}, next: exit}\n")
	}, tests: func(n int) string {
		return "config: tools.yaml\ntests:\n" + each(n, "  - {name: f#, tool: t, expect: {result: #}}\n")
	}},
	{name: "tests with unknown names", n: 50, file: func(n int) string {
		return oneTool(anyInput, chain(n, fmt.Sprintf(step, "1")))
	}, tests: func(n int) string {
		return "config: tools.yaml\ntests:\n" + each(n, "  - {name: f#, tool: t, expect: {outputs: {elsewhere_#: 1}}, mocks: [{server: nowhere_#, tool: x, reply: {text: x}}]}\n")
	}},
	{name: "a long list of values", n: 500, file: func(n int) string {
		return oneTool(anyInput, "      - {id: n0, type: transform, transform: {expr: \"1\"}, next: exit}\n") + "x-list:\n" + each(n, "  - {a: #, b: [x, \"y\"]} # é\n")
	}},
}
