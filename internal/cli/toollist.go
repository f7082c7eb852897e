package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/schematext"
	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// fieldType returns the type of a field and its default, on one line.
func fieldType(f schematext.Field) string {
	text := f.Type
	if !f.Default.IsUndefined() {
		text += " (default " + f.Default.Preview(maxDefaultBytes) + ")"
	}
	return textline.Clean(text)
}

// maxDefaultBytes is how much of a default value is shown.
const maxDefaultBytes = 200

// fieldSummary returns a description of a field on one line.
func fieldSummary(f schematext.Field) string {
	var parts []string
	if f.Required {
		parts = append(parts, "required")
	}
	parts = append(parts, fieldType(f))
	if f.Description != "" {
		parts = append(parts, f.Description)
	}
	return visible(textline.Clean(strings.Join(parts, "; ")))
}

// writeFieldRows writes each field on a line of that width.
func writeFieldRows(b *strings.Builder, fields []schematext.Field, width int) {
	var rows strings.Builder
	table := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
	for _, f := range fields {
		fmt.Fprintf(table, "  %s\t%s\n", visible(textline.Clean(f.Name)), fieldSummary(f))
	}
	_ = table.Flush() // a strings.Builder takes everything
	for row := range strings.Lines(rows.String()) {
		fmt.Fprintln(b, textline.Shorten(strings.TrimRight(row, "\n"), width))
	}
}

// writeTools lists tools with their arguments, each on a line of that width.
func writeTools(w io.Writer, config string, tools []mcpgraph.Tool, width int) error {
	var b strings.Builder
	for _, t := range tools {
		name := t.Name
		if t.Private {
			name += " (private)"
		}
		fmt.Fprintln(&b, textline.Shorten(textline.Clean(name+"  "+firstLine(t.Description)), width))
		writeFieldRows(&b, schematext.Fields(t.InputSchema), width)
	}
	if len(tools) > 0 {
		fmt.Fprintf(&b, "\nCall one with: mcpgraph run %s %s%s\n", config, tools[0].Name, exampleArguments(tools[0].InputSchema))
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
func exampleArguments(schema value.Value) string {
	var b strings.Builder
	for _, f := range schematext.Fields(schema) {
		if f.Required {
			b.WriteString(" --arg " + shellWord(visible(f.Name)+"=…"))
		}
	}
	return b.String()
}
