// Command embed runs a graph inside a Go program: it loads a file, lists its
// tools, calls one, and prints each node as it finishes.
//
//	go run ./examples/embed examples/data
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
)

func main() {
	directory := "."
	if len(os.Args) > 1 {
		directory = os.Args[1]
	}
	if err := run(os.Stdout, filepath.Join("examples", "count_files.yaml"), directory); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(w io.Writer, config, directory string) error {
	// Load compiles the file and reports everything that is wrong with it. The
	// first call that needs an upstream server starts it.
	engine, err := mcpgraph.Load(config)
	if err != nil {
		return err
	}
	defer engine.Close()

	for _, tool := range engine.Tools() {
		fmt.Fprintf(w, "%s: %s\n", tool.Name, tool.Description)
	}

	// Hooks are called for each node as it runs. This one is called at its end.
	watch := executor.Hooks{
		NodeDone: func(_ context.Context, _ *executor.Run, r executor.Record) {
			fmt.Fprintf(w, "  %d %s (%s)\n", r.Index, r.Node, r.Kind)
		},
	}
	arguments := map[string]any{"directory": directory}
	result, err := engine.Call(context.Background(), "count_files", arguments, mcpgraph.WithCallHooks(watch))
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s after %d nodes\n", result.JSON(), len(result.History))
	return nil
}
