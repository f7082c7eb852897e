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
// files of a directory, and its test. test is the name of the test file.
func Example(test string) Files {
	return Files{
		Config: []byte(exampleConfig), Test: []byte(strings.Replace(exampleTest, "test FILE", "test "+comment(test), 1)),
		Tool: "count_files", Arguments: object("directory", value.FromString(".")),
	}
}
