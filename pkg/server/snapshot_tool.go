package server

import (
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Check returns an error if the tool cannot be published: its input schema has
// x-mcp-header annotations that break the rules of revision 2026-07-28, or it
// has an output schema although it returns content blocks.
func (t Tool) Check() error {
	if t.Blocks && !t.OutputSchema.IsUndefined() {
		return fmt.Errorf("tool %q: its exit node returns content blocks, which outputSchema cannot describe; remove outputSchema, or return structured content", t.Name)
	}
	literal := t.literal()
	if err := mcp.ValidateParamHeaderAnnotations(&literal); err != nil {
		return fmt.Errorf("tool %q: invalid x-mcp-header annotations in inputSchema: %w", t.Name, err)
	}
	return nil
}

// literal returns the tool as the MCP library represents it.
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

// listed encodes the tool once. The library's encoding would sort keys, escape HTML
// and add annotations that nobody wrote. Before revision 2026-07-28 an outputSchema
// must have the type object.
func (t Tool) listed(call CallFunc) listed {
	return listed{
		offer: &offer{
			target: t.Name, label: fmt.Sprintf("tool %q", jsonrpc.Clip(t.Name)), scopes: t.RequiredScopes,
			call: call, verbatim: t.Blocks, task: t.Task,
		},
		key:    t.Name,
		legacy: t.render(t.OutputSchema.Get("type").Str() == "object"),
		modern: t.render(true),
	}
}

func (t Tool) render(withOutput bool) []byte {
	b := value.NewBuilder(7)
	b.Set("name", value.FromString(t.Name))
	setText(b, "title", t.Title)
	setText(b, "description", t.Description)
	b.Set("inputSchema", objectSchema(t.InputSchema))
	if withOutput {
		b.Set("outputSchema", t.OutputSchema)
	}
	b.Set("annotations", t.Annotations)
	b.Set("icons", t.Icons)
	return b.Value().Append(nil)
}

// objectSchema returns an input schema with "type": "object", which the
// protocol requires (MCP, Tool). Without it clients would refuse the whole
// list. Adding it changes nothing: arguments are always an object.
func objectSchema(schema value.Value) value.Value {
	if schema.Get("type").Str() == "object" {
		return schema
	}
	b := value.NewBuilder(schema.Len() + 1)
	b.Set("type", value.FromString("object"))
	if schema.Kind() == value.Bool && !schema.Bool() {
		b.Set("not", value.FromEntries(nil)) // false accepts nothing
	}
	for _, e := range schema.Entries() {
		if e.Key != "type" {
			b.Set(e.Key, e.Value)
		}
	}
	return b.Value()
}
