package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
)

func runsWatchCommand(a *app) *cobra.Command {
	var o runsOptions
	cmd := &cobra.Command{
		Use: "watch RUN", Short: "Show what happens in a run until it has ended",
		Long: `Show what happens in a run, and its questions, until it has ended. The exit code is
1 if the run failed.`,
		Example: "  mcpgraph runs watch 4NCQ2K7ZB5XHM3TA",
		Args:    configArgs("RUN"),
		RunE: func(_ *cobra.Command, args []string) error {
			return withView(a, o, func(ctx context.Context, p runs.View) error { return watchRun(ctx, a, p, args[0], o.json) })
		},
	}
	o.flags(cmd)
	cmd.Flags().BoolVar(&o.json, "json", false, "print the records as JSON")
	return cmd
}

func watchRun(ctx context.Context, a *app, p runs.View, id string, asJSON bool) error {
	secrets := []string(nil)
	known := false
	show := recordWriter(a, asJSON, func() func(string) string { return upstream.Redactor(secrets) })
	for e, err := range p.Follow(ctx, operator, id, 0) {
		switch {
		case err != nil:
			return err
		case e.Over != nil:
			if !asJSON {
				showOutcome(a, e.Over)
			}
			if e.Over.Err != nil {
				return &exitError{code: exitProblems}
			}
			return nil
		case e.Asked != nil:
			if !asJSON {
				showQuestion(a, *e.Asked)
			}
		default:
			if !known || e.Record.Has("server") { // its call can have had arguments that are secrets
				if s, err := p.Look(ctx, operator, id, runs.Whole); err == nil {
					secrets, known = s.Secrets, true
				}
			}
			show(e.Record)
		}
	}
	return nil
}

func showQuestion(a *app, q runs.Question) {
	line := fmt.Sprintf("asks: %s (%s): %s", q.ID, q.Path, messageOf(q))
	if !q.Until.IsZero() {
		line += " (until " + q.Until.UTC().Format(time.RFC3339) + ")"
	}
	fmt.Fprintln(a.stdout, visible(line))
}
