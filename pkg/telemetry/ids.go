package telemetry

import (
	"context"
	"crypto/sha256"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/trace"
)

// IDs makes the ids of traces and spans: random ones, but for spans of durable runs,
// whose ids every process derives from the id of the run. It is an IDGenerator of
// OpenTelemetry's SDK, and safe for concurrent use.
type IDs struct{}

// NewIDs returns the ids of a span without a parent.
func (g IDs) NewIDs(ctx context.Context) (id trace.TraceID, span trace.SpanID) {
	if want, ok := ctx.Value(idsKey{}).(*wantedIDs); ok && want.taken.CompareAndSwap(false, true) {
		return want.trace, want.span
	}
	for !id.IsValid() {
		put(id[:8], rand.Uint64())
		put(id[8:], rand.Uint64())
	}
	return id, g.NewSpanID(ctx, id)
}

// NewSpanID returns the id of a span of a trace.
func (IDs) NewSpanID(ctx context.Context, _ trace.TraceID) (id trace.SpanID) {
	if want, ok := ctx.Value(idsKey{}).(*wantedIDs); ok && want.taken.CompareAndSwap(false, true) {
		return want.span
	}
	for !id.IsValid() {
		put(id[:], rand.Uint64())
	}
	return id
}

func put(to []byte, n uint64) {
	for i := range to {
		to[i] = byte(n >> (8 * i))
	}
}

type idsKey struct{}

// wantedIDs are the ids of the next span that begins in a context.
type wantedIDs struct {
	trace trace.TraceID
	span  trace.SpanID
	taken atomic.Bool
}

// withIDs returns a context whose next span has the id that is derived from that of a
// run and a name within it and, if it has no parent, the trace of the run.
func withIDs(ctx context.Context, run, name string) context.Context {
	want := &wantedIDs{span: spanIDOf(run, name)}
	sum := sha256.Sum256([]byte("mcpgraph trace\x00" + run))
	copy(want.trace[:], sum[:])
	return context.WithValue(ctx, idsKey{}, want)
}

// spanIDOf returns the id of the span of something within a run; that of the run
// itself if name is empty.
func spanIDOf(run, name string) (id trace.SpanID) {
	sum := sha256.Sum256([]byte("mcpgraph span\x00" + run + "\x00" + name))
	copy(id[:], sum[:])
	return id
}

// recentSpans is how many spans a process remembers that it has made: those of steps
// that Temporal may ask it to do again.
const recentSpans = 1 << 14

// recent knows the latest spans that were made.
type recent struct {
	mu    sync.Mutex
	known map[trace.SpanID]struct{}
	list  []trace.SpanID // a ring
	next  int
}

// first reports whether a span is not known, and notes it.
func (r *recent) first(id trace.SpanID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.known[id]; ok {
		return false
	}
	if r.known == nil {
		r.known = map[trace.SpanID]struct{}{}
	}
	r.known[id] = struct{}{}
	if len(r.list) < recentSpans {
		r.list = append(r.list, id)
		return true
	}
	delete(r.known, r.list[r.next])
	r.list[r.next] = id
	r.next = (r.next + 1) % recentSpans
	return true
}
