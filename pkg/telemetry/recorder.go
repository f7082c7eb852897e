package telemetry

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Subject is the file whose tools are observed.
type Subject struct {
	// Tool reports whether the file has a tool of this name. Names that a client
	// makes up are not put into names of spans and metrics.
	Tool func(name string) bool
	// Server returns the address of a server of the file.
	Server func(name string) Endpoint
	// Redact takes secrets out of a text: those of the file, and those of the
	// caller of a call with info.
	Redact func(info *callinfo.Info, text string) string
	// Mask returns arguments of an upstream tool, or of a tool of the file if server is
	// empty, without those that hold secrets. It may be nil.
	Mask executor.MaskFunc
}

// Endpoint is where a server is.
type Endpoint struct {
	Transport string // server.Pipe or server.TCP; empty where it is not known
	Address   string // host name; empty for a pipe
	Port      int    // 0 where it is not known
}

// Recorder observes the tools of one file. It is safe for concurrent use.
type Recorder struct {
	*Telemetry
	subject Subject
	made    recent // spans of durable runs
}

// Recorder returns what observes the tools of a file.
func (t *Telemetry) Recorder(s Subject) *Recorder { return &Recorder{Telemetry: t, subject: s} }

// Caller returns a caller that calls through next: each call becomes a span of
// kind CLIENT and a measurement, and carries the span to the server.
func (r *Recorder) Caller(next graph.Caller) graph.Caller { return &caller{r, next} }

// Hooks observe the run of a call with info: it becomes a span of kind INTERNAL,
// and below it each execution of a node another one.
func (r *Recorder) Hooks(info *callinfo.Info) executor.Hooks {
	o := &runObserver{r, info.OrNone(), false}
	return executor.Hooks{RunStart: o.runStart, RunDone: o.runDone, NodeStart: o.nodeStart, NodeRetry: o.nodeRetry, NodeDone: o.nodeDone}
}

// DurableRun begins to observe a run that began at a time. info has the id of the run
// and, in Trace, what the run is part of.
func (r *Recorder) DurableRun(info *callinfo.Info, run *executor.Run, began time.Time) *DurableRun {
	o := &DurableRun{runObserver: runObserver{r, info.OrNone(), true}, run: run, retried: map[string][]executor.Record{}}
	ctx := withIDs(extracted(context.Background(), o.info.Trace), o.info.RunID, "")
	o.ctx = o.startRun(ctx, run, trace.WithTimestamp(began))
	for rec := range run.Records(0) { // those of the processes before
		o.noteRetry(rec)
	}
	o.own = trace.SpanContextFromContext(o.ctx).SpanID() == spanIDOf(o.info.RunID, "")
	return o
}

// Continued returns the context of a call that this process makes for a run that
// another one drives: with the span of its node, which info.Trace names, and the id for
// its own.
func (r *Recorder) Continued(ctx context.Context, info *callinfo.Info) context.Context {
	if info.CallID == "" {
		return ctx
	}
	return withIDs(extracted(ctx, info.Trace), info.RunID, info.CallID)
}

// Trace returns the members of _meta that carry the span of ctx on; those that info has
// if there is none.
func (r *Recorder) Trace(ctx context.Context, info *callinfo.Info) []value.Entry {
	return traceMembers(ctx, info.OrNone().Trace)
}

// maxName bounds, in bytes, what foreign programs name: ids of requests and
// sessions, tools and hosts.
const maxName = 256

// attributes collects those of one span.
type attributes []attribute.KeyValue

// text adds an attribute that may come from a foreign program, unless it is
// empty.
func (a *attributes) text(key, s string) {
	if s != "" {
		*a = append(*a, attribute.String(key, cut(s, maxName)))
	}
}

func (a *attributes) port(n int) {
	if n != 0 {
		*a = append(*a, attribute.Int("server.port", n))
	}
}

// show returns an attribute that shows v if content may be shown.
func (r *Recorder) show(info *callinfo.Info, key string, v value.Value) []attribute.KeyValue {
	if !r.content || v.IsUndefined() {
		return nil
	}
	clean := v.Rewritten(func(s string) string { return r.subject.Redact(info, s) })
	return []attribute.KeyValue{attribute.String(key, cut(clean.JSON(), r.limit))}
}

// arguments is show for those of a tool.
func (r *Recorder) arguments(info *callinfo.Info, key, server, tool string, args value.Value) []attribute.KeyValue {
	if r.content && r.subject.Mask != nil && !args.IsUndefined() {
		args = r.subject.Mask(server, tool, args)
	}
	return r.show(info, key, args)
}

// text takes secrets out of a text, and cuts it. Spans wait to be sent, and must not
// keep the message that the text is from.
func (r *Recorder) text(info *callinfo.Info, s string) string {
	return strings.Clone(cut(r.subject.Redact(info, s), r.limit))
}

// cut shortens s to limit bytes, the mark of it aside, and leaves no half of a
// character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return valid(s)
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return valid(s[:limit]) + "…"
}

// valid replaces what is not UTF-8. One such byte would make a whole batch of
// spans or log records unfit for OTLP.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
