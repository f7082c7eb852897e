package server

import (
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// literal is the tool as the library keeps it.
func (t Tool) literal() mcp.Tool {
	tool := mcp.Tool{
		Name:           t.Name,
		Title:          t.Title,
		Description:    t.Description,
		RawInputSchema: json.RawMessage(t.InputSchema.JSON()),
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

func (t Tool) render(withOutput bool) []byte {
	b := value.NewBuilder(7)
	b.Set("name", value.FromString(t.Name))
	if t.Title != "" {
		b.Set("title", value.FromString(t.Title))
	}
	if t.Description != "" {
		b.Set("description", value.FromString(t.Description))
	}
	b.Set("inputSchema", t.InputSchema)
	if withOutput {
		b.Set("outputSchema", t.OutputSchema)
	}
	b.Set("annotations", t.Annotations)
	b.Set("icons", t.Icons)
	return b.Value().Append(nil)
}
