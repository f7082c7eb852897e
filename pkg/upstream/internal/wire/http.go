package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/redact"
)

// HTTP carries one session over streamable HTTP (MCP of 2025-03-26 and
// later): each message is a POST, and what the server says comes as JSON or as
// a stream of events.
type HTTP struct {
	HTTPOptions
	in        atomic.Pointer[Handler]
	id        atomic.Pointer[string] // of the session; nil if there is none
	forgotten atomic.Bool            // the server does not know the session any more
	replying  atomic.Int32           // answers of ours that are being posted
	heard     atomic.Bool            // the server has opened the stream on which it speaks unasked

	mu      sync.Mutex
	waiting map[string]*pendingAnswer // by the request's id

	life context.Context // ends with the link
	kill context.CancelFunc
	done chan struct{}
	runs sync.WaitGroup // listening and replying
	once sync.Once
}

var _ Link = (*HTTP)(nil)

// HTTPOptions are the settings of a link over HTTP.
type HTTPOptions struct {
	Client *http.Client
	URL    string
	Header http.Header // of each request
	// Credentials returns the credentials of the request with this context, as
	// further headers.
	Credentials func(context.Context) (http.Header, error)
	Limit       int64 // bytes of a message
	Log         *PeerLog
	// KeepSession says that the end of the link does not end the session.
	KeepSession bool
	Life        context.Context // requests under way end with it
}

// OpenHTTP returns a link over streamable HTTP. It sends nothing yet. Messages
// without a context of their own carry the values of ctx.
func OpenHTTP(ctx context.Context, o HTTPOptions) *HTTP {
	l := &HTTP{HTTPOptions: o, waiting: map[string]*pendingAnswer{}, done: make(chan struct{})}
	l.life, l.kill = context.WithCancel(context.WithoutCancel(ctx))
	return l
}

func (l *HTTP) Attach(in *Handler) { l.in.Store(in) }

func (l *HTTP) Done() <-chan struct{} { return l.done }

func (l *HTTP) PeerLog() *PeerLog { return l.Log }

// Resume goes on with the session that has this id.
func (l *HTTP) Resume(id string) { l.id.Store(&id) }

// Forget notes that the server does not know the session any more, so that its end
// need not be told.
func (l *HTTP) Forget() { l.forgotten.Store(true) }

// SessionID returns the id of the session; empty if there is none.
func (l *HTTP) SessionID() string {
	if id := l.id.Load(); id != nil {
		return *id
	}
	return ""
}

// Heard reports whether the server has opened the stream of [HTTP.Listen].
func (l *HTTP) Heard() bool { return l.heard.Load() }

// pendingAnswer is a request whose answer may come on another stream than its own.
type pendingAnswer struct {
	got    *answer
	cancel func() // stops waiting on its own
}

// Request posts a request and waits for its result.
func (l *HTTP) Request(ctx context.Context, m *Message) (json.RawMessage, error) {
	h, release := detach(ctx, l.Life)
	defer release()
	if m.Revision == ModernRevision {
		result, err := l.exchange(h, m)
		return result, h.causeOf(ctx, err)
	}
	w := &pendingAnswer{cancel: h.cancel}
	l.mu.Lock()
	l.waiting[m.ID] = w
	l.mu.Unlock()
	result, err := l.exchange(h, m)
	l.mu.Lock()
	delete(l.waiting, m.ID)
	got := w.got
	l.mu.Unlock()
	if got != nil {
		return got.result, got.err
	}
	return result, h.causeOf(ctx, err)
}

// deliver takes an answer that came on the stream on which the server speaks
// unasked. Servers send it there when the request's own stream has ended.
func (l *HTTP) deliver(id string, a answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.waiting[id]
	if w == nil || w.got != nil {
		l.Log.unexpected("an answer with an id that no request waits for: " + redact.Quote([]byte(id)))
		return
	}
	w.got = &a
	w.cancel()
}

// exchange posts a request and reads what comes back.
func (l *HTTP) exchange(h *requestContext, m *Message) (json.RawMessage, error) {
	ctx := context.Context(h)
	response, err := l.post(ctx, m)
	if err != nil {
		return nil, err
	}
	if m.Method == string(mcp.MethodInitialize) {
		if id := response.Header.Get(mcp.HeaderSessionID); id != "" {
			l.id.Store(&id)
		}
	}
	var got *answer
	odd := "an empty answer"
	r := &receiver{limit: l.Limit, account: memory.AccountOf(ctx), origin: m.ID, reply: l.reply, unexpected: func(what string) {
		odd = what
		l.Log.unexpected(what)
	}}
	r.in.Store(l.in.Load())
	r.deliver = func(to string, a answer) {
		switch {
		case to != m.ID:
			r.unexpected("an answer with an id that no request waits for: " + redact.Quote([]byte(to)))
		case got == nil:
			got = &a
		}
	}
	r.deliverOnly = func(_ string, a answer) {
		if got == nil {
			got = &a
		}
	}
	answered := func() bool { return got != nil }
	switch kind := contentType(response); kind {
	case "application/json":
		defer response.Body.Close()
		if err = readMessage(response.Body, response.ContentLength, r); err == nil && got == nil {
			err = fmt.Errorf("%w: %s", ErrMalformed, odd)
		}
	case "text/event-stream":
		defer h.drain(response.Body)
		err = l.follow(ctx, response.Body, r, m.Revision, answered)
	default:
		discard(response)
		return nil, &ContentTypeError{response.StatusCode, kind}
	}
	switch {
	case got != nil:
		return got.result, got.err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, ErrMalformed):
		return nil, err
	case err != nil:
		return nil, both(ErrLost, err)
	}
	return nil, both(ErrLost, EndedError("ended its answer"))
}

// readMessage takes a body that is one message, of size bytes where that is
// known.
func readMessage(body io.Reader, size int64, r *receiver) error {
	var e jsonrpc.Envelope
	if size <= 0 || size > maxPresize {
		size = minRead
	}
	var text []byte
	defer func() { r.account.Shrink(int64(cap(text))) }()
	for {
		if cap(text)-len(text) == 0 {
			next := max(2*int64(cap(text)), size+1) // one more, to see the end without growing
			if err := r.account.Grow(next - int64(cap(text))); err != nil {
				r.deliverOnly("", answer{err: err})
				return nil
			}
			text = append(make([]byte, 0, next), text...)
		}
		n, err := body.Read(text[len(text):cap(text)])
		e.Feed(text[len(text) : len(text)+n])
		text = text[:len(text)+n]
		if int64(len(text)) > r.limit {
			// Only one answer can come here, so the rest tells nothing.
			r.deliverOnly("", answer{err: &TooLongError{r.limit}})
			return nil
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			r.receive(text, &e, e.Unfinished())
			return nil
		default:
			r.receive(text, &e, true)
			return EndedError("broke the connection: " + err.Error())
		}
	}
}

// Sizes of the buffer of a body.
const (
	minRead    = 512
	maxPresize = 1 << 20 // of what a server claims to send
)

// follow takes the events of an answer until it is there. A stream that ends
// before, and whose events had ids, is asked for the rest (MCP of 2025-11-25,
// resumability).
func (l *HTTP) follow(ctx context.Context, body io.Reader, r *receiver, revision string, answered func() bool) error {
	var cursor cursor
	var pause Backoff
	for {
		_, err := readEvents(body, r, &cursor, answered)
		if answered() {
			return nil
		}
		if cursor.id == "" || revision == ModernRevision || ctx.Err() != nil {
			if err == nil {
				err = EndedError("ended its answer")
			}
			return err
		}
		for was := Useful; ; was = Failed {
			if !pause.Wait(ctx, cursor.retry, was) {
				return ctx.Err()
			}
			response, err := l.get(ctx, revision, cursor.id)
			if err == nil {
				defer response.Body.Close()
				body = response.Body
				break
			}
			var status *StatusError
			if errors.As(err, &status) && isFinal(status.Status) {
				return err
			}
		}
	}
}

// isFinal reports whether a request for a stream that was answered with this HTTP status
// need not be made again. A server may not have noticed the end of the last stream (409).
func isFinal(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return status < http.StatusInternalServerError
}

// Notify posts a notification.
func (l *HTTP) Notify(ctx context.Context, m *Message) error {
	if m.Revision == ModernRevision && m.Method == string(mcp.MethodNotificationCancelled) {
		return nil // the end of the request said it
	}
	response, err := l.post(ctx, m)
	if err != nil {
		return err
	}
	discard(response)
	return nil
}

// replyTime bounds how long an answer of ours is posted.
const replyTime = 10 * time.Second

// maxPostedReplies is how many answers of ours are posted at a time. The rest is dropped:
// it belongs to a flood of requests.
const maxPostedReplies = 200

// reply posts an answer of ours in the background.
func (l *HTTP) reply(message []byte) {
	if l.replying.Add(1) > maxPostedReplies {
		l.replying.Add(-1)
		l.Log.unexpected("more requests than it takes answers")
		return
	}
	l.inBackground(func() {
		defer l.replying.Add(-1)
		ctx, cancel := context.WithTimeout(l.life, replyTime)
		defer cancel()
		if response, err := l.send(ctx, http.MethodPost, message, &Message{}); err == nil {
			discard(response)
		}
	})
}

// inBackground runs f unless the link is over.
func (l *HTTP) inBackground(f func()) {
	if l.life.Err() == nil {
		l.runs.Go(f)
	}
}

// Listen keeps the stream open on which the server speaks unasked, if it has one.
// The channel is closed once it is open, or will not open for now.
func (l *HTTP) Listen(ctx context.Context, revision string) <-chan struct{} {
	open := make(chan struct{})
	l.inBackground(func() {
		settled := sync.OnceFunc(func() { close(open) })
		defer settled()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(l.life, cancel)()
		r := &receiver{limit: l.Limit, account: l.Log.Budget.Account(""), unexpected: l.Log.unexpected, reply: l.reply}
		defer r.account.Close()
		r.in.Store(l.in.Load())
		r.deliver = l.deliver
		r.deliverOnly = func(string, answer) {} // it was odd already
		var cursor cursor
		var pause Backoff
		for {
			response, err := l.get(ctx, revision, cursor.id)
			again := l.heard.Load()
			l.heard.Store(again || err == nil)
			settled()
			in := r.in.Load()
			was := Failed
			var status *StatusError
			var kind *ContentTypeError
			switch {
			case errors.As(err, &status) && isFinal(status.Status), errors.As(err, &kind):
				if again && in != nil && in.Lost != nil {
					in.Lost(err)
				}
				return // it has no such stream, or forgot the session
			case err == nil:
				if again && in != nil && in.Resumed != nil {
					in.Resumed()
				}
				was = Silent
				if came, _ := readEvents(response.Body, r, &cursor, func() bool { return false }); came {
					was = Useful
				}
				response.Body.Close()
			}
			if !pause.Wait(ctx, cursor.retry, was) {
				return
			}
		}
	})
	return open
}

// Close closes the session and waits until nothing of the link runs.
func (l *HTTP) Close(ctx context.Context) {
	l.once.Do(func() {
		if id := l.SessionID(); id != "" && !l.KeepSession && !l.forgotten.Load() && ctx.Err() == nil {
			ctx, cancel := context.WithTimeout(ctx, exitAfterEOF)
			if response, err := l.send(ctx, http.MethodDelete, nil, &Message{}); err == nil {
				discard(response)
			}
			cancel()
		}
		l.kill()
		close(l.done)
	})
	l.runs.Wait()
}
