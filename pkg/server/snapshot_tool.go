package server

import (
	"encoding/json"
	"fmt"
	"slices"

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
// must have the type object. Clients before 2025-11-25 drop its definitions.
func (t Tool) listed(call CallFunc) listed {
	return listed{
		offer: &offer{
			target: t.Name, label: fmt.Sprintf("tool %q", jsonrpc.Clip(t.Name)), scopes: t.RequiredScopes,
			call: call, verbatim: t.Blocks, task: t.Task,
		},
		key:    t.Name,
		oldest: t.renderOldest(),
		legacy: t.render(t.legacyOutput()),
		modern: t.render(t.OutputSchema),
	}
}

// legacyOutput returns the output schema where it has the type object, or undefined.
func (t Tool) legacyOutput() value.Value {
	if t.OutputSchema.Get("type").Str() != "object" {
		return value.Undef
	}
	return t.OutputSchema
}

// renderOldest encodes the tool for revisions before 2025-11-25, or returns nil if that
// is the same.
func (t Tool) renderOldest() []byte {
	output := t.legacyOutput()
	if output.IsUndefined() {
		return nil
	}
	plain, ok := inlined(output)
	if plain.Get("additionalProperties").Kind() == value.Object {
		// They take a boolean only. Without it more is allowed, and the server checks results.
		plain = value.FromEntries(slices.DeleteFunc(slices.Clone(plain.Entries()), func(e value.Entry) bool {
			return e.Key == "additionalProperties"
		}))
	}
	if !ok {
		plain = value.Undef // without it results are not checked
	}
	if ok && value.Equal(plain, output) {
		return nil
	}
	return t.render(plain)
}

func (t Tool) render(output value.Value) []byte {
	b := value.NewBuilder(7)
	b.Set("name", value.FromString(t.Name))
	setText(b, "title", t.Title)
	setText(b, "description", t.Description)
	b.Set("inputSchema", readable(objectSchema(t.InputSchema)))
	b.Set("outputSchema", readable(output))
	b.Set("annotations", t.Annotations)
	b.Set("icons", t.Icons)
	return b.Value().Append(nil)
}

// objectSchema returns an input schema with "type": "object", which the
// protocol requires (MCP, Tool), and with "properties", which strict callers of
// functions require. Without them clients would refuse the whole list. Adding them
// changes nothing: arguments are always an object.
func objectSchema(schema value.Value) value.Value {
	typed, listed := schema.Get("type").Str() == "object", schema.Has("properties")
	if typed && listed {
		return schema
	}
	b := value.NewBuilder(schema.Len() + 2)
	b.Set("type", value.FromString("object"))
	if schema.Kind() == value.Bool && !schema.Bool() {
		b.Set("not", value.FromEntries(nil)) // false accepts nothing
	}
	for _, e := range schema.Entries() {
		if e.Key != "type" {
			b.Set(e.Key, e.Value)
		}
	}
	if !listed {
		b.Set("properties", value.FromEntries(nil))
	}
	return b.Value()
}
