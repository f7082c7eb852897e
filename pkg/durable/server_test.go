package durable

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	enums "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// addressVariable names the address of a Temporal server, such as that of
// testdata/temporalserver. Without it the tests that need one are skipped.
const addressVariable = "MCPGRAPH_TEMPORAL"

// dialed returns a client of the server of the tests.
func dialed(t testing.TB, change func(*Options)) *Client {
	t.Helper()
	address := os.Getenv(addressVariable)
	if address == "" {
		t.Skip(addressVariable + " is not set; see testdata/temporalserver")
	}
	o := Options{Address: address, Log: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&o)
	}
	c, err := Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// working starts a worker for a source that no other test has, until the test ends or
// stop is called.
func working(t testing.TB, c *Client, s *testSource) (stop func()) {
	t.Helper()
	w := c.NewWorker(s, WorkerOptions{Log: slog.New(slog.DiscardHandler), Grace: time.Second})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	var stopped atomic.Bool
	stop = func() {
		if stopped.CompareAndSwap(false, true) {
			w.Stop()
		}
	}
	t.Cleanup(stop)
	return stop
}

// unique makes the digest of a source one that no other test has.
func unique(s *testSource) *testSource {
	s.digest = fmt.Sprintf("%016x%016x", rand.Uint64(), rand.Uint64())
	return s
}

func newID(t testing.TB) string { return fmt.Sprintf("%s-%x", t.Name(), rand.Uint64()) }

// started starts a run and returns its id.
func started(t testing.TB, c *Client, s *testSource, args string, change func(*launch)) string {
	t.Helper()
	v, err := value.Parse(args)
	if err != nil {
		t.Fatal(err)
	}
	start := launch{ID: newID(t), Tool: s.graphs[0].Name, Digest: s.digest, Args: v, Seed: 7}
	if change != nil {
		change(&start)
	}
	if err := c.start(t.Context(), start); err != nil {
		t.Fatal(err)
	}
	return start.ID
}

// followed waits for the end of a run and returns it as a client makes it.
func followed(t testing.TB, c *Client, s *testSource, id, args string) (*executor.Run, *ending) {
	t.Helper()
	v, err := value.Parse(args)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	run := executor.NewRun(s.graphs[0], v, 7)
	out, err := c.followed(ctx, id, run, &watch{})
	if err != nil {
		t.Fatal(err)
	}
	if !run.Done() {
		run.Stop(out.Err())
	}
	return run, out
}

// historyOf returns what Temporal has of a workflow.
func historyOf(t testing.TB, c *Client, id string) *historypb.History {
	t.Helper()
	all := &historypb.History{}
	for it := c.temporal.GetWorkflowHistory(t.Context(), id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); it.HasNext(); {
		e, err := it.Next()
		if err != nil {
			t.Fatal(err)
		}
		all.Events = append(all.Events, e)
	}
	return all
}

// replayed runs the code of today against a history.
func replayed(t testing.TB, c *Client, s *testSource, h *historypb.History) {
	t.Helper()
	r, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DataConverter: c.data})
	if err != nil {
		t.Fatal(err)
	}
	registerWorkflow(r, s, WorkerOptions{})
	began := h.GetEvents()[0].GetWorkflowExecutionStartedEventAttributes()
	original := workflow.Execution{ID: began.GetWorkflowId(), RunID: began.GetOriginalExecutionRunId()} // the ids of children derive from it
	if err := r.ReplayWorkflowHistoryWithOptions(quiet{}, h, worker.ReplayWorkflowHistoryOptions{OriginalExecution: original}); err != nil {
		t.Errorf("replay: %v", err)
	}
}

func TestFixturesHaveTheSameHistoryOnAServer(t *testing.T) {
	t.Parallel()
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			c := dialed(t, nil)
			source := unique(newSource(t, f.config))
			args, err := value.Parse(f.args)
			if err != nil {
				t.Fatal(err)
			}
			source.call = scripted(t, f.replies)
			want := source.local(t, source.graphs[0].Name, args, 7)
			source.call = scripted(t, f.replies)
			working(t, c, source)
			id := started(t, c, source, f.args, nil)
			got, _ := followed(t, c, source, id, f.args)
			compare(t, want, got)
			h := historyOf(t, c, id)
			replayed(t, c, source, h)
			if os.Getenv("UPDATE") != "" {
				record(t, f.name, h)
			}
		})
	}
}

const histories = "testdata/histories"

// isRecorded reports whether the history of a fixture is kept: those in which the
// workflow does most.
func isRecorded(name string) bool {
	for _, prefix := range []string{"call_", "map_", "parallel_", "retry_", "wait_", "limit_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// machine is what a history says of the machine that it was recorded on.
var machine = regexp.MustCompile(`"(identity|workerInstanceKey)":\s*"[^"]*"`)

// record keeps a history, for programs that come later.
func record(t testing.TB, name string, h *historypb.History) {
	t.Helper()
	if !isRecorded(name) {
		return
	}
	text, err := protojson.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	text = machine.ReplaceAll(text, []byte(`"$1":""`))
	if err := os.WriteFile(filepath.Join(histories, name+".json"), append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestRecordedHistoriesReplay shows that runs which an earlier program began go on with
// this one: the workflow decides as it did. If it fails because the workflow was changed
// on purpose, raise revision and record the histories again.
func TestRecordedHistoriesReplay(t *testing.T) {
	t.Parallel()
	replays := 0
	for _, f := range fixtures(t) {
		if !isRecorded(f.name) {
			continue
		}
		file, err := os.Open(filepath.Join(histories, f.name+".json"))
		if err != nil {
			t.Error(err)
			continue
		}
		defer file.Close()
		h, err := client.HistoryFromJSON(file, client.HistoryJSONOptions{})
		if err != nil {
			t.Fatal(err)
		}
		codec, err := newCodec(nil)
		if err != nil {
			t.Fatal(err)
		}
		data := converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), codec)
		in, source := &request{}, newSource(t, f.config)
		if err := data.FromPayloads(h.Events[0].GetWorkflowExecutionStartedEventAttributes().GetInput(), in); err != nil {
			t.Fatal(err)
		}
		source.digest = in.Digest
		replayed(t, &Client{data: data}, source, h)
		replays++
	}
	if replays < 10 {
		t.Errorf("only %d histories were replayed", replays)
	}
}
