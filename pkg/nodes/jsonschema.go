package nodes

import (
	"embed"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// reference has files that together use every key of the language once. The
// examples in the JSON Schema are taken from them.
//
//go:embed reference/*.yaml
var reference embed.FS

// JSONSchema returns the JSON Schema of configuration files with the nodes of
// All, with an example for each key.
func JSONSchema() value.Value {
	return graph.JSONSchema(All, References()...)
}

// References returns the contents of files that together use every key of the
// language: plain ones first.
func References() [][]byte {
	var sources [][]byte
	for _, name := range []string{"minimal", "server", "flat", "upstreams", "foreign", "offers"} {
		// The files are part of the program.
		source, err := reference.ReadFile("reference/" + name + ".yaml")
		if err != nil {
			panic(err)
		}
		sources = append(sources, source)
	}
	return sources
}
