package toolkit

import (
	"context"

	"github.com/mcpgraph/mcpgraph/internal/drawing"
	"github.com/mcpgraph/mcpgraph/internal/graphedit"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const anyObject = `{"type":"object"}`

func lookTools() []*tool {
	return []*tool{
		{core: true, handle: getGraphServer, Tool: define("getGraphServer", "The server of the file: its name, and the revision of the file.", reads, ``, ``,
			`{"type":"object","properties":{"name":{"type":"string"},"version":{"type":"string"},"title":{"type":"string"},"instructions":{"type":"string"},"file":{"type":"string"},"revision":{"type":"string"},"errors":{"type":"integer"}},"required":["name","version"]}`)},
		{core: true, handle: listGraphTools, Tool: define("listGraphTools", "The graph tools of the file, and its prompts/NAME and resources/NAME, which all tools here take for a tool.", reads, ``, ``, listOf(`"name":{"type":"string"},"description":{"type":"string"}`))},
		{core: true, handle: getGraphTool, Tool: define("getGraphTool", "The whole definition of a graph tool.", reads,
			`"toolName":{"type":"string"}`, `"toolName"`, anyObject)},
		{handle: getGraphPicture, Tool: define("getGraphPicture", "A graph tool as a Mermaid flowchart.", reads,
			`"toolName":{"type":"string"}`, `"toolName"`, `{"type":"object","properties":{"mermaid":{"type":"string"}},"required":["mermaid"]}`)},
	}
}

// listOf is the schema of a list of objects with these properties.
func listOf(properties string) string {
	return `{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{` + properties + `}}}},"required":["items"]}`
}

func getGraphServer(ctx context.Context, c *call) (value.Value, error) {
	s, err := c.file.now(ctx)
	if err != nil {
		return value.Undef, err
	}
	info := s.doc.Value().Get("server")
	text := func(key string) value.Value { return optional(info.Get(key).Str()) }
	instructions := text("instructions")
	if instructions.IsUndefined() {
		instructions = text("description")
	}
	errors := value.Undef
	if s.broken != nil {
		errors = value.FromInt(int64(count(s.broken.Diagnostics)))
	}
	return value.ObjectOf("name", info.Get("name").Str(), "version", info.Get("version").Str(), "title", text("title"),
		"instructions", instructions, "file", c.opts.Path, "revision", string(s.revision), "errors", errors), nil
}

func listGraphTools(ctx context.Context, c *call) (value.Value, error) {
	s, err := c.file.now(ctx)
	if err != nil {
		return value.Undef, err
	}
	items := []value.Value{}
	for _, of := range []struct{ key, prefix string }{{"tools", ""}, {"prompts", config.Prompts}, {"resources", config.Resources}} {
		for _, t := range s.doc.Value().Get(of.key).Elems() {
			items = append(items, value.ObjectOf("name", of.prefix+t.Get("name").Str(), "description", t.Get("description").Str()))
		}
	}
	return value.ObjectOf("items", items), nil
}

func getGraphTool(ctx context.Context, c *call) (value.Value, error) {
	c.file.lock.Lock()
	defer c.file.lock.Unlock()
	s, err := c.file.read(ctx)
	if err != nil {
		return value.Undef, err
	}
	definition, err := graphedit.Tool(s.doc.Value(), c.text("toolName"))
	if err == nil {
		sessionOf(c).note(c.text("toolName"), definition)
	}
	return definition, err
}

func getGraphPicture(ctx context.Context, c *call) (value.Value, error) {
	p, release, err := c.file.use(ctx)
	if err != nil {
		return value.Undef, err
	}
	defer release()
	g, err := p.Graph(c.text("toolName"))
	if err != nil {
		return value.Undef, err
	}
	return value.ObjectOf("mermaid", string(drawing.Mermaid([]*graph.Graph{g}))), nil
}
