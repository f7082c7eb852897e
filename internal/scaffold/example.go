package scaffold

import (
	_ "embed"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

var (
	//go:embed example.yaml
	exampleConfig string
	//go:embed example.test.yaml
	exampleTest string
)

// Example returns the example that the README begins with: a tool that counts the
// files of a directory, and its test.
func Example(target Target) Files {
	test := strings.Replace(exampleTest, "test FILE", "test "+comment(target.Test), 1)
	return Files{
		Config: []byte(schemaLine(target.ConfigSchema) + exampleConfig), Test: []byte(schemaLine(target.TestSchema) + test),
		Tool: "count_files", Arguments: value.ObjectOf("directory", value.FromString(".")),
	}
}
