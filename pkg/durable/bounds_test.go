package durable

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

// TestRunsOfCallersAreBounded lets Temporal's counts lag behind by two seconds.
func TestRunsOfCallersAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var began []time.Time
		over, counts := 0, 0
		var down error
		count := func() (running, kept int64, err error) {
			counts++
			for _, at := range began {
				if time.Since(at) >= 2*time.Second {
					kept++
				}
			}
			return max(kept-int64(over), 0), kept, down
		}
		n := &counted{}
		start := func() error {
			err := n.allow(count, 10, 15, " of this caller")
			if err == nil {
				began = append(began, time.Now())
			}
			return err
		}
		refused := func(what, why string) {
			t.Helper()
			var busy *graph.Failure
			if err := start(); !errors.As(err, &busy) || busy.Name != graph.FailBusy || !strings.Contains(busy.Message, why) {
				t.Errorf("%s: %v", what, err)
			}
		}
		for range 10 {
			if err := start(); err != nil {
				t.Fatal(err)
			}
		}
		if counts != 1 {
			t.Errorf("10 starts took %d counts", counts)
		}
		refused("one more", "10 runs of this caller are under way")
		time.Sleep(10 * time.Second)
		refused("later", "10 runs of this caller are under way")
		over = 10
		time.Sleep(2 * time.Second)
		for range 5 {
			if err := start(); err != nil {
				t.Fatal(err)
			}
		}
		refused("too many are kept", "15 runs of this caller are kept")
		time.Sleep(10 * time.Second)
		down = runs.ErrUnavailable
		if err := start(); !errors.Is(err, runs.ErrUnavailable) {
			t.Errorf("nobody counts: %v", err)
		}
	})
}

// TestCountsThatNobodyUsesAreForgotten has many callers.
func TestCountsThatNobodyUsesAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, c := &bounds{}, &Client{}
		none := func() (running, kept int64, err error) { return 0, 0, nil }
		for i := range 1000 {
			if err := b.get(c.prefix(strings.Repeat("x", i))).allow(none, 1, 1, ""); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		if len(b.of) > 20 {
			t.Errorf("%d counts are kept", len(b.of))
		}
	})
}

func TestIDsDoNotNameTheirCaller(t *testing.T) {
	t.Parallel()
	open, sealed := &Client{}, &Client{options: Options{Key: []byte("0123456789abcdef")}}
	ids := map[string]bool{}
	for _, c := range []*Client{open, sealed} {
		for _, caller := range []string{"", "ann", "bob"} {
			if id := c.newID(caller); !strings.HasPrefix(id, c.prefix(caller)) || strings.Contains(id, "ann") {
				t.Errorf("%q", id)
			}
			ids[c.prefix(caller)] = true
		}
	}
	if len(ids) != 6 {
		t.Errorf("prefixes: %v", ids)
	}
}

// TestARunThatContinuedCountsOnce has 3 workflows of runs that continued as others.
func TestARunThatContinuedCountsOnce(t *testing.T) {
	t.Parallel()
	group := func(status any, count int64) *workflowservice.CountWorkflowExecutionsResponse_AggregationGroup {
		p, err := converter.GetDefaultDataConverter().ToPayload(status)
		if err != nil {
			t.Fatal(err)
		}
		return &workflowservice.CountWorkflowExecutionsResponse_AggregationGroup{GroupValues: []*commonpb.Payload{p}, Count: count}
	}
	running, kept := countsOf([]*workflowservice.CountWorkflowExecutionsResponse_AggregationGroup{
		group("Running", 2), group("ContinuedAsNew", 3), group("Completed", 4), group(7, 1),
	})
	if running != 2 || kept != 7 {
		t.Errorf("%d are under way, %d are kept", running, kept)
	}
}
