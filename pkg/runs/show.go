package runs

import (
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// URI is where the runs of a caller are listed as a resource of MCP; what
// follows it and a slash is the id of one.
const URI = "mcpgraph://runs"

// Index returns the runs of a caller as JSON without their values: those under way,
// then those that are over, the newest first.
func (s *Store) Index(caller string) string {
	list := s.List(caller)
	entries := make([]value.Value, len(list))
	for i, r := range list {
		b := value.NewBuilder(8)
		b.Set("uri", value.FromString(URI+"/"+r.ID))
		r.summary(b)
		if r.Running {
			active(b, r.live.call.Run.Active(1))
		}
		entries[i] = b.Value()
	}
	b := value.NewBuilder(1)
	b.Set("runs", value.FromArray(entries))
	return b.Value().JSON()
}

// JSON returns the run with its whole history as JSON; of one under way, as it is
// now, with the executions under way as "active". What that takes is counted on
// held, which may be nil; the error is that of an account that is refused.
func (r *Run) JSON(held *memory.Account) (string, error) {
	r, err := r.read(held)
	if err != nil {
		return "", err
	}
	b := value.NewBuilder(12)
	r.summary(b)
	active(b, r.active)
	if r.Truncated {
		b.Set("truncated", value.True)
		return b.Value().JSON(), nil
	}
	if err := held.Grow(2 * r.size()); err != nil { // the values, and the text of all
		return "", err
	}
	run, err := r.replay()
	if err != nil {
		return "", err
	}
	b.Set("arguments", run.Args())
	if run.Done() && r.Err == "" {
		b.Set("result", run.Result())
	}
	var history []value.Value
	for _, rec := range run.History() {
		history = append(history, Execution(rec))
	}
	b.Set("history", value.FromArray(history))
	return b.Value().JSON(), held.Err()
}

// summary sets what is known without the values.
func (r *Run) summary(b *value.Builder) {
	b.Set("id", value.FromString(r.ID))
	b.Set("tool", value.FromString(r.Tool))
	status, ended := "ok", r.Ended
	switch {
	case r.Running:
		status, ended = "running", time.Now()
	case r.Err != "":
		status = "failed"
	}
	b.Set("status", value.FromString(status))
	times(b, r.Began, ended)
	b.Set("executions", value.FromInt(int64(r.Executions)))
	failure(b, r.Err)
}

// active sets the executions under way, if there are any.
func active(b *value.Builder, list []executor.Activity) {
	if len(list) == 0 {
		return
	}
	values := make([]value.Value, len(list))
	for i, a := range list {
		b := value.NewBuilder(8)
		b.Set("path", value.FromString(a.Path))
		b.Set("type", value.FromString(a.Kind))
		b.Set("state", value.FromString(a.State))
		if !a.Start.IsZero() {
			b.Set("start", value.FromString(a.Start.UTC().Format(time.RFC3339Nano)))
			b.Set("attempt", value.FromInt(int64(a.Try)))
		}
		if a.Server != "" {
			b.Set("server", value.FromString(a.Server))
			b.Set("tool", value.FromString(a.Tool))
		}
		values[i] = b.Value()
	}
	b.Set("active", value.FromArray(values))
}

// Execution returns one execution of a node as a JSON object: index, node,
// type, path (of a node in a body or called tool), tries (more than one), start (RFC
// 3339), durationMs, output, edge and next, attemptTimes and error; where the node
// calls a server also server, tool, arguments, unsent (if there are any), reply or replyBytes, attempts and
// fromCache.
func Execution(rec executor.Record) value.Value {
	b := value.NewBuilder(13)
	b.Set("index", value.FromInt(int64(rec.Index)))
	b.Set("node", value.FromString(rec.Node))
	b.Set("type", value.FromString(rec.Kind))
	if rec.Path != "" {
		b.Set("path", value.FromString(rec.NodePath()))
	}
	if rec.Try > 1 {
		b.Set("tries", value.FromInt(int64(rec.Try)))
	}
	times(b, rec.Start, rec.End)
	if rec.Server != "" {
		b.Set("server", value.FromString(rec.Server))
		b.Set("tool", value.FromString(rec.Tool))
		b.Set("arguments", rec.Arguments)
		if rec.Unsent != nil {
			b.Set("unsent", executor.UnsentValue(rec.Unsent))
		}
	}
	b.Set("output", rec.Output)
	if rec.Via != "" {
		b.Set("edge", value.FromString(rec.Via))
		b.Set("next", value.FromString(rec.Next))
	}
	if rec.Attempts > 0 || rec.FromCache {
		b.Set("attempts", value.FromInt(int64(rec.Attempts)))
		b.Set("fromCache", value.FromBool(rec.FromCache))
	}
	if !rec.Reply.IsUndefined() {
		b.Set("reply", rec.Reply)
	} else if rec.ReplyBytes > 0 {
		b.Set("replyBytes", value.FromInt(int64(rec.ReplyBytes)))
	}
	if rec.AttemptTimes != nil {
		b.Set("attemptTimes", attemptTimes(rec.AttemptTimes))
	}
	if rec.Err != nil {
		failure(b, rec.Err.Error())
	}
	return b.Value()
}

func attemptTimes(list []graph.Attempt) value.Value {
	values := make([]value.Value, len(list))
	for i, one := range list {
		b := value.NewBuilder(3)
		times(b, one.Start, one.End)
		if one.Err != nil {
			failure(b, one.Err.Error())
		}
		values[i] = b.Value()
	}
	return value.FromArray(values)
}

func times(b *value.Builder, start, end time.Time) {
	b.Set("start", value.FromString(start.UTC().Format(time.RFC3339Nano)))
	b.Set("durationMs", value.FromFloat(float64(end.Sub(start).Microseconds())/1000))
}

func failure(b *value.Builder, text string) {
	if text != "" {
		b.Set("error", value.FromString(text))
	}
}
