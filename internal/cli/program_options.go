package cli

import "github.com/spf13/cobra"

// programOptions are the options of commands that run a file for others.
type programOptions struct {
	config   string
	mcpFiles []string
	logLevel string
	observe  observeOptions
	temporal temporalOptions
	memory   memoryOption
	lock     lockOptions
}

func (o *programOptions) flags(a *app, cmd *cobra.Command) {
	mcpFlag(a, cmd, &o.mcpFiles)
	logFlag(cmd, &o.logLevel)
	o.observe.contentFlag(cmd)
	o.temporal.flags(cmd)
	o.memory.flag(cmd)
	o.lock.flags(cmd)
}
