package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph/internal/runsock"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

// runsOptions are those of the commands that look at runs.
type runsOptions struct {
	temporal temporalOptions
	server   string
	json     bool
	limit    int
	running  bool
	question string
}

func (o *runsOptions) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.server, "server", "", "look into the running server with this `NAME`")
	o.temporal.flags(cmd)
}

func runsCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "Look at runs, answer their questions, cancel them",
		Long: `Look at runs, answer their questions, and cancel them: those of the mcpgraph serve or
mcpgraph ui that this user runs on this machine, or durable runs, which Temporal keeps.

If several servers run, --server chooses one by its name in the file. The flags of
Temporal, or TEMPORAL_ADDRESS, choose Temporal; so does a machine without a server.`,
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
	cmd.AddCommand(runsListCommand(a), runsShowCommand(a), runsWatchCommand(a), runsCancelCommand(a), runsAnswerCommand(a))
	return cmd
}

// operator sees the runs of all callers.
var operator = runs.Who{Operator: true}

// openView returns where the runs are that the options name: at Temporal, if a flag or a
// variable says where that is, else in a server of this user that runs.
func openView(ctx context.Context, a *app, o runsOptions) (v runs.View, done func(), err error) {
	var silent []*runsock.Client
	if !o.temporal.isSet() && a.environ[addressVariable] == "" {
		var found []*runsock.Client
		found, silent = runsock.Servers(ctx, runsock.Folder(a.getenv))
		if o.server != "" {
			another := func(c *runsock.Client) bool { return !c.Is(o.server) }
			found, silent = slices.DeleteFunc(found, another), slices.DeleteFunc(silent, another)
		}
		switch {
		case len(found) == 1:
			return found[0], func() {}, nil
		case len(found) > 1:
			return nil, nil, usagef("%d servers run; choose one with --server: %s", len(found), serverNames(found))
		case o.server != "" && len(silent) == 0:
			return nil, nil, failedf("no mcpgraph serve or ui of this user with the server name %q runs", o.server)
		case o.server != "":
			return nil, nil, failed(errors.New(nobodyAnswers(silent)))
		}
	} else if o.server != "" {
		return nil, nil, usagef("--server is for servers of this machine; leave out the flags of Temporal and %s", addressVariable)
	}
	log, err := a.logger("error")
	if err != nil {
		return nil, nil, err
	}
	var c DurableRuns
	if err = needTemporal(a); err == nil {
		c, err = dialTemporal(ctx, a, o.temporal, log)
	}
	if err != nil {
		var exit *exitError
		another := errors.As(err, &exit) && exit.err == nil // another program was this one
		if !another && !o.temporal.isSet() && a.environ[addressVariable] == "" {
			err = failedf("%s, and %w", nobodyAnswers(silent), err)
		}
		return nil, nil, err
	}
	return c, c.Close, nil
}

// nobodyAnswers says why the runs are not those of a server of this machine.
func nobodyAnswers(silent []*runsock.Client) string {
	if len(silent) == 0 {
		return "no mcpgraph serve or ui of this user runs"
	}
	return "mcpgraph serve or ui does not answer: " + serverNames(silent)
}

func serverNames(list []*runsock.Client) string {
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.Server
	}
	return strings.Join(names, ", ")
}

// withView calls f with the place of the runs.
func withView(a *app, o runsOptions, f func(ctx context.Context, v runs.View) error) error {
	ctx, stop := a.untilSignal()
	defer stop()
	v, done, err := openView(ctx, a, o)
	if err != nil {
		return err
	}
	defer done()
	err = f(ctx, v)
	var exit *exitError
	switch {
	case ctx.Err() != nil:
		return failed(context.Cause(ctx))
	case err == nil, errors.As(err, &exit):
		return err
	case errors.Is(err, runs.ErrNotFound), errors.Is(err, runs.ErrNotAsked), errors.Is(err, runs.ErrOver):
		return &exitError{exitProblems, err}
	case errors.Is(err, runs.ErrNoWorker):
		return failedf("%w; start one with mcpgraph worker", err)
	}
	return failed(err)
}

// How long commands ask for a worker that answers: one that is lost is replaced within
// that time. An answer to a question waits for as long as answerTimeout.
const workerTimeout, askAgainAfter, answerTimeout = 20 * time.Second, time.Second, time.Minute

// reportAnswered calls f until a worker answers it.
func reportAnswered(ctx context.Context, a *app, f func() error) error {
	began := time.Now()
	for told := false; ; told = true {
		err := f()
		if !errors.Is(err, runs.ErrNoWorker) || time.Since(began) > workerTimeout {
			return err
		}
		if !told {
			fmt.Fprintln(a.stderr, "mcpgraph: no worker answers; asking again")
		}
		select {
		case <-time.After(askAgainAfter):
		case <-ctx.Done():
			return err
		}
	}
}

func runsCancelCommand(a *app) *cobra.Command {
	var o runsOptions
	cmd := &cobra.Command{
		Use: "cancel RUN", Short: "Cancel a run; its calls end within seconds",
		Example: "  mcpgraph runs cancel 4NCQ2K7ZB5XHM3TA",
		Args:    configArgs("RUN"),
		RunE: func(_ *cobra.Command, args []string) error {
			return withView(a, o, func(ctx context.Context, v runs.View) error { return v.Cancel(ctx, operator, args[0]) })
		},
	}
	o.flags(cmd)
	return cmd
}
