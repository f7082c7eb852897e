package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph/pkg/durable"
)

func (a *app) runsWatchCommand() *cobra.Command {
	var o runsOptions
	cmd := &cobra.Command{
		Use: "watch RUN", Short: "Show what happens in a run until it has ended",
		Long: `Show what happens in a run, and its questions, until it has ended. The exit code is
1 if the run failed.`,
		Example: "  mcpgraph runs watch 4NCQ2K7ZB5XHM3TA",
		Args:    configArgs("RUN"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.withClient(o, func(ctx context.Context, c *durable.Client) error { return a.watchRun(ctx, c, args[0], o.json) })
		},
	}
	o.temporal.flags(cmd)
	cmd.Flags().BoolVar(&o.json, "json", false, "print the records as JSON")
	return cmd
}

func (a *app) watchRun(ctx context.Context, c *durable.Client, id string, asJSON bool) error {
	show, asked, again := a.recordWriter(asJSON), map[string]bool{}, false
	out, err := c.Watch(ctx, id, func(list []json.RawMessage) error {
		for _, text := range list {
			show(text)
		}
		if asJSON || len(list) == 0 && !again {
			return nil
		}
		d, err := c.Describe(ctx, id)
		// What children ask changes no record of the run. An error that lasts ends the
		// wait for records.
		if again = err != nil || len(d.Children) > 0; err != nil {
			return nil
		}
		for _, q := range d.Questions {
			if !asked[q.ID] {
				asked[q.ID] = true
				fmt.Fprintln(a.stdout, visible(fmt.Sprintf("asks: %s (%s): %s", q.ID, q.Path, messageOf(q))))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !asJSON {
		a.showOutcome(out)
	}
	if out.Err() != nil {
		return &exitError{code: exitProblems}
	}
	return nil
}
