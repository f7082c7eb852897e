package cli

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mcpgraph/mcpgraph/internal/schematext"
	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// maxDescription is how much of a tool's description a page shows, in code points.
const maxDescription = 8000

// writeList writes a server with a line for each of its tools.
func (s upstreamServer) writeList(b *strings.Builder, width int) {
	s.writeHeading(b, width)
	column := 0
	for _, t := range s.tools {
		column = max(column, min(utf8.RuneCountInString(t.name), maxNameColumn))
	}
	marks := 0
	for _, t := range s.tools {
		marks = max(marks, len(t.mark()))
	}
	for _, t := range s.tools {
		line := fmt.Sprintf("  %-*s  ", column, visible(textline.Clean(t.name)))
		if marks > 0 {
			line += fmt.Sprintf("%-*s  ", marks, t.mark())
		}
		line += visible(textline.Clean(firstLine(t.description())))
		fmt.Fprintln(b, strings.TrimRight(textline.Shorten(line, width), " "))
	}
}

// maxNameColumn is how wide the column of names may get.
const maxNameColumn = 32

// writeHeading writes the server's name, and what it calls itself.
func (s upstreamServer) writeHeading(b *strings.Builder, width int) {
	about := strings.TrimSpace(s.Status.Name + " " + s.Status.Version)
	if about != "" {
		about += ", "
	}
	about += textline.Count(len(s.tools), "tool")
	if n := len(s.keptOut); n > 0 {
		about += fmt.Sprintf(" (%d more kept out by its entry)", n)
	}
	fmt.Fprintln(b, textline.Shorten(visible(textline.Clean(s.Entry.Name+"  "+about)), width))
}

// writeSummary writes a tool with its arguments, each on a line.
func (t upstreamTool) writeSummary(b *strings.Builder, width int) {
	line := t.name
	if mark := t.mark(); mark != "" {
		line += " (" + mark + ")"
	}
	line += "  " + firstLine(t.description())
	fmt.Fprintln(b, textline.Shorten(strings.TrimRight(visible(textline.Clean(line)), " "), width))
	writeFieldRows(b, schematext.Fields(t.input()), width)
}

// writePage writes everything that the server says of a tool, and how it is
// called.
func (t upstreamTool) writePage(b *strings.Builder, config, server string, width int) {
	title := t.listed.Get("title").Str()
	if title == "" {
		title = t.listed.Get("annotations").Get("title").Str()
	}
	heading := t.name + " of " + server
	if title != "" && title != t.name {
		heading += ": " + title
	}
	wrapText(b, heading, "", width)
	if text := strings.TrimSpace(t.description()); text != "" {
		b.WriteByte('\n')
		wrapText(b, textline.Shorten(text, maxDescription), "  ", width)
	}
	b.WriteByte('\n')
	wrapText(b, t.hints(), "", width)
	if fields := schematext.Fields(t.input()); len(fields) > 0 {
		b.WriteString("\nArguments:\n")
		writeFields(b, fields, "  ", width)
	} else if kind := schematext.Type(t.input(), t.input()); kind != "object" && kind != "any" {
		wrapText(b, "\nArguments: "+kind, "", width)
	} else {
		b.WriteString("\nIt describes no arguments.\n")
	}
	switch fields := schematext.Fields(t.output()); {
	case len(fields) > 0:
		b.WriteString("\nOutput:\n")
		writeFields(b, fields, "  ", width)
	case t.output().IsUndefined():
		b.WriteString("\nIt describes no output. A node takes its text, or the JSON in it.\n")
	default:
		wrapText(b, "\nOutput: "+schematext.Type(t.output(), t.output()), "", width)
	}
	fmt.Fprintf(b, "\nCall it with: mcpgraph call %s %s %s%s\n",
		shellWord(config), shellWord(server), shellWord(t.name), exampleArguments(t.input()))
}

// writeFields writes each field on a line, its description below, and then the
// fields of its value.
func writeFields(b *strings.Builder, fields []schematext.Field, indent string, width int) {
	for _, f := range fields {
		head := f.Name + ": " + fieldType(f)
		if f.Required {
			head += ", required"
		}
		wrapText(b, textline.Shorten(visible(textline.Clean(head)), maxFieldHead), indent, width)
		if f.Description != "" {
			wrapText(b, textline.Shorten(f.Description, maxDescription), indent+"    ", width)
		}
		writeFields(b, f.Fields, indent+"  ", width)
	}
}

// maxFieldHead is how much of a field's type is shown, in code points.
const maxFieldHead = 600

// wrapText writes the lines of a text, indented and wrapped to a width. Characters
// that would command the terminal are left out.
func wrapText(b *strings.Builder, text, indent string, width int) {
	room := max(width-utf8.RuneCountInString(indent), minWrap)
	for line := range strings.Lines(text) {
		line = visible(strings.TrimRight(strings.ReplaceAll(line, "\t", "    "), " \r\n"))
		rest := strings.TrimLeft(line, " ")
		hanging := indent + line[:min(len(line)-len(rest), room/2)]
		if rest == "" {
			b.WriteByte('\n')
			continue
		}
		for wrapped := range strings.Lines(wrap(rest, max(width-utf8.RuneCountInString(hanging), minWrap))) {
			b.WriteString(hanging + wrapped)
		}
		b.WriteByte('\n')
	}
}

// minWrap is the least width that text is wrapped to.
const minWrap = 20

// toolsDocument returns what servers answered, as JSON.
func toolsDocument(servers []upstreamServer) value.Value {
	list := make([]value.Value, len(servers))
	for i, s := range servers {
		if s.Err != nil {
			list[i] = value.ObjectOf("server", value.FromString(s.Entry.Name), "error", value.FromString(s.Err.Error()))
			continue
		}
		tools := make([]value.Value, len(s.tools))
		for j, t := range s.tools {
			tools[j] = renamed(t.listed, t.name)
		}
		list[i] = value.ObjectOf(
			"server", value.FromString(s.Entry.Name), "name", value.FromString(s.Status.Name),
			"version", value.FromString(s.Status.Version), "protocol", value.FromString(s.Status.Protocol),
			"tools", value.FromArray(tools))
	}
	return value.ObjectOf("servers", value.FromArray(list))
}

// renamed returns a tool's description with the name that nodes use.
func renamed(listed value.Value, name string) value.Value {
	b := value.NewBuilder(listed.Len())
	for _, e := range listed.Entries() {
		if e.Key == "name" {
			e.Value = value.FromString(name)
		}
		b.Set(e.Key, e.Value)
	}
	return b.Value()
}
