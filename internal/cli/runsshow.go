package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func runsShowCommand(a *app) *cobra.Command {
	var o runsOptions
	cmd := &cobra.Command{
		Use: "show RUN", Short: "Show the history of a run, its calls under way and its questions",
		Long: `Show a run: the executions that are over, what it waits for, the calls under way, what
it asks, and its result. Of a durable run under way this needs a worker.

--json prints one object: the line of runs list --json, its arguments, its questions,
what it does now, its result or failure, its executions (history) as clients read them, and
its records as mcpgraph keeps them.`,
		Example: "  mcpgraph runs show 4NCQ2K7ZB5XHM3TA",
		Args:    configArgs("RUN"),
		RunE: func(_ *cobra.Command, args []string) error {
			return withView(a, o, func(ctx context.Context, p runs.View) error { return showRun(ctx, a, p, args[0], o.json) })
		},
	}
	o.flags(cmd)
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON object")
	return cmd
}

func showRun(ctx context.Context, a *app, p runs.View, id string, asJSON bool) error {
	var s *runs.State
	err := reportAnswered(ctx, a, func() (err error) {
		s, err = p.Look(ctx, operator, id, runs.Whole)
		return err
	})
	if err != nil && s == nil {
		return err
	}
	if !asJSON {
		fmt.Fprintf(a.stdout, "run %s of tool %s: %s, began %s\n", visible(id), visible(s.Tool), s.Status, s.Began.UTC().Format(time.RFC3339))
		if s.Caller != "" {
			fmt.Fprintf(a.stdout, "caller: %s\n", visible(s.Caller))
		}
		if s.Parent != "" {
			fmt.Fprintf(a.stdout, "parent: %s\n", visible(s.Parent))
		}
	}
	if err != nil {
		return err
	}
	redact := upstream.Redactor(s.Secrets)
	var records []value.Value
	show, next := recordWriter(a, false, func() func(string) string { return redact }), 0
	err = reportAnswered(ctx, a, func() error {
		if !s.Status.Over() && next >= s.Count {
			return nil
		}
		for e, err := range p.Follow(ctx, operator, id, next) {
			if err != nil {
				return err
			}
			if e.Over != nil {
				return nil
			}
			if !e.Record.IsUndefined() {
				if next = int(e.Record.Get("index").Float()) + 1; asJSON {
					records = append(records, e.Record)
				} else {
					show(e.Record)
				}
			}
			if !s.Status.Over() && next >= s.Count {
				return nil
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case asJSON:
		v := stateValue(s, records)
		if redact != nil {
			v = v.Rewritten(redact)
		}
		_, err := fmt.Fprintln(a.stdout, v.JSON())
		return failed(err)
	case s.Status.Over():
		showOutcome(a, s)
	default:
		showNow(a, s)
	}
	return nil
}

func showOutcome(a *app, s *runs.State) {
	if s.Err != nil {
		fmt.Fprintf(a.stdout, "failed: %s\n", visible(s.Err.Error()))
		return
	}
	result := s.Result
	if redact := upstream.Redactor(s.Secrets); redact != nil {
		result = result.Rewritten(redact)
	}
	fmt.Fprintf(a.stdout, "result: %s\n", visible(result.JSON()))
}

// maxShownChildren is how many children are shown of a run.
const maxShownChildren = 20

// showNow shows what a run under way does.
func showNow(a *app, d *runs.State) {
	for _, one := range d.Active {
		if line := activityLine(&one); line != "" {
			fmt.Fprintln(a.stdout, visible(line))
		}
	}
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
		if !call.Progress.IsUndefined() {
			line += " " + call.Progress.JSON()
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
		showQuestion(a, q)
	}
	if d.Problem != "" {
		fmt.Fprintln(a.stdout, "problem: "+d.Problem)
	}
}
