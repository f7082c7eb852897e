package server

import (
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Check says why the tool cannot be published: its input schema has x-mcp-header
// annotations that break the rules of revision 2026-07-28, or it has an output
// schema and yet gives content blocks.
func (t Tool) Check() error {
	if t.Blocks && !t.OutputSchema.IsUndefined() {
		return fmt.Errorf("tool %q: its exit node gives content blocks, and no structured content for its outputSchema; leave one of them out", t.Name)
	}
	literal := t.literal()
	if err := mcp.ValidateParamHeaderAnnotations(&literal); err != nil {
		return fmt.Errorf("tool %q: its input schema has unusable x-mcp-header annotations: %w", t.Name, err)
	}
	return nil
}

// literal is the tool as the library keeps it.
func (t Tool) literal() mcp.Tool {
	tool := mcp.Tool{
		Name:           t.Name,
		Title:          t.Title,
		Description:    t.Description,
		RawInputSchema: json.RawMessage(objectSchema(t.InputSchema).JSON()),
	}
	if !t.OutputSchema.IsUndefined() {
		tool.RawOutputSchema = json.RawMessage(t.OutputSchema.JSON())
	}
	return tool
}

// listedTool is a tool as tools/list sends it, rendered once. The library's own
// rendering sorts keys, escapes HTML and adds annotations that nobody wrote.
type listedTool struct {
	name   string
	legacy []byte // for revisions in which outputSchema must be of type object
	modern []byte // for revision 2026-07-28, which takes any schema
}

func newListedTool(t Tool) listedTool {
	return listedTool{
		name:   t.Name,
		legacy: t.render(t.OutputSchema.Get("type").Str() == "object"),
		modern: t.render(true),
	}
}

// appendTools appends the list of the tools, in the order of the file.
func appendTools(dst []byte, tools []listedTool, modern bool) []byte {
	dst = append(dst, '[')
	for i, t := range tools {
		if i > 0 {
			dst = append(dst, ',')
		}
		if modern {
			dst = append(dst, t.modern...)
		} else {
			dst = append(dst, t.legacy...)
		}
	}
	return append(dst, ']')
}

func (t Tool) render(withOutput bool) []byte {
	b := value.NewBuilder(7)
	b.Set("name", value.FromString(t.Name))
	if t.Title != "" {
		b.Set("title", value.FromString(t.Title))
	}
	if t.Description != "" {
		b.Set("description", value.FromString(t.Description))
	}
	b.Set("inputSchema", objectSchema(t.InputSchema))
	if withOutput {
		b.Set("outputSchema", t.OutputSchema)
	}
	b.Set("annotations", t.Annotations)
	b.Set("icons", t.Icons)
	return b.Value().Append(nil)
}

// objectSchema returns an input schema with the type that the protocol requires
// of it (MCP, "Tool": inputSchema.type is "object"). Where that is written it is
// the schema as it is. Where it is not, clients would refuse the whole list, and
// saying it changes nothing: arguments are always an object.
func objectSchema(schema value.Value) value.Value {
	if schema.Get("type").Str() == "object" {
		return schema
	}
	b := value.NewBuilder(schema.Len() + 1)
	b.Set("type", value.FromString("object"))
	if schema.Kind() == value.Bool && !schema.Bool() {
		b.Set("not", value.FromEntries(nil)) // false: nothing fits
	}
	for _, e := range schema.Entries() {
		if e.Key != "type" {
			b.Set(e.Key, e.Value)
		}
	}
	return b.Value()
}
