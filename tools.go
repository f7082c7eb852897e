package mcpgraph

import (
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Tool is one tool of a file.
type Tool struct {
	Name         string
	Title        string
	Description  string
	InputSchema  value.Value // a JSON Schema
	OutputSchema value.Value // a JSON Schema; undefined where there is none
	Annotations  value.Value // undefined where there are none
	Icons        value.Value // undefined where there are none
	// Blocks reports that results are lists of MCP content blocks.
	Blocks bool
	// RequiredScopes are what a caller over HTTP has to have been granted.
	RequiredScopes []string
	// Private is true for a tool that clients do not see: graphs call it, and Call.
	Private bool
}

// Tools returns all tools in the order of the file, also those that clients do not
// see.
func (e *Engine) Tools() []Tool {
	p := e.engine.Current()
	all := p.Tools()
	tools := make([]Tool, len(all))
	for i, t := range all {
		tools[i] = Tool{
			Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.InputSchema, OutputSchema: t.OutputSchema,
			Annotations: t.Annotations, Icons: t.Icons, Blocks: t.Blocks, RequiredScopes: t.RequiredScopes,
			Private: p.Set().Graphs[i].Private,
		}
	}
	return tools
}

// Offers returns the prompts, resources and resource templates in the order of the
// file, described like tools. Call runs one by its Name, such as prompts/review or
// resources/today: the result is that of prompts/get, or the contents of a resource.
func (e *Engine) Offers() []Tool {
	var offers []Tool
	for _, g := range e.engine.Current().Offers() {
		schema, _ := value.ParseLazy(g.Input.Raw())
		offers = append(offers, Tool{
			Name: g.Name, Title: g.Title, Description: g.Description, InputSchema: schema,
			Annotations: g.Offer.Annotations, Icons: g.Icons, RequiredScopes: g.RequiredScopes,
		})
	}
	return offers
}

// Graphs returns the compiled tools, prompts and resources in the order of the file.
// They are immutable.
func (e *Engine) Graphs() []*graph.Graph { return e.engine.Current().Set().Graphs }

// Graph returns the compiled tool, prompt or resource with this name. The error is a
// *server.UnknownToolError.
func (e *Engine) Graph(tool string) (*graph.Graph, error) { return e.engine.Current().Graph(tool) }

// File returns the file as it was read. It is immutable.
func (e *Engine) File() *config.File { return e.engine.Current().Set().File }

// Diagnostics returns what was found in the file, which is nothing worse than
// warnings, and in comparison with its lock file, where an error says that calls
// fail. With it come the texts to show.
func (e *Engine) Diagnostics() ([]diag.Diagnostic, diag.Sources) {
	return e.engine.Current().Diagnostics()
}
