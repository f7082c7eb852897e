package runs

import (
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
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
	b.Set("arguments", r.shown(run.Args()))
	if r.Err == "" {
		b.Set("result", r.shown(run.Result()))
	}
	var history []value.Value
	for _, rec := range run.History() {
		history = append(history, r.record(rec))
	}
	b.Set("history", value.FromArray(history))
	return b.Value().JSON(), nil
}

// shown gives a value without secrets. A number that has one in its digits
// becomes a string.
func (r *Run) shown(v value.Value) value.Value {
	if r.redact == nil {
		return v
	}
	switch v.Kind() {
	case value.String:
		return value.FromString(r.redact(v.Str()))
	case value.Number:
		text := v.JSON()
		if clean := r.redact(text); clean != text {
			return value.FromString(clean)
		}
	case value.Array:
		elems := make([]value.Value, v.Len())
		for i, e := range v.Elems() {
			elems[i] = r.shown(e)
		}
		return value.FromArray(elems)
	case value.Object:
		b := value.NewBuilder(v.Len())
		for _, e := range v.Entries() {
			b.Set(r.redact(e.Key), r.shown(e.Value))
		}
		return b.Value()
	}
	return v
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
	r.failure(b, r.Err)
}

func (r *Run) record(rec executor.Record) value.Value {
	b := value.NewBuilder(10)
	b.Set("index", value.FromInt(int64(rec.Index)))
	b.Set("node", value.FromString(rec.Node))
	b.Set("type", value.FromString(rec.Kind))
	times(b, rec.Start, rec.End)
	b.Set("output", r.shown(rec.Output))
	if rec.Edge != graph.NoEdge {
		edge := r.graph.Node(rec.Node).Edges[rec.Edge]
		b.Set("edge", value.FromString(edge.Field))
		b.Set("next", value.FromString(edge.Target))
	}
	if rec.Attempts > 0 || rec.FromCache {
		b.Set("attempts", value.FromInt(int64(rec.Attempts)))
		b.Set("fromCache", value.FromBool(rec.FromCache))
	}
	if rec.Err != nil {
		r.failure(b, rec.Err.Error())
	}
	return b.Value()
}

func times(b *value.Builder, start, end time.Time) {
	b.Set("startedAt", value.FromString(start.UTC().Format("2006-01-02T15:04:05.000Z07:00")))
	b.Set("durationMs", value.FromFloat(float64(end.Sub(start).Microseconds())/1000))
}

func (r *Run) failure(b *value.Builder, text string) {
	if text != "" {
		if r.redact != nil {
			text = r.redact(text)
		}
		b.Set("error", value.FromString(text))
	}
}
