package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// argument is one property of an inputSchema.
type argument struct {
	name, kind, description string
	required                bool
}

// argumentsOf returns the properties of a schema, the required ones first.
func argumentsOf(schema value.Value) []argument {
	required := map[string]bool{}
	for _, name := range schema.Get("required").Elems() {
		required[name.Str()] = true
	}
	var list []argument
	for _, p := range schema.Get("properties").Entries() {
		kind := strings.Join(typesOf(schema, p.Value), " or ")
		if values := valuesOf(schema, p.Value); values != nil && kind != "boolean" {
			kind = strings.Join(values, ", ")
		}
		if v := p.Value.Get("default"); !v.IsUndefined() {
			kind = strings.TrimSpace(kind + " (default " + v.JSON() + ")")
		}
		list = append(list, argument{p.Key, kind, p.Value.Get("description").Str(), required[p.Key]})
	}
	slices.SortStableFunc(list, func(a, b argument) int {
		switch {
		case a.required == b.required:
			return 0
		case a.required:
			return -1
		}
		return 1
	})
	return list
}

// summary returns a description of an argument on one line.
func (a argument) summary() string {
	parts := []string{}
	if a.required {
		parts = append(parts, "required")
	}
	for _, part := range []string{a.kind, a.description} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return oneLine(strings.Join(parts, "; "))
}

// writeTools lists tools with their arguments, each on a line of that width.
func writeTools(w io.Writer, config string, tools []mcpgraph.Tool, width int) error {
	var b strings.Builder
	for _, t := range tools {
		name := t.Name
		if t.Private {
			name += " (private)"
		}
		fmt.Fprintln(&b, shorten(oneLine(name+"  "+firstLine(t.Description)), width))
		var rows strings.Builder
		table := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
		for _, arg := range argumentsOf(t.InputSchema) {
			fmt.Fprintf(table, "  %s\t%s\n", oneLine(arg.name), arg.summary())
		}
		if err := table.Flush(); err != nil {
			return err
		}
		for row := range strings.Lines(rows.String()) {
			fmt.Fprintln(&b, shorten(strings.TrimRight(row, "\n"), width))
		}
	}
	if len(tools) > 0 {
		fmt.Fprintf(&b, "\nCall one with: mcpgraph run %s %s%s\n", config, tools[0].Name, exampleArguments(tools[0]))
	}
	return writeAll(w, []byte(b.String()))
}

// published returns the tools that clients see.
func published(engine *mcpgraph.Engine) []mcpgraph.Tool {
	return slices.DeleteFunc(engine.Tools(), func(t mcpgraph.Tool) bool { return t.Private })
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// exampleArguments shows how the required arguments of a tool are given.
func exampleArguments(t mcpgraph.Tool) string {
	var b strings.Builder
	for _, arg := range argumentsOf(t.InputSchema) {
		if arg.required {
			fmt.Fprintf(&b, " --arg %s=…", arg.name)
		}
	}
	return b.String()
}
