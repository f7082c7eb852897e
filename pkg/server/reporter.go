package server

import (
	"context"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Reporter tells the client of one tools/call what happens before there is a
// result, where the client asked for it. Its methods may be called by any number
// of goroutines, and do nothing once the call has been answered, except that before
// revision 2026-07-28 Log goes on: over stdio, and over HTTP on a standing stream of
// the session where the client has opened one.
type Reporter struct {
	meta  value.Value // of the request
	level string
	send  func(method string, params value.Value)
	late  func(method string, params value.Value) // sends what belongs to no request; nil where nothing can

	mu    sync.Mutex
	over  bool
	scale scale

	progresses, logs flood
}

// newReporter returns the reporter of a call. Log messages have the level that the
// client asked for: for the request itself, as of revision 2026-07-28, or for its
// session.
func newReporter(r *Request) *Reporter {
	if r.modern {
		return &Reporter{meta: r.Meta, level: r.Meta.Get(mcp.MetaKeyLogLevel).Str(), send: r.from.notify}
	}
	return &Reporter{meta: r.Meta, level: string(r.session.logLevel()), send: r.from.notify, late: r.from.later}
}

// ReporterOf returns the reporter of the call that runs in ctx; nil outside of
// one. The methods of a nil Reporter do nothing.
func ReporterOf(ctx context.Context) *Reporter {
	if r := RequestOf(ctx); r != nil {
		return r.reporter
	}
	return nil
}

// Meta gives the _meta of the request; undefined where there is none.
func (r *Reporter) Meta() value.Value {
	if r == nil {
		return value.Undef
	}
	return r.meta
}

// LogLevel gives the lowest level of log messages that the client asked for
// ("debug" to "emergency", RFC 5424); empty where it asked for none.
func (r *Reporter) LogLevel() string {
	if r == nil {
		return ""
	}
	return r.level
}

// WantsProgress reports whether the client sent a progress token.
func (r *Reporter) WantsProgress() bool {
	k := r.Meta().Get("progressToken").Kind()
	return k == value.String || k == value.Number
}

// Progress sends a progress notification about what goes on within a step of
// the call, where the client wants them. progress counts up within one source to
// total, which is 0 where it is not known; message may be empty. What the client
// sees counts in steps and increases each time (MCP 2025-11-25, Progress): a
// source that goes back is not heard, and a new one goes on where the last one
// was. Of more than 1,000 notifications a second the rest is left out.
func (r *Reporter) Progress(source string, progress, total float64, message string) {
	if !r.WantsProgress() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if at, ok := r.scale.within(source, progress, total); ok && r.progresses.lets() {
		r.progress(at, message)
	}
}

// Step sends a progress notification that a step of the call is over, where the
// client wants them. left is how many steps will follow, less than 0 where that
// is not known; message may be empty. The last step is never left out.
func (r *Reporter) Step(left int, message string) {
	if !r.WantsProgress() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if at, ok := r.scale.step(left); ok && (left == 0 || r.progresses.lets()) {
		r.progress(at, message)
	}
}

func (r *Reporter) progress(at float64, message string) {
	if r.over {
		return
	}
	b := value.NewBuilder(4)
	b.Set("progressToken", r.meta.Get("progressToken"))
	b.Set("progress", value.FromFloat(at))
	if r.scale.total > 0 {
		b.Set("total", value.FromFloat(r.scale.total))
	}
	if message != "" {
		b.Set("message", value.FromString(message))
	}
	r.send(string(mcp.MethodNotificationProgress), b.Value())
}

// Log sends a log message, the params of notifications/message, where the
// client asked for messages of its level. Of more than 1,000 a second the rest is
// left out.
func (r *Reporter) Log(params value.Value) {
	level := mcp.LoggingLevel(params.Get("level").Str())
	if !level.ShouldSendTo(mcp.LoggingLevel(r.LogLevel())) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	send := r.send
	if r.over {
		send = r.late
	}
	if send != nil && r.logs.lets() {
		send(string(mcp.MethodNotificationMessage), params)
	}
}

// end lets nothing more be sent as part of the call.
func (r *Reporter) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
}
