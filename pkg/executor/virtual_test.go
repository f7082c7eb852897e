package executor_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/testscale"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// virtual is a driver with a clock of its own. Which of the tasks under way ends
// first is up to its randomness; what comes of a call is not: that depends on the
// execution and the attempt alone.
type virtual struct {
	t     testing.TB
	run   *executor.Run
	rand  *rand.Rand
	now   time.Time
	calls []call
	asked map[string]time.Time
	most  int // tasks, then it gives up
	// replaces is true where it replaces the outputs of some executions.
	replaces bool
	replaced int
	salt     uint64 // of what comes of calls
	stopAt   int    // how many tasks are done before the run is stopped; 0 is never
}

// call is a call under way.
type call struct {
	task   executor.Task
	id     string
	try    int
	action graph.Action
	ends   time.Time // zero for one that never ends
	salt   uint64
}

var errStopped = errors.New("stopped by the test")

var genesis = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func drive(t testing.TB, r *executor.Run, schedule uint64, from time.Time) *virtual {
	d := &virtual{t: t, run: r, rand: rand.New(rand.NewPCG(schedule, 3)), now: from, asked: map[string]time.Time{}, most: 200_000}
	return d
}

// finish goes on until the run is over.
func (d *virtual) finish() {
	d.run.Begin(d.now)
	for n := 0; !d.run.Done(); n++ {
		if n > d.most {
			d.t.Fatalf("the run does not end: %d calls under way, questions %v", len(d.calls), d.run.Questions())
		}
		if d.stopAt > 0 && n >= d.stopAt {
			d.run.Stop(errStopped)
			d.cut()
		}
		if task, ok := d.run.Take(); ok {
			d.perform(task)
			continue
		}
		if !d.run.Done() {
			d.await()
		}
	}
}

func (d *virtual) perform(task executor.Task) {
	ctx := context.Background()
	if task.Concludes() {
		out, err := task.Conclude(ctx)
		d.settle(task, executor.Outcome{Output: out, Err: err})
		return
	}
	a, err := task.Begin(ctx)
	switch {
	case err != nil:
		d.settle(task, executor.Outcome{Err: err})
	case a.Do == graph.Yield:
		d.settle(task, executor.Outcome{Output: graph.Output{Value: a.Value, Edge: a.Edge}})
	case a.Do == graph.CallTool:
		if err := d.run.Call(task, a.Value); err != nil {
			d.settle(task, executor.Outcome{Err: err})
			return
		}
		c := call{task: task, id: task.ID(), try: task.Attempt(), action: a, salt: d.salt}
		if c.outcome() != hangs {
			c.ends = d.now.Add(time.Duration(d.rand.Int64N(int64(longest))))
		}
		d.calls = append(d.calls, c)
	default:
		if err := d.run.Open(task, a, d.now); err != nil && !errors.Is(err, executor.ErrStale) {
			d.settle(task, executor.Outcome{Err: err})
		}
	}
}

// settle settles a task and lets its walk go on.
func (d *virtual) settle(task executor.Task, o executor.Outcome) {
	o.End = d.now
	rec, err := d.run.Settle(context.Background(), task, o)
	if err != nil {
		return
	}
	if d.replaces && hash(task.ID())%3 == 0 && d.run.Replace(rec, value.FromString("instead of "+task.ID()), d.now) == nil {
		d.replaced++
	}
	d.run.Release(task)
}

func hash(text string) uint32 {
	h := fnv.New32a()
	fmt.Fprint(h, text)
	return h.Sum32()
}

// await lets the time pass until something happens.
func (d *virtual) await() {
	for _, q := range d.run.Questions() {
		if d.asked[q.ID].IsZero() {
			longest := time.Hour
			if q.Node.Approval != nil {
				longest = 9 * time.Minute // what it is given is 10
			}
			d.asked[q.ID] = d.now.Add(time.Duration(d.rand.Int64N(int64(longest))))
		}
	}
	next, has := d.run.Wake()
	what := -1
	for i, c := range d.calls {
		if !c.ends.IsZero() && (!has || c.ends.Before(next)) {
			next, has, what = c.ends, true, i
		}
	}
	var question executor.Question
	for _, q := range d.run.Questions() {
		if at := d.asked[q.ID]; !has || at.Before(next) {
			next, has, what, question = at, true, -1, q
		}
	}
	if !has {
		d.t.Fatalf("nothing will ever happen: %d calls under way, %s\n%s", len(d.calls), d.run.Dump(), strings.Join(log(d.run), "\n"))
	}
	if next.After(d.now) {
		d.now = next
	}
	switch {
	case question.Node != nil:
		delete(d.asked, question.ID)
		_ = d.run.Answer(question.ID, answerTo(question), nil, d.now)
	case what >= 0:
		c := d.calls[what]
		d.calls = slices.Delete(d.calls, what, what+1)
		d.returned(c)
	default:
		d.run.Advance(d.now)
	}
}

// answerTo returns an answer that depends on the question alone: one in four calls
// is not approved.
func answerTo(q executor.Question) value.Value {
	if q.Node.Approval == nil {
		return value.FromString(q.ID)
	}
	action := "accept"
	if hash(q.ID)%4 == 0 {
		action = "decline"
	}
	return value.FromEntries([]value.Entry{{Key: "action", Value: value.FromString(action)}})
}

// cut ends the calls that were cancelled.
func (d *virtual) cut() {
	for _, task := range d.run.Cut() {
		for i := range d.calls {
			if d.calls[i].task == task {
				d.calls[i].ends = d.now
			}
		}
	}
}

func (d *virtual) returned(c call) {
	if d.run.Return(c.task) != nil {
		return
	}
	o := executor.Outcome{Attempts: 1}
	if c.outcome() == works {
		o.Output, o.Err = c.task.End(context.Background(), c.action, value.FromString(fmt.Sprint(c.id, " ", c.try)))
	} else {
		o.Err = &graph.Failure{Name: "broken", Code: "503", Message: fmt.Sprint("it broke ", c.try)}
	}
	d.settle(c.task, o)
}

type outcome int

const (
	works outcome = iota
	breaks
	hangs
)

// outcome returns what comes of the call: the same on every schedule.
func (c *call) outcome() outcome {
	text := fmt.Sprint(c.id, c.try)
	if c.salt != 0 {
		text += fmt.Sprint(c.salt)
	}
	switch n := hash(text) % 10; {
	case n < 6:
		return works
	case n < 9:
		return breaks
	}
	return hangs
}

// story is what a run did, whatever the order of what went on side by side.
func story(r *executor.Run) string {
	lines := []string{"result " + textOf(r.Result())}
	if err := r.Err(); err != nil {
		lines = append(lines, "error "+err.Error())
	}
	for rec := range r.Records(0) {
		if rec.Event != executor.Done && rec.Event != executor.Retried {
			continue
		}
		line := fmt.Sprint(rec.Frame, " ", rec.Path, " ", rec.Execution, " ", rec.Try, " ", rec.Node, " ", rec.Event, " ", textOf(rec.Output), " ", textOf(rec.Arguments), " ", rec.Edge, " ", rec.Attempts)
		if rec.Err != nil {
			line += " " + rec.Err.Error()
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// log is every record of a run as JSON.
func log(r *executor.Run) []string {
	var lines []string
	for rec := range r.Records(0) {
		lines = append(lines, rec.Value().JSON())
	}
	return lines
}

// replay makes a run of the first n records of a log.
func replay(t testing.TB, g *graph.Graph, log []string) *executor.Run {
	t.Helper()
	r, err := executor.Replay(g, value.FromEntries(nil), 9, func(yield func(executor.Record) bool) {
		for _, line := range log {
			v, err := value.Parse(line)
			if err != nil {
				t.Fatal(err)
			}
			rec, err := executor.RecordFrom(g, v)
			if err != nil {
				t.Fatal(err)
			}
			if !yield(rec) {
				return
			}
		}
	})
	if err != nil {
		t.Fatalf("replay: %v\n%s", err, strings.Join(log, "\n"))
	}
	return r
}

// last is the time of the last record.
func last(r *executor.Run) time.Time {
	at := genesis
	for rec := range r.Records(0) {
		at = rec.End
	}
	return at
}

// difference shows the first line in which two texts differ.
func difference(got, want []string) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return "missing: " + want[i]
		case i >= len(want):
			return "too much: " + got[i]
		case got[i] != want[i]:
			return "got " + got[i] + "\nwant " + want[i]
		}
	}
	return "no line"
}

func newRun(g *graph.Graph) *executor.Run { return executor.NewRun(g, value.FromEntries(nil), 9) }

func TestGeneratedRunsDoNotDependOnTheSchedule(t *testing.T) {
	graphs := testscale.Of[uint64](150, 1000)
	executions, retried := 0, 0
	for seed := range graphs {
		g := generate(t, seed, false)
		first := newRun(g)
		drive(t, first, seed, genesis).finish()
		records := log(first)
		executions += first.Len()
		for _, line := range records {
			if strings.Contains(line, `"event":"retried"`) {
				retried++
			}
		}

		again := replay(t, g, records)
		if got := log(again); !slices.Equal(got, records) || again.Done() != first.Done() || textOf(again.Result()) != textOf(first.Result()) {
			t.Fatalf("graph %d: replayed: %s", seed, difference(got, records))
		}
		other := newRun(g)
		drive(t, other, seed+1_000_000, genesis.Add(time.Hour)).finish()
		if got, want := story(other), story(first); got != want {
			t.Fatalf("graph %d on another schedule: %s", seed, difference(strings.Split(got, "\n"), strings.Split(want, "\n")))
		}
	}
	if executions < int(graphs) || retried == 0 {
		t.Errorf("the graphs show little: %d executions, %d retried", executions, retried)
	}
}

func TestRunGoesOnAfterEveryRecord(t *testing.T) {
	kills, most := 0, testscale.Of(200, 1000)
	for seed := uint64(0); kills < most; seed++ {
		g := generate(t, seed, false)
		whole := newRun(g)
		drive(t, whole, seed, genesis).finish()
		records, want := log(whole), story(whole)
		if len(records) < 20 || len(records) > 400 {
			continue
		}
		for n := range records {
			kills++
			r := replay(t, g, records[:n])
			drive(t, r, seed*1000+uint64(n), last(r)).finish()
			if got := story(r); got != want {
				t.Fatalf("graph %d killed after %d records: %s", seed, n, difference(strings.Split(got, "\n"), strings.Split(want, "\n")))
			}
		}
	}
}

func TestEveryGeneratedRunEndsAndIsReplayed(t *testing.T) {
	for seed := range testscale.Of[uint64](50, 200) {
		g := generate(t, seed, true)
		r := newRun(g)
		drive(t, r, seed, genesis).finish()
		records := log(r)
		again := replay(t, g, records)
		if got := log(again); !slices.Equal(got, records) || !again.Done() || textOf(again.Result()) != textOf(r.Result()) {
			t.Fatalf("graph %d: replayed, done %v: %s", seed, again.Done(), difference(got, records))
		}
		for n := 0; n < len(records); n += 1 + len(records)/5 {
			cut := replay(t, g, records[:n])
			drive(t, cut, seed+uint64(n), last(cut)).finish()
		}
	}
}
