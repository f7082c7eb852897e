package cli

import (
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph"
)

// callOptions are what the flags about calls at the same time say in the place
// of the file.
type callOptions []mcpgraph.Option

func (o *callOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Func("max-concurrent-calls",
		"let `N` calls of tools run at the same time, whatever the file says; 0 lets any number",
		o.take(mcpgraph.WithMaxConcurrentCalls))
	f.Func("max-concurrent-calls-per-caller",
		"let each caller have `N` calls of tools running at the same time, whatever the file says; 0 lets any number",
		o.take(mcpgraph.WithMaxConcurrentCallsPerCaller))
}

func (o *callOptions) take(option func(int) mcpgraph.Option) func(string) error {
	return func(text string) error {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return errors.New("expected a whole number, 0 or more")
		}
		*o = append(*o, option(int(n)))
		return nil
	}
}
