package durable

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

// fakeTemporal stands for a Temporal that is slow, or whose workers are lost.
type fakeTemporal struct {
	client.Client
	canceled string
	lost     int // queries that no worker answers
	queries  int
}

func (f *fakeTemporal) ExecuteWorkflow(ctx context.Context, _ client.StartWorkflowOptions, _ any, _ ...any) (client.WorkflowRun, error) {
	<-ctx.Done() // it has started the run, and its answer is late
	return nil, ctx.Err()
}

func (f *fakeTemporal) CancelWorkflow(ctx context.Context, id, _ string) error {
	f.canceled = id
	return ctx.Err()
}

func (f *fakeTemporal) QueryWorkflow(context.Context, string, string, string, ...any) (converter.EncodedValue, error) {
	if f.queries++; f.queries <= f.lost {
		return nil, serviceerror.NewDeadlineExceeded("no worker")
	}
	data := converter.GetDefaultDataConverter()
	payloads, err := data.ToPayloads(&page{Records: []json.RawMessage{[]byte(`{"index":0}`)}, Next: 1, Done: true})
	return client.NewValue(payloads), err
}

func TestARunWhoseStartWasGivenUpIsCancelled(t *testing.T) {
	t.Parallel()
	f := &fakeTemporal{}
	c := &Client{temporal: f}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.start(ctx, launch{ID: "one", Tool: "t"}); err == nil || f.canceled != "one" {
		t.Errorf("%v; %q was cancelled", err, f.canceled)
	}
}

func TestTheRecordsOfARunThatHasEndedWaitForAWorker(t *testing.T) {
	t.Parallel()
	for lost, want := range map[int]error{3: nil, 1000: runs.ErrNoWorker} {
		synctest.Test(t, func(t *testing.T) {
			c := &Client{temporal: &fakeTemporal{lost: lost}}
			list, err := c.lastOf(t.Context(), "one", 0, &ending{count: 1})
			if !errors.Is(err, want) || want == nil && len(list) != 1 {
				t.Errorf("%d lost: %d records, %v", lost, len(list), err)
			}
		})
	}
}
