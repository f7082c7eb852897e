package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/durable"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// runsOptions are those of the commands that look at durable runs.
type runsOptions struct {
	temporal temporalOptions
	json     bool
	limit    int
	running  bool
	question string
}

func (a *app) runsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "Look at durable runs, answer their questions, cancel them",
		Long: `Look at durable runs, answer their questions, and cancel them. Temporal keeps these
runs; mcpgraph run --engine temporal and mcpgraph serve --engine temporal start them.`,
		Example: `  mcpgraph runs list
  mcpgraph runs show 4NCQ2K7ZB5XHM3TA
  mcpgraph runs answer 4NCQ2K7ZB5XHM3TA accept`,
	}
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(cmd, args[0])
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(a.runsListCommand(), a.runsShowCommand(), a.runsWatchCommand(), a.runsCancelCommand(), a.runsAnswerCommand())
	return cmd
}

// withClient calls f with a connection to Temporal.
func (a *app) withClient(o runsOptions, f func(ctx context.Context, c *durable.Client) error) error {
	ctx, stop := a.untilSignal()
	defer stop()
	log, err := a.logger("error")
	if err != nil {
		return err
	}
	c, err := a.dial(ctx, o.temporal, log)
	if err != nil {
		return err
	}
	defer c.Close()
	err = f(ctx, c)
	var exit *exitError
	switch {
	case ctx.Err() != nil:
		return failed(context.Cause(ctx))
	case err == nil, errors.As(err, &exit):
		return err
	case errors.Is(err, durable.ErrNotFound), errors.Is(err, durable.ErrNotAsked):
		return &exitError{exitProblems, err}
	case errors.Is(err, durable.ErrNoWorker):
		return failedf("%w; start one with mcpgraph worker", err)
	}
	return failed(err)
}

func (a *app) runsListCommand() *cobra.Command {
	var o runsOptions
	cmd := &cobra.Command{
		Use: "list", Short: "List durable runs, the newest first",
		Example: "  mcpgraph runs list --running\n  mcpgraph runs list --limit 1000 --json",
		Args:    configArgs(),
		RunE: func(*cobra.Command, []string) error {
			if o.limit < 1 {
				return usagef("--limit must be positive")
			}
			return a.withClient(o, func(ctx context.Context, c *durable.Client) error {
				list, err := c.List(ctx, o.limit, o.running)
				if err != nil {
					return err
				}
				return failed(writeRuns(a.stdout, list, o.json))
			})
		},
	}
	o.temporal.flags(cmd)
	cmd.Flags().BoolVar(&o.json, "json", false, "print a line of JSON for each run")
	cmd.Flags().IntVar(&o.limit, "limit", 50, "list at most `N` runs")
	cmd.Flags().BoolVar(&o.running, "running", false, "only runs under way")
	return cmd
}

func writeRuns(w io.Writer, list []durable.Summary, asJSON bool) error {
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
	fmt.Fprintln(table, "RUN\tTOOL\tSTATUS\tBEGAN\tTOOK")
	for _, s := range list {
		end := s.Ended
		if end.IsZero() {
			end = time.Now()
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", visible(s.ID), visible(s.Tool), s.Status, s.Began.UTC().Format(time.RFC3339), duration(end.Sub(s.Began)))
	}
	return table.Flush()
}

func summaryValue(s durable.Summary) value.Value {
	b := value.NewBuilder(8)
	text := func(key, v string) {
		if v != "" {
			b.Set(key, value.FromString(v))
		}
	}
	text("run", s.ID)
	text("tool", s.Tool)
	text("status", s.Status)
	text("caller", s.Caller)
	text("version", s.Digest)
	text("began", s.Began.UTC().Format(time.RFC3339Nano))
	if !s.Ended.IsZero() {
		text("ended", s.Ended.UTC().Format(time.RFC3339Nano))
	}
	b.Set("historyBytes", value.FromInt(s.Bytes))
	return b.Value()
}

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
		fmt.Fprintf(a.stdout, "run %s of tool %s: %s, began %s\n", visible(id), visible(s.Tool), s.Status, s.Began.UTC().Format(time.RFC3339))
	}
	show := a.recordWriter(asJSON)
	if s.Ended.IsZero() {
		for from := 0; ; {
			list, next, _, err := c.Records(ctx, id, from)
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
		d, err := c.Describe(ctx, id)
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
	list, err := c.All(ctx, id, out)
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

// showNow shows what a run under way does.
func (a *app) showNow(d *durable.Description) {
	for _, call := range d.Calls {
		line := "calling: " + call.ID
		if call.Worker != "" {
			line += " on " + call.Worker
		}
		if len(call.Progress) > 0 {
			line += " " + string(call.Progress)
		}
		fmt.Fprintln(a.stdout, visible(line))
	}
	for _, q := range d.Questions {
		fmt.Fprintln(a.stdout, visible(fmt.Sprintf("asks: %s (%s): %s", q.ID, q.Path, messageOf(q))))
	}
	if d.Problem != "" {
		fmt.Fprintln(a.stdout, "problem: "+d.Problem)
	}
}

// messageOf returns what a question says to people.
func messageOf(q durable.Question) string {
	v, err := value.ParseLazyBytes(q.Params)
	if err != nil {
		return ""
	}
	if text := v.Get("message"); text.Kind() == value.String {
		return text.Str()
	}
	return v.JSON()
}

// recordWriter returns what prints records of a run.
func (a *app) recordWriter(asJSON bool) func(json.RawMessage) {
	width := a.width(a.stdout)
	return func(text json.RawMessage) {
		if asJSON {
			fmt.Fprintln(a.stdout, string(text))
			return
		}
		v, err := value.ParseLazyBytes(text)
		if err != nil {
			return
		}
		switch v.Get("event").Str() {
		case "opened", "replaced":
			return
		}
		line := recordLine(v)
		if width > 0 {
			line = textline.Shorten(line, width)
		}
		fmt.Fprintln(a.stdout, line)
	}
}

// recordLine returns a record as a line for people.
func recordLine(v value.Value) string {
	node := v.Get("node").Str()
	if path := v.Get("path").Str(); path != "" {
		node = strings.TrimSuffix(path, ".") + "." + node
	}
	start, _ := time.Parse(time.RFC3339Nano, v.Get("start").Str())
	end, _ := time.Parse(time.RFC3339Nano, v.Get("end").Str())
	line := fmt.Sprintf("%s  %s %s  %s", end.UTC().Format("15:04:05.000"), v.Get("type").Str(), node, duration(end.Sub(start)))
	if event := v.Get("event").Str(); event != "done" {
		line += "  " + event
	}
	if failure := v.Get("error"); !failure.IsUndefined() {
		line += "  failed: " + failure.Get("name").Str() + ": " + failure.Get("message").Str()
	} else if out := v.Get("output"); !out.IsUndefined() {
		line += "  " + out.Preview(maxShownOutput)
	}
	return visible(line)
}

// maxShownOutput is how much of an output is shown, in bytes.
const maxShownOutput = 200

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
	show, asked := a.recordWriter(asJSON), map[string]bool{}
	out, err := c.Watch(ctx, id, func(list []json.RawMessage) error {
		for _, text := range list {
			show(text)
		}
		if asJSON {
			return nil
		}
		d, err := c.Describe(ctx, id)
		if err != nil && !errors.Is(err, durable.ErrNoWorker) {
			return err
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

func (a *app) runsCancelCommand() *cobra.Command {
	var o runsOptions
	cmd := &cobra.Command{
		Use: "cancel RUN", Short: "Cancel a run; its calls end within seconds",
		Example: "  mcpgraph runs cancel 4NCQ2K7ZB5XHM3TA",
		Args:    configArgs("RUN"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.withClient(o, func(ctx context.Context, c *durable.Client) error { return c.Cancel(ctx, args[0]) })
		},
	}
	o.temporal.flags(cmd)
	return cmd
}

func (a *app) runsAnswerCommand() *cobra.Command {
	var o runsOptions
	cmd := &cobra.Command{
		Use: "answer RUN ANSWER", Short: "Answer a question of a run",
		Long: `Answer a question of a run. ANSWER is what is filled in as a JSON object, or accept,
decline or cancel. If the run asks several questions, --question says which one: its
id or the path of its node, as runs show prints them. It needs a worker.`,
		Example: `  mcpgraph runs answer 4NCQ2K7ZB5XHM3TA accept
  mcpgraph runs answer 4NCQ2K7ZB5XHM3TA '{"approved": true}' --question confirm`,
		Args: configArgs("RUN", "ANSWER"),
		RunE: func(_ *cobra.Command, args []string) error {
			answer, err := parseAnswer(args[1])
			if err != nil {
				return err
			}
			return a.withClient(o, func(ctx context.Context, c *durable.Client) error {
				return answerRun(ctx, c, args[0], o.question, answer)
			})
		},
	}
	o.temporal.flags(cmd)
	cmd.Flags().StringVar(&o.question, "question", "", "answer the question with this `ID` or path")
	return cmd
}

// parseAnswer reads an answer of the command line.
func parseAnswer(text string) (value.Value, error) {
	switch text {
	case mcpgraph.Accept, mcpgraph.Decline, mcpgraph.Cancel:
		return mcpgraph.Answer(text, value.Undef), nil
	}
	v, err := value.ParseStrict(text)
	if err != nil || v.Kind() != value.Object {
		return v, usagef("ANSWER is %q; expected a JSON object, accept, decline or cancel", text)
	}
	return mcpgraph.Answer(mcpgraph.Accept, v), nil
}

func answerRun(ctx context.Context, c *durable.Client, id, which string, answer value.Value) error {
	d, err := c.Describe(ctx, id)
	if err != nil {
		return err
	}
	var open, wanted []durable.Question
	for _, q := range d.Questions {
		if q.Method != graph.AskPerson {
			continue
		}
		open = append(open, q)
		if which == "" || which == q.ID || which == q.Path {
			wanted = append(wanted, q)
		}
	}
	switch {
	case len(open) == 0:
		return &exitError{exitProblems, errors.New("the run asks nothing")}
	case len(wanted) == 0:
		return &exitError{exitProblems, fmt.Errorf("the run does not ask %q; it asks %s", which, questionNames(open))}
	case len(wanted) > 1:
		return usagef("the run asks several questions; choose one with --question: %s", questionNames(wanted))
	}
	return c.Answer(ctx, id, wanted[0].ID, answer, nil)
}

func questionNames(list []durable.Question) string {
	var names []string
	for _, q := range list {
		names = append(names, fmt.Sprintf("%s (%s)", q.ID, q.Path))
	}
	return strings.Join(names, ", ")
}
