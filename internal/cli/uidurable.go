package cli

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/mcpgraph/mcpgraph/pkg/durable"
	"github.com/mcpgraph/mcpgraph/pkg/ui"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// durablePage shows the runs of Temporal on a page.
type durablePage struct{ client *durable.Client }

var _ ui.Durable = durablePage{}

// newDurablePage returns the durable runs of a page. Temporal need not be reachable yet.
func (a *app) newDurablePage(o temporalOptions, log *slog.Logger) (durablePage, error) {
	o.lazy = true
	client, err := a.dial(context.Background(), o, log)
	return durablePage{client}, err
}

// Place implements ui.Durable.
func (d durablePage) Place() string {
	address, namespace := d.client.Address()
	if namespace == durable.DefaultNamespace {
		return "Temporal at " + address
	}
	return fmt.Sprintf("Temporal at %s, namespace %s", address, namespace)
}

// List implements ui.Durable.
func (d durablePage) List(ctx context.Context, cursor string, count int, running bool) ([]ui.DurableRun, string, error) {
	token, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return nil, "", fmt.Errorf("the cursor is none: %w", err)
	}
	got, next, err := d.client.ListPage(ctx, token, count, running)
	if err != nil {
		return nil, "", pageError(err)
	}
	list := make([]ui.DurableRun, len(got))
	for i := range got {
		list[i] = shownRun(&got[i])
	}
	return list, base64.RawURLEncoding.EncodeToString(next), nil
}

// pageStates are the states of pages for the statuses of Temporal.
var pageStates = map[string]string{
	"running": "running", "completed": "done", "failed": "failed", "canceled": "cancelled", "terminated": "stopped", "timed out": "failed",
}

func shownRun(s *durable.Summary) ui.DurableRun {
	run := ui.DurableRun{ID: s.ID, Tool: s.Tool, Caller: s.Caller, Parent: s.Parent, Version: s.Digest, State: pageStates[s.Status], Began: s.Began, Ended: s.Ended}
	if s.Waiting {
		run.State = "waiting"
	}
	return run
}

// Describe implements ui.Durable.
func (d durablePage) Describe(ctx context.Context, id string) (*ui.DurableRun, error) {
	got, err := d.client.Describe(ctx, id)
	if got == nil {
		return nil, pageError(err)
	}
	run := shownRun(&got.Summary)
	run.Problem, run.Records, run.Active = got.Problem, got.Count, got.Active
	for _, c := range got.Calls {
		progress, bad := parsedJSON(c.Progress)
		err = errors.Join(err, bad)
		run.Calls = append(run.Calls, ui.DurableCall{ID: c.ID, Worker: c.Worker, Progress: progress})
	}
	for _, q := range got.Questions {
		params, bad := parsedJSON(q.Params)
		err = errors.Join(err, bad)
		run.Questions = append(run.Questions, ui.DurableQuestion{ID: q.ID, Path: q.Path, Method: q.Method, Params: params, Until: q.Until})
	}
	if err != nil && !errors.Is(err, durable.ErrNoWorker) {
		err = fmt.Errorf("the state of the run %w: %w", ui.ErrUnreadable, err)
	}
	return &run, pageError(err)
}

// Request implements ui.Durable.
func (d durablePage) Request(ctx context.Context, id string) (value.Value, uint64, error) {
	args, seed, err := d.client.Request(ctx, id)
	return args, seed, pageError(err)
}

// Records implements ui.Durable.
func (d durablePage) Records(ctx context.Context, id string, from int) ([]value.Value, error) {
	got, _, _, err := d.client.Records(ctx, id, from)
	if err != nil {
		return nil, pageError(err)
	}
	return parsedRecords(got)
}

// Outcome implements ui.Durable.
func (d durablePage) Outcome(ctx context.Context, id string) (*ui.DurableOutcome, error) {
	got, err := d.client.Result(ctx, id)
	if err != nil {
		return nil, pageError(err)
	}
	out := &ui.DurableOutcome{Result: got.Value, Failure: got.Failure, Text: got.Text}
	if list, ok := got.Records(); ok {
		out.Records, err = parsedRecords(list)
	}
	return out, err
}

// Start implements ui.Durable.
func (d durablePage) Start(ctx context.Context, s ui.DurableStart) error {
	return pageError(d.client.Start(ctx, durable.Start{ID: s.ID, Tool: s.Tool, Digest: s.Digest, Args: s.Args}))
}

// Answer implements ui.Durable.
func (d durablePage) Answer(ctx context.Context, id, question string, answer value.Value) error {
	return pageError(d.client.Answer(ctx, id, question, answer, nil))
}

// Cancel implements ui.Durable.
func (d durablePage) Cancel(ctx context.Context, id string) error {
	return pageError(d.client.Cancel(ctx, id))
}

// pageError returns the error that pages know for one of a client.
func pageError(err error) error {
	for known, shown := range map[error]error{
		durable.ErrNotFound: ui.ErrNoRun, durable.ErrNoWorker: ui.ErrNoWorker, durable.ErrNotAsked: ui.ErrNotAsked,
	} {
		if errors.Is(err, known) {
			return shown
		}
	}
	if errors.Is(err, durable.ErrNoKey) || errors.Is(err, durable.ErrUnreadable) {
		return unreadableError{err}
	}
	return err
}

// unreadableError is a [ui.ErrUnreadable] whose text says so already.
type unreadableError struct{ error }

// Is reports whether this is such an error.
func (e unreadableError) Is(target error) bool { return target == ui.ErrUnreadable }

// Unwrap returns the error of the client.
func (e unreadableError) Unwrap() error { return e.error }

func parsedRecords(list []json.RawMessage) ([]value.Value, error) {
	all := make([]value.Value, len(list))
	for i, text := range list {
		var err error
		if all[i], err = parsedJSON(text); err != nil {
			return nil, fmt.Errorf("record %d %w: %w", i, ui.ErrUnreadable, err)
		}
	}
	return all, nil
}

// parsedJSON returns a value, undefined for no text.
func parsedJSON(text json.RawMessage) (value.Value, error) {
	if len(text) == 0 {
		return value.Undef, nil
	}
	return value.ParseLazyBytes(text)
}
