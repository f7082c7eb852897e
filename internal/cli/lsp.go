package cli

import (
	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/lsp"
)

func lspCommand(a *app) *cobra.Command {
	var mcpFiles []string
	var limit memoryOption
	cmd := &cobra.Command{
		Use:   "lsp",
		Short: "Run the language server for editors",
		Long: `Run a language server (LSP 3.17) on stdin and stdout, for configuration files and
for test files (*.test.yaml). Editors start it; docs/editors.md has the settings.

It shows the problems that validate finds while you type, completes keys, nodes,
servers, tools and expressions, and shows what they are. It finds and renames nodes
in expressions and tests, formats files, and applies hints. It never starts or
connects to a server, and variables that are not set are no problem.

It ends when the editor says so or stdin ends.`,
		Example: `  mcpgraph lsp
  mcpgraph lsp --mcp ~/.cursor/mcp.json`,
		Args: configArgs(),
		RunE: func(*cobra.Command, []string) error {
			if err := a.needsFiles("lsp", ""); err != nil {
				return err
			}
			ctx, stop := a.whileServing(stopSignals...)
			defer stop()
			log, err := a.logger("error")
			if err != nil {
				return err
			}
			err = lsp.Serve(ctx, a.stdin, a.stdout, lsp.Options{
				Version: mcpgraph.Version(), MCPFiles: mcpFiles, Getenv: a.getenv, Inputs: a.inputs,
				Memory: limit.budget(log),
			})
			return failed(err)
		},
	}
	mcpFlag(a, cmd, &mcpFiles)
	limit.flag(cmd)
	return cmd
}
