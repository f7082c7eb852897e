package server

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Reporter sends progress and log notifications to the client of one
// tools/call, if the client asked for them. It is safe for concurrent use.
// After the call is answered its methods do nothing, except that before
// revision 2026-07-28 Log still sends: over stdio, and over HTTP on an open
// event stream of the session.
type Reporter struct {
	ctx           context.Context // of the call: nobody waits for progress after its end
	meta          value.Value     // of the request
	level         string
	notify        func(method string, params value.Value)
	notifySession func(method string, params value.Value) // sends outside of the request; nil if that is impossible

	mu    sync.Mutex
	ended bool
	scale progressScale

	progressLimiter, logLimiter rateLimiter

	holds bool           // progress is held for progressDelay
	held  []heldProgress // is sent later, in order
	bytes int            // of held
	flush *time.Timer    // sends what is held; nil until something is
	alive *time.Timer    // until the next sign of life; nil without a progress token
	doing func() string  // may be nil
}

// heldProgress is the params of a progress notification, and when it is sent.
type heldProgress struct {
	at     time.Time
	params value.Value
	bytes  int
}

// maxHeldBytes is how much progress of a call is held. What is more is sent at once.
const maxHeldBytes = 64 << 10

// progressDelay is how long progress is held over pipes. Clients read what comes together
// as one, and some of them handle an answer first: they take progress that comes just
// before it for that of a call that they do not know. What the answer overtakes is dropped.
const progressDelay = 100 * time.Millisecond

// aliveInterval is how often a call with a progress token gives a sign of life. Many
// clients give a call up after a minute without any.
const aliveInterval = 15 * time.Second

// newReporter returns the reporter of a call. Its log level is the one that the
// client set for the request (since revision 2026-07-28) or for the session.
func newReporter(ctx context.Context, r *Request) *Reporter {
	p := &Reporter{ctx: ctx, meta: r.Meta, notify: r.peer.notify}
	if r.modern {
		p.level = r.Meta.Get(mcp.MetaKeyLogLevel).Str()
	} else {
		p.level, p.notifySession = string(r.session.logLevel()), r.peer.sessionNotifier()
	}
	if p.WantsProgress() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.holds = r.Transport == Pipe
		p.alive = time.AfterFunc(aliveInterval, p.signOfLife)
	}
	return p
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
// unknown; message may be empty. The last step is not dropped for want of room, but over
// pipes only steps are sent that end progressDelay before the call does.
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

// params returns the params of a progress notification.
func (r *Reporter) params(at float64, message string) value.Value {
	b := value.NewBuilder(4)
	b.Set("progressToken", r.meta.Get("progressToken"))
	b.Set("progress", value.FromFloat(at))
	if r.scale.total > 0 {
		b.Set("total", value.FromFloat(r.scale.total))
	}
	if message != "" {
		b.Set("message", value.FromString(message))
	}
	return b.Value()
}

// progress sends a progress notification, or holds it. r.mu is held.
func (r *Reporter) progress(at float64, message string) {
	if r.over() {
		return
	}
	if !r.holds {
		r.send(r.params(at, message))
		return
	}
	one := heldProgress{time.Now().Add(progressDelay), r.params(at, message), 128 + len(message)}
	r.held, r.bytes = append(r.held, one), r.bytes+one.bytes
	for r.bytes > maxHeldBytes {
		r.sendFirst()
	}
	switch {
	case len(r.held) == 0:
	case len(r.held) > 1: // the timer runs
	case r.flush == nil:
		r.flush = time.AfterFunc(progressDelay, r.sendHeld)
	default:
		r.flush.Reset(progressDelay)
	}
}

// over reports whether the call has ended, or was cancelled. r.mu is held.
func (r *Reporter) over() bool { return r.ended || r.ctx.Err() != nil }

// send sends a progress notification. r.mu is held.
func (r *Reporter) send(params value.Value) {
	r.notify(string(mcp.MethodNotificationProgress), params)
	if r.alive != nil {
		r.alive.Reset(aliveInterval)
	}
}

// sendHeld sends what was held for long enough.
func (r *Reporter) sendHeld() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for !r.over() && len(r.held) > 0 {
		if left := time.Until(r.held[0].at); left > 0 {
			r.flush.Reset(left)
			return
		}
		r.sendFirst()
	}
}

// sendFirst sends the first that is held. r.mu is held.
func (r *Reporter) sendFirst() {
	first := r.held[0]
	r.held, r.bytes = slices.Delete(r.held, 0, 1), r.bytes-first.bytes
	r.send(first.params)
}

// Doing sets what says in a few words what the call waits for now, for its signs of life.
// It may be called until the call ends, and must not block.
func (r *Reporter) Doing(words func() string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.doing = words
}

// signOfLife reports a little progress of a call that was silent.
func (r *Reporter) signOfLife() {
	r.mu.Lock()
	doing := r.doing
	r.mu.Unlock()
	words := "still at work"
	if doing != nil {
		words = doing()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over() || len(r.held) > 0 { // which is sent soon
		return
	}
	r.alive.Reset(aliveInterval)
	if at, ok := r.scale.advance(r.scale.last); ok {
		r.send(r.params(at, words))
	}
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
	r.ended, r.held, r.doing = true, nil, nil
	for _, t := range []*time.Timer{r.flush, r.alive} {
		if t != nil {
			t.Stop()
		}
	}
}
