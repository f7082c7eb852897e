package executor

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Event is the kind of a Record.
type Event uint8

// The events of a run.
const (
	// Done: an execution is over, well or not.
	Done Event = iota
	// Opened: an execution waits for bodies, a called tool, a time or a person.
	Opened
	// Retried: an attempt failed; the next one begins at Until.
	Retried
	// Answered: the question of an execution has its answer.
	Answered
	// Cancelled: an execution in a body was ended for what happened beside it.
	// It changes nothing in the run.
	Cancelled
	// Replaced: the output of the execution, which is over, was set to another one
	// for what follows.
	Replaced
)

var eventNames = [...]string{"done", "opened", "retried", "answered", "cancelled", "replaced"}

// String returns the name of the event as it stands in JSON.
func (e Event) String() string { return eventNames[e] }

// Record is one entry in the log of a run. All records of a run in their order
// are the whole truth about it: [Replay] makes the run of them. A Record is JSON
// throughout but for Err, of which its Value has what graphs can know.
type Record struct {
	// Index counts the records of the run from 0.
	Index int
	Event Event
	// Do is what an opened execution waits for.
	Do graph.Verb
	// Frame names the walk that the execution is part of: empty for that of the
	// tool, else execution and body, outermost first, such as "4.0/2.17".
	Frame string
	// Path is the same for people: "sizes[17]", "both.news", "sub>".
	Path string
	// Node is the node's id, Kind the name of its type.
	Node, Kind string
	// Key is that of the node; see [graph.Node.Key]. It is not part of the JSON.
	Key string
	// Execution counts the executions of the walk from 0, Try the attempts of
	// this one from 1.
	Execution, Try int
	// Start and End are when the execution began and when this happened, by the
	// clock of the driver.
	Start, End time.Time
	// Until is when an opened or retried execution goes on by itself; zero where
	// it waits for something else.
	Until time.Time
	// Run is the id of the run that an opened execution waits for; empty for anything
	// else.
	Run string
	// Server and Tool are what the node calls upstream, Arguments what it sent
	// there. The first two are empty where the node calls nothing, and Arguments
	// is undefined where they could not be evaluated.
	Server, Tool string
	Arguments    value.Value
	// Unsent are the arguments that were not sent because their expressions gave nothing,
	// the first 20 of them, in words.
	Unsent []string
	// Output is JSON: what the execution yielded or, where it opened something,
	// the items, arguments, time or question. It is undefined where the node
	// yielded nothing or failed.
	Output value.Value
	// Err is why the execution failed, also where a rule handled that.
	Err error
	// Edge is the index of the edge taken (see [graph.Node.Way]), graph.NoEdge
	// where the walk ended.
	Edge int
	// Via is where that edge stands in the node, such as "next", and Next the id
	// of the node that it leads to; both are empty for graph.NoEdge.
	Via, Next string
	// Attempts and FromCache are those of the execution's upstream calls, 0 and
	// false where it made none.
	Attempts  int
	FromCache bool
	// Pinned is true where the node was not executed: a debugger set its output.
	Pinned bool
	// AttemptTimes are the attempts of the execution in their order, up to the last
	// 32: those by the node's rules and, within these, those by the retry of the
	// server's entry. In a record of event Retried they are those of the attempt that
	// failed. They are nil where one attempt was all; it took from Start to End.
	AttemptTimes []graph.Attempt
	// Reply is what the server answered to the latest call, the whole result object of
	// tools/call. It is undefined where there was none, and where it is not kept:
	// replies above 64 KiB, and the oldest ones of a run beyond 4 MiB. ReplyBytes is
	// about how many bytes that had.
	Reply      value.Value
	ReplyBytes int
	// Results are, in a record of opened bodies, the results of those whose own
	// records were dropped, undefined for all others; Failed are the indexes of
	// those that failed.
	Results []value.Value
	Failed  []int
}

// NodePath returns the way to the node, for people: "sizes[17].info". For a node
// of the tool's own walk it is the id.
func (r *Record) NodePath() string { return join(r.Path, r.Node) }

// ExecutionID is the ID of the task, see [Task.ID].
func (r *Record) ExecutionID() string { return executionID(r.Frame, r.Execution) }

// Value returns the record as JSON. [RecordFrom] reads it.
func (r *Record) Value() value.Value {
	b := value.NewBuilder(16)
	text := func(key, s string) {
		if s != "" {
			b.Set(key, value.FromString(s))
		}
	}
	number := func(key string, n int) {
		if n != 0 {
			b.Set(key, value.FromInt(int64(n)))
		}
	}
	data := func(key string, v value.Value) {
		if !v.IsUndefined() {
			b.Set(key, v)
		}
	}
	at := func(key string, t time.Time) {
		if !t.IsZero() {
			text(key, t.UTC().Format(time.RFC3339Nano))
		}
	}
	b.Set("index", value.FromInt(int64(r.Index)))
	text("event", r.Event.String())
	text("frame", r.Frame)
	text("path", r.Path)
	text("node", r.Node)
	text("type", r.Kind)
	b.Set("execution", value.FromInt(int64(r.Execution)))
	number("try", r.Try)
	at("start", r.Start)
	at("end", r.End)
	at("until", r.Until)
	number("do", int(r.Do))
	text("run", r.Run)
	text("server", r.Server)
	text("tool", r.Tool)
	data("arguments", r.Arguments)
	if r.Unsent != nil {
		b.Set("unsent", UnsentValue(r.Unsent))
	}
	data("output", r.Output)
	b.Set("edge", value.FromInt(int64(r.Edge)))
	number("attempts", r.Attempts)
	if r.FromCache {
		b.Set("fromCache", value.True)
	}
	if len(r.AttemptTimes) > 0 {
		b.Set("attemptTimes", timesValue(r.AttemptTimes))
	}
	data("reply", r.Reply)
	number("replyBytes", r.ReplyBytes)
	if r.Pinned {
		b.Set("pinned", value.True)
	}
	if r.Err != nil {
		b.Set("error", FailureOf(r.Err).Value())
		var failed *NodeError
		if errors.As(r.Err, &failed) {
			b.Set("at", place(failed.Pos, failed.End))
		}
	}
	if r.Results != nil {
		results, had := make([]value.Value, 0, len(r.Results)), make([]value.Value, 0, len(r.Results))
		for i, v := range r.Results {
			if !v.IsUndefined() {
				results, had = append(results, v), append(had, value.FromInt(int64(i)))
			}
		}
		b.Set("bodies", value.FromInt(int64(len(r.Results))))
		b.Set("results", value.FromArray(results))
		b.Set("finished", value.FromArray(had))
		b.Set("failed", ints(r.Failed))
	}
	return b.Value()
}

// UnsentValue returns what [Record.Unsent] has as a list of strings.
func UnsentValue(unsent []string) value.Value {
	vs := make([]value.Value, len(unsent))
	for i, text := range unsent {
		vs[i] = value.FromString(text)
	}
	return value.FromArray(vs)
}

func ints(list []int) value.Value {
	vs := make([]value.Value, len(list))
	for i, n := range list {
		vs[i] = value.FromInt(int64(n))
	}
	return value.FromArray(vs)
}

func place(from, to diag.Pos) value.Value {
	return ints([]int{from.Line, from.Col, to.Line, to.Col})
}

// RecordFrom reads what [Record.Value] returned, of a run of g. The error
// explains what is wrong with it.
func RecordFrom(g *graph.Graph, v value.Value) (Record, error) {
	count := func(key string) int { return whole(v.Get(key)) }
	text := func(key string) string { return v.Get(key).Str() }
	r := Record{
		Index: count("index"), Frame: text("frame"), Path: text("path"), Node: text("node"), Kind: text("type"),
		Execution: count("execution"), Try: count("try"), Do: graph.Verb(count("do")), Run: text("run"),
		Server: text("server"), Tool: text("tool"), Arguments: v.Get("arguments"), Output: v.Get("output"), Edge: count("edge"),
		Attempts: count("attempts"), FromCache: v.Get("fromCache").Bool(),
		Pinned: v.Get("pinned").Bool(), Reply: v.Get("reply"), ReplyBytes: count("replyBytes"),
	}
	for _, one := range v.Get("unsent").Elems() {
		r.Unsent = append(r.Unsent, one.Str())
	}
	known := false
	for i, name := range eventNames {
		if name == text("event") {
			r.Event, known = Event(i), true
		}
	}
	if !known {
		return r, fmt.Errorf("a record of a run has the unknown event %q", text("event"))
	}
	for key, to := range map[string]*time.Time{"start": &r.Start, "end": &r.End, "until": &r.Until} {
		if s := text(key); s != "" {
			at, err := time.Parse(time.RFC3339Nano, s)
			if err != nil {
				return r, fmt.Errorf("a record of a run has a %s that is no time: %w", key, err)
			}
			*to = at
		}
	}
	var err error
	if r.AttemptTimes, err = timesFrom(v.Get("attemptTimes")); err != nil {
		return r, err
	}
	if e := v.Get("error"); !e.IsUndefined() {
		failed := restored(g, graph.FailureFrom(e), v.Get("at"))
		if failed.Server != "" && failed.Path == r.NodePath() {
			failed.Arguments = r.Arguments
		}
		r.Err = failed
	}
	if n := count("bodies"); n > 0 {
		results, had := v.Get("results").Elems(), v.Get("finished").Elems()
		if n > maxBodies || len(results) != len(had) {
			return r, errors.New("a record of a run has results that do not belong to its bodies")
		}
		r.Results = make([]value.Value, n)
		for i, at := range had {
			if k := whole(at); k >= 0 && k < n {
				r.Results[k] = results[i]
			}
		}
		for _, at := range v.Get("failed").Elems() {
			r.Failed = append(r.Failed, whole(at))
		}
	}
	return r, nil
}

// whole returns a number without its fraction, 0 if there is none.
func whole(v value.Value) int {
	if v.Kind() != value.Number || !(math.Abs(v.Float()) < 1<<52) {
		return 0
	}
	return int(v.Float())
}

// restored returns the error of a record that was read.
func restored(g *graph.Graph, f *graph.Failure, at value.Value) *NodeError {
	e := &NodeError{
		Tool: g.Name, Node: f.Node, Kind: f.Type, Path: f.Path, File: g.File,
		Server: f.Server, UpstreamTool: f.Tool, Attempts: f.Attempts, Err: f,
	}
	e.deliberate = f.Path == f.Node && isDeliberate(g.Node(f.Node), f)
	if p := at.Elems(); len(p) == 4 {
		e.Pos = diag.Pos{Line: whole(p[0]), Col: whole(p[1])}
		e.End = diag.Pos{Line: whole(p[2]), Col: whole(p[3])}
	}
	return e
}
