package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// httpLink carries one session over streamable HTTP (MCP of 2025-03-26 and
// later): each message is a POST, and what the server says comes as JSON or as
// a stream of events.
type httpLink struct {
	client    *http.Client
	url       string
	header    http.Header // the entry's own
	limit     int64
	diary     *diary
	in        atomic.Pointer[inbound]
	id        atomic.Pointer[string] // of the session; nil where there is none
	keep      bool                   // leave the session open at the end
	forgotten atomic.Bool            // the server does not know the session any more

	mu      sync.Mutex
	waiting map[string]*elsewhere // by the request's id

	pool context.Context // ends with the pool, and with it requests under way
	life context.Context // ends with the link
	kill context.CancelFunc
	done chan struct{}
	runs sync.WaitGroup // listening and replying
	once sync.Once
}

var _ link = (*httpLink)(nil)

func (l *httpLink) attach(in *inbound) { l.in.Store(in) }

func (l *httpLink) over() <-chan struct{} { return l.done }

func (l *httpLink) seen() *diary { return l.diary }

// session returns the id of the session; empty where there is none.
func (l *httpLink) session() string {
	if id := l.id.Load(); id != nil {
		return *id
	}
	return ""
}

// elsewhere is a request whose answer may come on another stream than its own.
type elsewhere struct {
	got    *answer
	cancel func() // stops waiting on its own
}

// request posts a request and waits for its result.
func (l *httpLink) request(ctx context.Context, m *outgoing) (json.RawMessage, error) {
	h, release := detach(ctx, l.pool)
	defer release()
	if m.revision == modernRevision {
		result, err := l.exchange(h, m)
		return result, h.because(ctx, err)
	}
	w := &elsewhere{cancel: h.cancel}
	l.mu.Lock()
	l.waiting[m.id] = w
	l.mu.Unlock()
	result, err := l.exchange(h, m)
	l.mu.Lock()
	delete(l.waiting, m.id)
	got := w.got
	l.mu.Unlock()
	if got != nil {
		return got.result, got.err
	}
	return result, h.because(ctx, err)
}

// deliver takes an answer that came on the stream on which the server speaks
// unasked. Servers send it there when the request's own stream has ended.
func (l *httpLink) deliver(id string, a answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.waiting[id]
	if w == nil || w.got != nil {
		l.diary.wrong("an answer with an id that no request waits for: " + quote([]byte(id)))
		return
	}
	w.got = &a
	w.cancel()
}

// exchange posts a request and reads what comes back.
func (l *httpLink) exchange(h *detached, m *outgoing) (json.RawMessage, error) {
	ctx := context.Context(h)
	response, err := l.post(ctx, m)
	if err != nil {
		return nil, err
	}
	if m.method == string(mcp.MethodInitialize) {
		if id := response.Header.Get(mcp.HeaderSessionID); id != "" {
			l.id.Store(&id)
		}
	}
	var got *answer
	odd := "an empty answer"
	r := &receiver{limit: l.limit, held: memory.AccountOf(ctx), origin: m.id, reply: l.reply, odd: func(what string) {
		odd = what
		l.diary.wrong(what)
	}}
	r.in.Store(l.in.Load())
	r.deliver = func(to string, a answer) {
		switch {
		case to != m.id:
			r.odd("an answer with an id that no request waits for: " + quote([]byte(to)))
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
			err = fmt.Errorf("%w: %s", errBroken, odd)
		}
	case "text/event-stream":
		defer h.finish(response.Body)
		err = l.follow(ctx, response.Body, r, m.revision, answered)
	default:
		drop(response)
		return nil, &contentTypeError{response.StatusCode, kind}
	}
	switch {
	case got != nil:
		return got.result, got.err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, errBroken):
		return nil, err
	case err != nil:
		return nil, both(errLost, err)
	}
	return nil, both(errLost, overError("ended its answer"))
}

// readMessage takes a body that is one message, of size bytes where that is
// known.
func readMessage(body io.Reader, size int64, r *receiver) error {
	var e jsonrpc.Envelope
	if size <= 0 || size > maxPresize {
		size = minRead
	}
	var text []byte
	defer func() { r.held.Shrink(int64(cap(text))) }()
	for {
		if cap(text)-len(text) == 0 {
			next := max(2*int64(cap(text)), size+1) // one more, to see the end without growing
			if err := r.held.Grow(next - int64(cap(text))); err != nil {
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
			r.deliverOnly("", answer{err: &tooLongError{r.limit}})
			return nil
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			r.take(text, &e, e.Unfinished())
			return nil
		default:
			r.take(text, &e, true)
			return overError("broke the connection: " + err.Error())
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
func (l *httpLink) follow(ctx context.Context, body io.Reader, r *receiver, revision string, answered func() bool) error {
	var cursor cursor
	var pause pause
	for {
		err := readEvents(body, r, &cursor, answered)
		if answered() {
			return nil
		}
		if cursor.id == "" || revision == modernRevision || ctx.Err() != nil {
			if err == nil {
				err = overError("ended its answer")
			}
			return err
		}
		for {
			if !pause.wait(ctx, cursor.retry) {
				return ctx.Err()
			}
			response, err := l.get(ctx, revision, cursor.id)
			if err == nil {
				defer response.Body.Close()
				body = response.Body
				break
			}
			var status *statusError
			if errors.As(err, &status) && status.Status < http.StatusInternalServerError {
				return err
			}
		}
	}
}

// notify posts a notification.
func (l *httpLink) notify(ctx context.Context, m *outgoing) error {
	if m.revision == modernRevision && m.method == string(mcp.MethodNotificationCancelled) {
		return nil // the end of the request said it
	}
	response, err := l.post(ctx, m)
	if err != nil {
		return err
	}
	drop(response)
	return nil
}

// reply posts an answer of ours in the background.
func (l *httpLink) reply(message []byte) {
	l.inBackground(func() {
		ctx, cancel := context.WithTimeout(l.life, tellTime)
		defer cancel()
		if response, err := l.send(ctx, http.MethodPost, message, &outgoing{}); err == nil {
			drop(response)
		}
	})
}

// inBackground runs f unless the link is over.
func (l *httpLink) inBackground(f func()) {
	if l.life.Err() == nil {
		l.runs.Go(f)
	}
}

// listen holds the stream on which the server speaks unasked, where it has one.
// The channel is closed once it is open, or will not open for now.
func (l *httpLink) listen(ctx context.Context, revision string) <-chan struct{} {
	open := make(chan struct{})
	l.inBackground(func() {
		settled := sync.OnceFunc(func() { close(open) })
		defer settled()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(l.life, cancel)()
		r := &receiver{limit: l.limit, held: l.diary.budget.Account(""), odd: l.diary.wrong, reply: l.reply}
		defer r.held.Close()
		r.in.Store(l.in.Load())
		r.deliver = l.deliver
		r.deliverOnly = func(string, answer) {} // it was odd already
		var cursor cursor
		var pause pause
		for {
			response, err := l.get(ctx, revision, cursor.id)
			settled()
			var status *statusError
			var kind *contentTypeError
			switch {
			case errors.As(err, &status) && status.Status < http.StatusInternalServerError, errors.As(err, &kind):
				return // it has no such stream, or forgot the session, which the next call will find out
			case err == nil:
				_ = readEvents(response.Body, r, &cursor, func() bool { return false })
				response.Body.Close()
			}
			if !pause.wait(ctx, cursor.retry) {
				return
			}
		}
	})
	return open
}

// end closes the session and waits until nothing of the link runs.
func (l *httpLink) end(ctx context.Context) {
	l.once.Do(func() {
		if id := l.session(); id != "" && !l.keep && !l.forgotten.Load() && ctx.Err() == nil {
			ctx, cancel := context.WithTimeout(ctx, exitAfterEOF)
			if response, err := l.send(ctx, http.MethodDelete, nil, &outgoing{}); err == nil {
				drop(response)
			}
			cancel()
		}
		l.kill()
		close(l.done)
	})
	l.runs.Wait()
}
