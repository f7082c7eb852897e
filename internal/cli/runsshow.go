package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph/pkg/durable"
)

func (a *app) runsShowCommand() *cobra.Command {
	var o runsOptions
	cmd := &cobra.Command{
		Use: "show RUN", Short: "Show the history of a run, its calls under way and its questions",
		Long: `Show a durable run: the executions that are over, the calls under way, what it
asks, and its result. Of a run under way this needs a worker.

--json prints the records of the run, a line of JSON each, as mcpgraph keeps them.`,
		Example: "  mcpgraph runs show 4NCQ2K7ZB5XHM3TA",
		Args:    configArgs("RUN"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.withClient(o, func(ctx context.Context, c *durable.Client) error { return a.showRun(ctx, c, args[0], o.json) })
		},
	}
	o.temporal.flags(cmd)
	cmd.Flags().BoolVar(&o.json, "json", false, "print the records as JSON")
	return cmd
}

func (a *app) showRun(ctx context.Context, c *durable.Client, id string, asJSON bool) error {
	s, err := c.Summarize(ctx, id)
	if err != nil {
		return err
	}
	if !asJSON {
		fmt.Fprintf(a.stdout, "run %s of tool %s: %s, began %s\n", visible(id), visible(s.Tool), statusOf(s), s.Began.UTC().Format(time.RFC3339))
		if s.Parent != "" {
			fmt.Fprintf(a.stdout, "parent: %s\n", visible(s.Parent))
		}
	}
	show := a.recordWriter(asJSON)
	if s.Ended.IsZero() {
		for from := 0; ; {
			var list []json.RawMessage
			next := from
			err := a.answered(ctx, func() (err error) {
				list, next, _, err = c.Records(ctx, id, from)
				return err
			})
			if err != nil {
				return err
			}
			for _, text := range list {
				show(text)
			}
			if from = next; len(list) == 0 {
				break
			}
		}
		if asJSON {
			return nil
		}
		var d *durable.Description
		err := a.answered(ctx, func() (err error) {
			d, err = c.Describe(ctx, id)
			return err
		})
		if err != nil {
			return err
		}
		a.showNow(d)
		return nil
	}
	out, err := c.Result(ctx, id)
	if err != nil {
		return err
	}
	var list []json.RawMessage
	err = a.answered(ctx, func() (err error) {
		list, err = c.All(ctx, id, out)
		return err
	})
	if err != nil {
		return err
	}
	for _, text := range list {
		show(text)
	}
	if !asJSON {
		a.showOutcome(out)
	}
	return nil
}

func (a *app) showOutcome(out *durable.Outcome) {
	if err := out.Err(); err != nil {
		fmt.Fprintf(a.stdout, "failed: %s\n", visible(err.Error()))
		return
	}
	fmt.Fprintf(a.stdout, "result: %s\n", visible(out.Value.JSON()))
}

// maxShownChildren is how many children are shown of a run.
const maxShownChildren = 20

// showNow shows what a run under way does.
func (a *app) showNow(d *durable.Description) {
	for _, call := range d.Calls {
		line := "calling: " + call.ID
		switch {
		case call.Worker != "":
			line += " on " + call.Worker
		case call.Server != "":
			line += fmt.Sprintf(" waits for a worker of server %q, for %s", call.Server, duration(time.Since(call.Scheduled)))
		}
		if call.Unserved {
			line += "; there is none: start one with mcpgraph worker --servers " + call.Server
		}
		if len(call.Progress) > 0 {
			line += " " + string(call.Progress)
		}
		fmt.Fprintln(a.stdout, visible(line))
	}
	for i, child := range d.Children {
		if i == maxShownChildren {
			fmt.Fprintf(a.stdout, "waits for: %d more runs\n", len(d.Children)-i)
			break
		}
		fmt.Fprintln(a.stdout, visible(fmt.Sprintf("waits for: run %s of tool %s (%s)", child.ID, child.Tool, child.Path)))
	}
	for _, q := range d.Questions {
		fmt.Fprintln(a.stdout, visible(fmt.Sprintf("asks: %s (%s): %s", q.ID, q.Path, messageOf(q))))
	}
	if d.Problem != "" {
		fmt.Fprintln(a.stdout, "problem: "+d.Problem)
	}
}
