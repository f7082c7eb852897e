package config

var toolSettings = []Setting{
	{Name: "name", Doc: "Name of the tool", Required: true},
	{Name: "title", Doc: "Name that clients show to people"},
	{Name: "description", Doc: "What the tool does; models choose tools by it"},
	{Name: "inputSchema", Doc: "JSON Schema (2020-12) of the arguments", Shape: ObjectSchemaShape, Required: true},
	{Name: "outputSchema", Doc: "JSON Schema (2020-12) of the result", Shape: AnySchemaShape},
	{Name: "annotations", Doc: "Hints for clients, passed on unchanged", Shape: MapShape, Fields: annotationSettings},
	{Name: "icons", Doc: "Icons for clients, passed on unchanged", Shape: ListShape, Fields: iconSettings},
	{Name: "requiredScopes", Doc: "Scopes that a caller over HTTP needs to call the tool", Shape: StringsShape},
	{Name: "private", Doc: "Hide the tool from clients: only call nodes can call it", Shape: BoolShape, Default: "false"},
	{Name: "task", Doc: "Whether calls go on as tasks (MCP 2026-07-28): of clients that know tasks (optional), or of no others (required); the default is optional where Temporal keeps runs", Default: `"forbidden"`, Values: []string{"forbidden", "optional", "required"}},
	{Name: "catch", Doc: "Where to go after a failure that no rule of the failed node handles", Shape: CatchShape},
	{Name: "nodes", Doc: "Nodes of the tool's graph", Shape: NodesShape},
}

// Tool annotations and icons (MCP 2025-11-25).
var (
	annotationSettings = []Setting{
		{Name: "title", Doc: "Name that clients show to people"},
		{Name: "readOnlyHint", Doc: "The tool does not change anything", Shape: BoolShape},
		{Name: "destructiveHint", Doc: "The tool may delete or overwrite data", Shape: BoolShape},
		{Name: "idempotentHint", Doc: "Calling the tool twice has the same effect as calling it once", Shape: BoolShape},
		{Name: "openWorldHint", Doc: "The tool interacts with systems outside of the server", Shape: BoolShape},
	}
	iconSettings = []Setting{
		{Name: "src", Doc: "URL of the image, or a data: URI", Required: true},
		{Name: "mimeType", Doc: "MIME type of the image"},
		{Name: "sizes", Doc: "Sizes of the image, such as 48x48", Shape: StringsShape},
		{Name: "theme", Doc: "Theme that the icon is for: light or dark"},
	}
)
