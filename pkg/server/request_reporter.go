package server

import (
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Reporter sends progress and log notifications to the client of one
// tools/call, if the client asked for them. It is safe for concurrent use.
// After the call is answered its methods do nothing, except that before
// revision 2026-07-28 Log still sends: over stdio, and over HTTP on an open
// event stream of the session.
type Reporter struct {
	meta          value.Value // of the request
	level         string
	notify        func(method string, params value.Value)
	notifySession func(method string, params value.Value) // sends outside of the request; nil if that is impossible

	mu    sync.Mutex
	ended bool
	scale progressScale

	progressLimiter, logLimiter rateLimiter
}

// newReporter returns the reporter of a call. Its log level is the one that the
// client set for the request (since revision 2026-07-28) or for the session.
func newReporter(r *Request) *Reporter {
	if r.modern {
		return &Reporter{meta: r.Meta, level: r.Meta.Get(mcp.MetaKeyLogLevel).Str(), notify: r.peer.notify}
	}
	return &Reporter{meta: r.Meta, level: string(r.session.logLevel()), notify: r.peer.notify, notifySession: r.peer.sessionNotifier()}
}

// Meta returns the _meta of the request; undefined if there is none.
func (r *Reporter) Meta() value.Value {
	if r == nil {
		return value.Undef
	}
	return r.meta
}

// LogLevel returns the lowest level of log messages that the client asked for
// ("debug" to "emergency", RFC 5424); empty if it asked for none.
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

// Progress sends a progress notification from within a step, if the client
// asked for progress. progress increases within one source up to total, which
// is 0 if it is unknown; message may be empty. The client sees steps as units,
// and a value that always increases (MCP 2025-11-25, Progress): progress that
// goes back is ignored, and a new source continues where the last one was.
// Beyond 1,000 notifications per second, further ones are dropped.
func (r *Reporter) Progress(source string, progress, total float64, message string) {
	if !r.WantsProgress() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if at, ok := r.scale.report(source, progress, total); ok && r.progressLimiter.allow() {
		r.progress(at, message)
	}
}

// Step sends a progress notification for a finished step, if the client asked
// for progress. left is the number of steps that follow, less than 0 if it is
// unknown; message may be empty. The last step is never dropped.
func (r *Reporter) Step(left int, message string) {
	if !r.WantsProgress() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if at, ok := r.scale.finishStep(left); ok && (left == 0 || r.progressLimiter.allow()) {
		r.progress(at, message)
	}
}

func (r *Reporter) progress(at float64, message string) {
	if r.ended {
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
	r.notify(string(mcp.MethodNotificationProgress), b.Value())
}

// Log sends params as notifications/message if the client asked for messages of
// its level. Beyond 1,000 messages per second, further ones are dropped.
func (r *Reporter) Log(params value.Value) {
	level := mcp.LoggingLevel(params.Get("level").Str())
	if !level.ShouldSendTo(mcp.LoggingLevel(r.LogLevel())) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	send := r.notify
	if r.ended {
		send = r.notifySession
	}
	if send != nil && r.logLimiter.allow() {
		send(string(mcp.MethodNotificationMessage), params)
	}
}

// end stops everything that belongs to the call.
func (r *Reporter) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
}
