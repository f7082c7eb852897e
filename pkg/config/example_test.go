package config_test

import (
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

func ExampleParse() {
	file, found := config.Parse("tools.yaml", []byte(`
version: "1.0"
server: {name: demo, version: "1"}
mcpServers:
  notes: {url: "https://notes.example.com/mcp", timeoutMs: 5000}
tools: []
`), config.Options{})
	for _, d := range found {
		fmt.Println(d.Error())
	}
	for _, u := range file.Upstreams {
		fmt.Println(u.Name, u.Transport, u.Timeout)
	}
	// Output: notes http 5s
}
