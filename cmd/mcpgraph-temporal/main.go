// Command mcpgraph-temporal is mcpgraph with durable runs, which Temporal keeps. The
// command mcpgraph starts it where it is needed; see docs/durable.md.
package main

import (
	"os"

	"github.com/mcpgraph/mcpgraph/internal/cli"
	"github.com/mcpgraph/mcpgraph/internal/temporal"
)

func main() {
	cli.Exit(cli.Main(cli.Program(os.Args[0], os.Args[1:]), os.Stdin, os.Stdout, os.Stderr, os.Environ(), temporal.Dial))
}
