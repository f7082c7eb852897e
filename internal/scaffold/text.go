package scaffold

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/suite"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// schemaLine is the line with which a file names its JSON Schema.
func schemaLine(schema string) string {
	if schema == "" {
		return ""
	}
	return "# yaml-language-server: $schema=" + schema + "\n\n"
}

// maxArguments is how many arguments are passed on one by one.
const maxArguments = 12

// config returns the text of the configuration.
func (d *draft) config() string {
	var b strings.Builder
	fmt.Fprintf(&b, `%s# An MCP server with one tool. The tool is a graph: it calls %s of the
# server %s, and returns what that answers.
version: "1.0"

server:
  name: %s
  version: 0.1.0

# The MCP servers that the tools call.
mcpServers:
`, schemaLine(d.target.ConfigSchema), comment(d.up.Tool), comment(d.up.Server), suite.Flow(value.FromString(plainText(d.up.Server, 60)+"-tools")))
	b.WriteString(field(d.up.Server, d.up.Entry, 1))
	b.WriteString("\ntools:\n")
	b.WriteString("  - " + strings.TrimLeft(field("name", value.FromString(d.name), 2), " "))
	b.WriteString("    # Models choose a tool by its description.\n")
	b.WriteString(description(d.up.Description, d.up.Tool))
	b.WriteString(field("inputSchema", d.input, 2))
	if hints := d.hints(); hints.Len() > 0 {
		b.WriteString(field("annotations", hints, 2))
	}
	b.WriteString(`    nodes:
      # entry: starts the run. Its output, $.entry, is the tool's arguments.
      - {id: entry, type: entry, next: call}

      # mcp: calls the upstream tool. {expr: …} is an expression in JSONata.
      - id: call
        type: mcp
`)
	b.WriteString(field("server", value.FromString(d.up.Server), 4))
	b.WriteString(field("tool", value.FromString(d.up.Tool), 4))
	b.WriteString(field("args", d.args("entry"), 4))
	b.WriteString(`        next: exit

      # Between call and exit there is room for more: a transform that picks from
      # $.call, a switch, a loop, calls of other servers. When the result has its form,
      # describe it with outputSchema, beside inputSchema.

      # exit: ends the run. The result is the output of the node before it.
      - {id: exit, type: exit}
`)
	return b.String()
}

// description returns the tool's description, folded if it is long.
func description(text, tool string) string {
	if text = plainText(text, maxToolText); text == "" {
		text = "Calls " + plainText(tool, maxFieldText)
	}
	line := field("description", value.FromString(text), 2)
	if len(line) <= 100 {
		return line
	}
	var b strings.Builder
	b.WriteString("    description: >-\n")
	column := 0
	for word := range strings.FieldsSeq(text) {
		switch n := len([]rune(word)); {
		case column == 0:
			b.WriteString("      " + word)
			column = 6 + n
		case column+1+n > 88:
			b.WriteString("\n      " + word)
			column = 6 + n
		default:
			b.WriteString(" " + word)
			column += 1 + n
		}
	}
	b.WriteByte('\n')
	return b.String()
}

// hints returns the annotations that the upstream tool states: the new tool calls
// it and nothing else.
func (d *draft) hints() value.Value {
	b := value.NewBuilder(4)
	for _, name := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
		if v := d.up.Annotations.Get(name); v.Kind() == value.Bool {
			b.Set(name, v)
		}
	}
	return b.Value()
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// args passes the arguments of the tool on: the output of its entry.
func (d *draft) args(entry string) value.Value {
	if !identifier.MatchString(entry) {
		entry = "`" + entry + "`"
	}
	whole := value.ObjectOf("expr", value.FromString("$."+entry))
	properties := d.input.Get("properties").Entries()
	if len(properties) == 0 || len(properties) > maxArguments {
		return whole
	}
	b := value.NewBuilder(len(properties))
	for _, p := range properties {
		step := p.Key
		if strings.ContainsAny(step, "`\n\r") || step == "" {
			return whole
		}
		if !identifier.MatchString(step) {
			step = "`" + step + "`"
		}
		b.Set(p.Key, value.ObjectOf("expr", value.FromString("$."+entry+"."+step)))
	}
	return b.Value()
}

// test returns the text of the test file.
func (d *draft) test() string {
	about := fmt.Sprintf("# This reply is made up. `mcpgraph call %s %s %s` shows a real one.\n",
		comment(d.target.Config), comment(d.up.Server), comment(d.up.Tool))
	if d.real {
		about = "# The reply of a call when this file was made.\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, `%s# Run it with: mcpgraph test %s
# No server is started: the mock answers in its place.
tests:
`, schemaLine(d.target.TestSchema), comment(d.target.Test))
	b.WriteString("  - " + strings.TrimLeft(field("name", value.FromString("returns what "+plainText(d.up.Tool, 60)+" answers"), 2), " "))
	b.WriteString(field("tool", value.FromString(d.name), 2))
	if d.arguments.Len() > 0 {
		b.WriteString(field("arguments", d.arguments, 2))
	}
	b.WriteString("    mocks:\n      " + about)
	b.WriteString(indented(suite.YAML(value.FromArray([]value.Value{d.mock()})), 3))
	b.WriteString("    expect:\n")
	b.WriteString(field("result", literally(d.given), 3))
	b.WriteString(field("path", d.path(), 3))
	return b.String()
}

// path returns the nodes that the test's run walks.
func (d *draft) path() value.Value {
	ids := make([]value.Value, 3)
	for i, name := range []string{"entry", "call", "exit"} {
		ids[i] = value.FromString(d.before + name)
	}
	return value.FromArray(ids)
}

// mock returns the mock of the test.
func (d *draft) mock() value.Value {
	mock := value.NewBuilder(4)
	mock.Set("server", value.FromString(d.up.Server))
	mock.Set("tool", value.FromString(d.up.Tool))
	if d.arguments.Len() > 0 {
		mock.Set("arguments", literally(d.arguments))
	}
	mock.Set("reply", d.reply)
	return mock.Value()
}

// literally returns what compares equal with v alone: objects with one of these only
// keys would mean more than themselves.
func literally(v value.Value) value.Value {
	if !special(v) {
		return v
	}
	return value.ObjectOf("is", v)
}

func special(v value.Value) bool {
	if v.Kind() == value.Object && v.Len() == 1 {
		switch v.Entries()[0].Key {
		case "match", "expr", "is":
			return true
		}
	}
	for _, e := range v.Entries() {
		if special(e.Value) {
			return true
		}
	}
	for _, e := range v.Elems() {
		if special(e) {
			return true
		}
	}
	return false
}

// field returns a key and its value as YAML, indented by levels of two spaces.
func field(key string, v value.Value, level int) string {
	return indented(suite.YAML(value.ObjectOf(key, v)), level)
}

// indented indents the lines of a text.
func indented(text string, level int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString(strings.Repeat("  ", level))
		}
		b.WriteString(line)
	}
	return b.String()
}

// comment returns a text for a comment: one line.
func comment(text string) string { return plainText(text, 200) }
