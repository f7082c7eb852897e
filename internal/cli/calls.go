package cli

import (
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph"
)

// callOptions are the flags for concurrent calls. They override the file.
type callOptions []mcpgraph.Option

func (o *callOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Func("max-concurrent-calls",
		"run at most `N` tool calls at the same time; overrides the file; 0 means no limit",
		o.take(mcpgraph.WithMaxConcurrentCalls))
	f.Func("max-concurrent-calls-per-caller",
		"run at most `N` tool calls of each caller at the same time; overrides the file; 0 means no limit",
		o.take(mcpgraph.WithMaxConcurrentCallsPerCaller))
}

func (o *callOptions) take(option func(int) mcpgraph.Option) func(string) error {
	return func(text string) error {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return errors.New("expected 0 or a positive whole number")
		}
		*o = append(*o, option(int(n)))
		return nil
	}
}
