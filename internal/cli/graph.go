package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/drawing"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

var graphFormats = []string{"mermaid", "dot", "json"}

func graphCommand(a *app) *cobra.Command {
	var format string
	var mcpFiles []string
	cmd := &cobra.Command{
		Use:   "graph CONFIG [TOOL]",
		Short: "Draw the graph of one tool or of all",
		Long: `Draw the graph of one tool, or of all tools of a file, as Mermaid, Graphviz (dot)
or JSON.`,
		Example: `  mcpgraph graph tools.yaml count_files
  mcpgraph graph tools.yaml count_files --format dot | dot -Tsvg > a.svg
  mcpgraph graph tools.yaml --format json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				return nil
			}
			return configArgs("CONFIG")(cmd, args)
		},
		ValidArgsFunction: completeTool(a, &mcpFiles),
		RunE: func(_ *cobra.Command, args []string) (err error) {
			draw, ok := map[string]func([]*graph.Graph) []byte{
				"mermaid": drawing.Mermaid, "dot": drawing.Dot, "json": drawing.JSON,
			}[format]
			if !ok {
				return usagef("--format is %q; expected %s", format, diag.List(graphFormats))
			}
			engine, err := a.loadOnce(context.Background(), args[0], mcpgraph.WithMCPFiles(mcpFiles...))
			if err != nil {
				return err
			}
			defer closeEngine(engine, &err)
			graphs := engine.Graphs()
			if len(args) == 2 {
				g, err := engine.Graph(args[1])
				if err != nil {
					return &exitError{exitUsage, err}
				}
				graphs = []*graph.Graph{g}
			}
			return failed(writeAll(a.stdout, draw(graphs)))
		},
	}
	cmd.Flags().StringVar(&format, "format", "mermaid", "draw as `FORMAT`: mermaid, dot or json")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(graphFormats, cobra.ShellCompDirectiveNoFileComp))
	mcpFlag(a, cmd, &mcpFiles)
	return cmd
}

func writeAll(w io.Writer, b []byte) error {
	_, err := w.Write(b)
	return err
}
