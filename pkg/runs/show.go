package runs

import (
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// URI is where the runs of a caller are listed as a resource of MCP; what
// follows it and a slash is the id of one.
const URI = "mcpgraph://runs"

// Index gives the runs of a caller as JSON, the newest first, without their
// values.
func (s *Store) Index(caller string) string {
	list := s.List(caller)
	entries := make([]value.Value, len(list))
	for i, r := range list {
		b := value.NewBuilder(8)
		b.Set("uri", value.FromString(URI+"/"+r.ID))
		r.summary(b)
		entries[i] = b.Value()
	}
	b := value.NewBuilder(1)
	b.Set("runs", value.FromArray(entries))
	return b.Value().JSON()
}

// JSON gives the run with its whole history as JSON.
func (r *Run) JSON() (string, error) {
	run, err := r.Replay()
	if err != nil {
		return "", err
	}
	b := value.NewBuilder(12)
	r.summary(b)
	if r.Truncated {
		b.Set("truncated", value.True)
		return b.Value().JSON(), nil
	}
	b.Set("arguments", run.Args())
	if r.Err == "" {
		b.Set("result", run.Result())
	}
	var history []value.Value
	for _, rec := range run.History() {
		history = append(history, Execution(rec))
	}
	b.Set("history", value.FromArray(history))
	return b.Value().JSON(), nil
}

// summary sets what is known without the values.
func (r *Run) summary(b *value.Builder) {
	b.Set("id", value.FromString(r.ID))
	b.Set("tool", value.FromString(r.Tool))
	status := "ok"
	if r.Err != "" {
		status = "failed"
	}
	b.Set("status", value.FromString(status))
	times(b, r.Began, r.Ended)
	b.Set("executions", value.FromInt(int64(r.Executions)))
	failure(b, r.Err)
}

// Execution returns one execution of a node as a JSON object: index, node,
// type, start (RFC 3339), durationMs, output, edge and next, and error; where the
// node calls a server also server, tool, arguments, attempts and fromCache.
func Execution(rec executor.Record) value.Value {
	b := value.NewBuilder(13)
	b.Set("index", value.FromInt(int64(rec.Index)))
	b.Set("node", value.FromString(rec.Node))
	b.Set("type", value.FromString(rec.Kind))
	times(b, rec.Start, rec.End)
	if rec.Server != "" {
		b.Set("server", value.FromString(rec.Server))
		b.Set("tool", value.FromString(rec.Tool))
		b.Set("arguments", rec.Arguments)
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
	if rec.Err != nil {
		failure(b, rec.Err.Error())
	}
	return b.Value()
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
