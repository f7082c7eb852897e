package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func runsListCommand(a *app) *cobra.Command {
	var o runsOptions
	cmd := &cobra.Command{
		Use: "list", Short: "List runs: those under way, then those that ended last",
		Example: "  mcpgraph runs list --running\n  mcpgraph runs list --limit 1000 --json",
		Args:    configArgs(),
		RunE: func(*cobra.Command, []string) error {
			if o.limit < 1 {
				return usagef("--limit must be positive")
			}
			return withView(a, o, func(ctx context.Context, p runs.View) error {
				list, _, err := runs.ListSome(ctx, p, operator, runs.Filter{Running: o.running}, o.limit)
				if err != nil {
					return err
				}
				return failed(writeRuns(a.stdout, list, o.json))
			})
		},
	}
	o.flags(cmd)
	cmd.Flags().BoolVar(&o.json, "json", false, "print a line of JSON for each run")
	cmd.Flags().IntVar(&o.limit, "limit", 50, "list at most `N` runs")
	cmd.Flags().BoolVar(&o.running, "running", false, "only runs under way")
	return cmd
}

func writeRuns(w io.Writer, list []runs.Summary, asJSON bool) error {
	if asJSON {
		for _, s := range list {
			if _, err := fmt.Fprintln(w, summaryValue(s).JSON()); err != nil {
				return err
			}
		}
		return nil
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "no runs")
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "RUN\tTOOL\tSTATUS\tBEGAN\tTOOK\tPARENT")
	for _, s := range list {
		end := s.Ended
		if end.IsZero() {
			end = time.Now()
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", visible(s.ID), visible(s.Tool), string(s.Status), s.Began.UTC().Format(time.RFC3339), duration(end.Sub(s.Began)), visible(cmp.Or(s.Parent, "-")))
	}
	return table.Flush()
}

func summaryValue(s runs.Summary) value.Value {
	o := members{value.NewBuilder(10)}
	o.text("run", s.ID)
	o.text("tool", s.Tool)
	o.text("status", string(s.Status))
	o.text("parent", s.Parent)
	o.text("caller", s.Caller)
	o.text("version", s.Version)
	o.time("began", s.Began)
	o.time("ended", s.Ended)
	if s.Bytes > 0 {
		o.Set("historyBytes", value.FromInt(s.Bytes))
	}
	return o.Value()
}
