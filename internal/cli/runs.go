package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph/pkg/runs"
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

// operator sees the runs of all callers.
var operator = runs.Who{Operator: true}

// withPlace calls f with the place of the runs.
func (a *app) withPlace(o runsOptions, f func(ctx context.Context, p runs.Place) error) error {
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

// answered calls f until a worker answers it.
func (a *app) answered(ctx context.Context, f func() error) error {
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

func (a *app) runsCancelCommand() *cobra.Command {
	var o runsOptions
	cmd := &cobra.Command{
		Use: "cancel RUN", Short: "Cancel a run; its calls end within seconds",
		Example: "  mcpgraph runs cancel 4NCQ2K7ZB5XHM3TA",
		Args:    configArgs("RUN"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.withPlace(o, func(ctx context.Context, p runs.Place) error { return p.Cancel(ctx, operator, args[0]) })
		},
	}
	o.temporal.flags(cmd)
	return cmd
}
