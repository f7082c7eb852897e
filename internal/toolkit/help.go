package toolkit

import (
	"context"

	"github.com/mcpgraph/mcpgraph/pkg/nodes"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
	"github.com/mcpgraph/mcpgraph/skills"
)

func helpTools() []*tool {
	return []*tool{
		{handle: help, Tool: define("help", "How to write graph tools, by topic; without one, an overview and the topics.", reads,
			`"topic":{"type":"string"}`, ``, `{"type":"object","properties":{"text":{"type":"string"},"topics":{"type":"array","items":{"type":"string"}}},"required":["text","topics"]}`)},
	}
}

func help(_ context.Context, c *call) (value.Value, error) {
	topics := skills.Topics()
	topic := c.text("topic")
	if topic == "" {
		topic = skills.Overview
	}
	text, ok := skills.Topic(topic)
	if !ok {
		return value.Undef, missing("topic", topic, topics)
	}
	var names []value.Value
	for _, name := range topics {
		names = append(names, value.FromString(name))
	}
	return value.ObjectOf("text", text, "topics", names), nil
}

// helpResources are the file, its JSON Schema, the topics of help and the runs.
func helpResources(t *Toolkit) []server.Resource {
	const docs = "mcpgraph://docs/"
	return []server.Resource{
		{
			URI: "mcpgraph://file", Name: "file", Description: "The configuration file, without secrets", MIMEType: "application/yaml",
			Read: server.ReadText("application/yaml", func(ctx context.Context, _ *server.Request) (string, bool) { return t.file.shown(ctx) }),
		},
		{
			URI: "mcpgraph://schema", Name: "schema", Description: "The JSON Schema of configuration files", MIMEType: "application/schema+json", Instant: true,
			Read: server.ReadText("application/schema+json", func(context.Context, *server.Request) (string, bool) { return nodes.JSONSchema().JSON(), true }),
		},
		{
			URI: docs + "{topic}", Template: true, Name: "docs", Description: "How to write graph tools, by topic of help", MIMEType: "text/markdown", Instant: true,
			Read: server.ReadText("text/markdown", func(_ context.Context, r *server.Request) (string, bool) {
				return skills.Topic(r.Args.Get("topic").Str())
			}),
		},
		{
			URI: runs.URI, Name: "runs", Description: "The runs of this session that are kept", MIMEType: "application/json", Instant: true,
			Read: server.ReadText("application/json", func(_ context.Context, r *server.Request) (string, bool) {
				return t.runs.Index(r.Caller), true
			}),
		},
		{
			URI: runs.URI + "/{id}", Template: true, Name: "run", Description: "One run with its history", MIMEType: "application/json", Instant: true,
			Read: server.ReadText("application/json", func(_ context.Context, r *server.Request) (string, bool) {
				one, ok := t.runs.Get(r.Caller, r.Args.Get("id").Str())
				if !ok {
					return "", false
				}
				text, err := one.JSON(nil)
				return text, err == nil
			}),
		},
	}
}
