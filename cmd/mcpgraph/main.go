// Command mcpgraph serves, runs and checks graphs of MCP tools; see docs/cli.md. It does
// not link Temporal: for durable runs it becomes mcpgraph-temporal.
package main

import (
	"os"

	"github.com/mcpgraph/mcpgraph/internal/cli"
)

func main() {
	cli.Exit(cli.Main(cli.Program(os.Args[0], os.Args[1:]), os.Stdin, os.Stdout, os.Stderr, os.Environ(), nil))
}
