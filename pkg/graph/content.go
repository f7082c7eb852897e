package graph

import (
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// blockFields are the texts that a block of each type must have (MCP 2025-11-25,
// Tools, Tool Result). Clients refuse a whole result for one that lacks.
var blockFields = map[string][]string{
	"text": {"text"}, "image": {"data", "mimeType"}, "audio": {"data", "mimeType"},
	"resource_link": {"uri", "name"}, "resource": nil,
}

// CheckContent returns an error if a value is no content block of MCP: text, image,
// audio, resource or resource_link.
func CheckContent(block value.Value) error {
	kind := block.Get("type").Str()
	fields, known := blockFields[kind]
	switch {
	case block.Kind() != value.Object:
		return fmt.Errorf("expected an object, found %s", Describe(block))
	case !known:
		return fmt.Errorf("its type is %s; expected \"text\", \"image\", \"audio\", \"resource_link\" or \"resource\"", Describe(block.Get("type")))
	case kind == "resource":
		block, fields = block.Get("resource"), []string{"uri"}
		if !block.Has("text") && !block.Has("blob") {
			return fmt.Errorf("its resource has neither text nor blob")
		}
	}
	for _, name := range fields {
		if block.Get(name).Kind() != value.String {
			return fmt.Errorf("the %s of a block of type %q must be a string, found %s", name, kind, Describe(block.Get(name)))
		}
	}
	return nil
}
