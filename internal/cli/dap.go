package cli

import (
	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph/internal/dap"
)

func dapCommand(a *app) *cobra.Command {
	var mcpFiles []string
	var limit memoryOption
	cmd := &cobra.Command{
		Use:   "dap",
		Short: "Run the debug adapter for editors",
		Long: `Run a debug adapter (Debug Adapter Protocol) on stdin and stdout. Editors start it
to debug a tool: breakpoints stand at lines of the configuration file, and steps go
from node to node. docs/debugging.md has the settings of editors.

The editor names the file (program), the tool and its arguments (args) in the request
launch. The tools of upstream servers are really called.

It ends when the editor disconnects or stdin ends; the run is stopped then.`,
		Example: `  mcpgraph dap
  mcpgraph dap --mcp ~/.cursor/mcp.json`,
		Args: configArgs(),
		RunE: func(*cobra.Command, []string) error {
			if err := a.needsFiles("dap", ""); err != nil {
				return err
			}
			log, err := a.logger("warn")
			if err != nil {
				return err
			}
			ctx, stop := a.whileServing(stopSignals...)
			defer stop()
			err = dap.Serve(ctx, a.stdin, a.stdout, dap.Options{MCPFiles: mcpFiles, Getenv: a.getenv, Inputs: a.inputs, Memory: limit.budget(log)})
			return failed(err)
		},
	}
	mcpFlag(a, cmd, &mcpFiles)
	limit.flag(cmd)
	return cmd
}
