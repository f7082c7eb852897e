package cli

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/durable"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/ui"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// asking is a file whose tool asks a person. Its name makes it one that no other test has.
const asking = `version: "1.0"
server: {name: NAME, version: "1"}
tools:
  - name: asks
    description: Asks
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: ask}
      - {id: ask, type: ask, message: "Why?", schema: {type: object, properties: {why: {type: string}}}, next: exit}
      - {id: exit, type: exit}
`

// shown waits until a durable run is as it should be.
func shown(t *testing.T, d ui.Durable, id string, fits func(*ui.DurableRun, error) bool) *ui.DurableRun {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		run, err := d.Describe(ctx, id)
		cancel()
		if fits(run, err) {
			return run
		}
		if time.Now().After(end) {
			t.Fatalf("the run is %+v, %v", run, err)
		}
	}
}

// TestDurablePageOnAServer uses the runs of a Temporal server as a page does.
func TestDurablePageOnAServer(t *testing.T) {
	t.Parallel()
	address := os.Getenv("MCPGRAPH_TEMPORAL")
	if address == "" {
		t.Skip("MCPGRAPH_TEMPORAL is not set; see testdata/temporalserver")
	}
	log := slog.New(slog.DiscardHandler)
	a := &app{environ: map[string]string{}}
	d, err := a.newDurablePage(temporalOptions{address: address}, log)
	if err != nil {
		t.Fatal(err)
	}
	defer d.client.Close()
	if d.Place() != "Temporal at "+address {
		t.Errorf("the place is %s", d.Place())
	}
	path := filepath.Join(t.TempDir(), "tools.yaml")
	if err := os.WriteFile(path, []byte(asking+"# "+runs.NewID()), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := mcpgraph.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	args, _ := value.Parse(`{"n":1}`)
	id, other := runs.NewID(), runs.NewID()
	for _, id := range []string{id, other} {
		if err := d.Start(t.Context(), ui.DurableStart{ID: id, Tool: "asks", Digest: e.Digest(), Args: args}); err != nil {
			t.Fatal(err)
		}
	}
	// Nobody works on it yet.
	shown(t, d, id, func(r *ui.DurableRun, err error) bool {
		return errors.Is(err, ui.ErrNoWorker) && r != nil && r.Tool == "asks" && r.Version == e.Digest() && r.State == "running"
	})
	if got, _, err := d.Request(t.Context(), id); err != nil || got.JSON() != `{"n":1}` {
		t.Errorf("the request is %s, %v", got.JSON(), err)
	}
	w := d.client.NewWorker(e, durable.WorkerOptions{Log: log, Grace: time.Second})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	run := shown(t, d, id, func(r *ui.DurableRun, err error) bool {
		return err == nil && r.State == "waiting" && len(r.Questions) == 1
	})
	if q := run.Questions[0]; q.Params.Get("message").Str() != "Why?" || run.Records != 2 || len(run.Active) != 1 || run.Active[0].State != "asking" {
		t.Errorf("the run is %+v", run)
	}
	if list, err := d.Records(t.Context(), id, 1); err != nil || len(list) != 1 || list[0].Get("event").Str() != "opened" {
		t.Errorf("the records are %v, %v", list, err)
	}
	answer, _ := value.Parse(`{"action":"accept","content":{"why":"because"}}`)
	if err := d.Answer(t.Context(), id, "none", answer); !errors.Is(err, ui.ErrNotAsked) {
		t.Errorf("an answer to nothing: %v", err)
	}
	if err := d.Answer(t.Context(), id, run.Questions[0].ID, answer); err != nil {
		t.Fatal(err)
	}
	shown(t, d, id, func(r *ui.DurableRun, _ error) bool { return r != nil && r.State == "done" && !r.Ended.IsZero() })
	if out, err := d.Outcome(t.Context(), id); err != nil || out.Result.JSON() != `{"why":"because"}` || out.Failure != nil || len(out.Records) < 4 {
		t.Errorf("the outcome is %+v, %v", out, err)
	}
	if err := d.Cancel(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	shown(t, d, other, func(r *ui.DurableRun, _ error) bool { return r != nil && r.State == "cancelled" })
	if _, err := d.Describe(t.Context(), "no-such-run"); !errors.Is(err, ui.ErrNoRun) {
		t.Errorf("a run that is not there: %v", err)
	}
	list, _, err := d.List(t.Context(), "", 100, false)
	found := map[string]string{}
	for _, r := range list {
		found[r.ID] = r.State
	}
	if err != nil || found[id] == "" || found[other] == "" {
		t.Errorf("the list has %v, %v", found, err)
	}
	if _, _, err := d.List(t.Context(), "%", 100, false); err == nil {
		t.Error("a cursor that is none was taken")
	}
}

// TestDurablePageBeginsWithoutTemporal shows that a page need not reach Temporal.
func TestDurablePageBeginsWithoutTemporal(t *testing.T) {
	t.Parallel()
	a := &app{environ: map[string]string{}}
	d, err := a.newDurablePage(temporalOptions{address: "127.0.0.1:1", namespace: "tools"}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer d.client.Close()
	if d.Place() != "Temporal at 127.0.0.1:1, namespace tools" {
		t.Errorf("the place is %s", d.Place())
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if run, err := d.Describe(ctx, "x"); run != nil || err == nil || errors.Is(err, ui.ErrNoRun) || errors.Is(err, ui.ErrNoWorker) {
		t.Errorf("it has %v, %v", run, err)
	}
}
