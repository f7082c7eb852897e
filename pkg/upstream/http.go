package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// Sizes of a server's HTTP client.
const (
	maxIdleConns    = 256              // connections kept open between calls
	idleConnTimeout = 90 * time.Second // as the standard library's own client
	maxErrorBody    = 64 << 10         // bytes read of the body of an error
)

// newHTTPClient returns the client that all sessions with a server use: the
// first phase of a connection over HTTP.
func newHTTPClient(connect time.Duration) *http.Client {
	dialer := &net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second}
	return &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, ForceAttemptHTTP2: true,
			MaxIdleConns: maxIdleConns, MaxIdleConnsPerHost: maxIdleConns, IdleConnTimeout: idleConnTimeout,
			TLSHandshakeTimeout: connect,
		},
		CheckRedirect: sameHost,
	}
}

// maxRedirects is how many redirections are followed.
const maxRedirects = 10

// sameHost refuses redirections to another host, which would get to see the
// credentials that are meant for this one.
func sameHost(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch {
	case r.URL.Host != first.Host || r.URL.Scheme != first.Scheme && r.URL.Scheme != "https":
		return fmt.Errorf("it redirects to another host, %s", r.URL.Host)
	case len(via) >= maxRedirects:
		return errors.New("it redirects without end")
	}
	return nil
}

// contentTypeError is the error of an answer that is neither JSON nor a stream
// of events.
type contentTypeError struct {
	status int
	kind   string
}

func (e *contentTypeError) Error() string {
	if e.kind == "" {
		return fmt.Sprintf("HTTP %d without an answer", e.status)
	}
	return fmt.Sprintf("an answer of content type %q, which is not MCP", e.kind)
}

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

	pool context.Context // ends with the pool, and with it requests under way
	life context.Context // ends with the link
	kill context.CancelFunc
	done chan struct{}
	runs sync.WaitGroup // listening and replying
	once sync.Once
}

var (
	_ link     = (*httpLink)(nil)
	_ listener = (*httpLink)(nil)
)

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

// request posts a request and waits for its result.
func (l *httpLink) request(ctx context.Context, m *outgoing) (json.RawMessage, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.pool, cancel)()
	response, err := l.post(ctx, m)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if m.method == string(mcp.MethodInitialize) {
		if id := response.Header.Get(mcp.HeaderSessionID); id != "" {
			l.id.Store(&id)
		}
	}
	var got *answer
	odd := "an empty answer"
	r := &receiver{limit: l.limit, origin: m.id, reply: l.reply, odd: func(what string) {
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
		if err = readMessage(response.Body, r); err == nil && got == nil {
			err = fmt.Errorf("%w: %s", errBroken, odd)
		}
	case "text/event-stream":
		err = l.follow(ctx, response.Body, r, m.revision, answered)
	default:
		_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxErrorBody))
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

func contentType(r *http.Response) string {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return r.Header.Get("Content-Type")
	}
	return kind
}

// readMessage takes a body that is one message.
func readMessage(body io.Reader, r *receiver) error {
	var (
		e    envelope
		text []byte
	)
	buf := make([]byte, 32<<10)
	for {
		n, err := body.Read(buf)
		e.feed(buf[:n])
		if int64(e.pos) <= r.limit {
			text = append(text, buf[:n]...)
		} else {
			// Only one answer can come here, so the rest tells nothing.
			r.deliverOnly("", answer{err: &tooLongError{r.limit}})
			return nil
		}
		if err == nil {
			continue
		}
		r.take(text, &e, !errors.Is(err, io.EOF) || !e.complete() && e.state != notAnObject)
		if errors.Is(err, io.EOF) {
			return nil
		}
		return overError("broke the connection: " + err.Error())
	}
}

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

// drop lets the connection be used again.
func drop(r *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, maxErrorBody))
	r.Body.Close()
}

func (l *httpLink) post(ctx context.Context, m *outgoing) (*http.Response, error) {
	return l.send(ctx, http.MethodPost, m.body(), m)
}

// get opens a stream of events, from behind the event last on.
func (l *httpLink) get(ctx context.Context, revision, last string) (*http.Response, error) {
	m := &outgoing{revision: revision}
	if last != "" {
		m.mirrored = []string{mcp.HeaderLastEventID, last}
	}
	response, err := l.send(ctx, http.MethodGet, nil, m)
	if err != nil {
		return nil, err
	}
	if kind := contentType(response); kind != "text/event-stream" {
		drop(response)
		return nil, &contentTypeError{response.StatusCode, kind}
	}
	return response, nil
}

// send makes one HTTP request. Errors are of its context, *statusError,
// errNotWritten where nothing went out, or errLost.
func (l *httpLink) send(ctx context.Context, method string, body []byte, m *outgoing) (*http.Response, error) {
	var written atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			if info.Err == nil {
				written.Store(true)
			}
		},
	})
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	request, err := http.NewRequestWithContext(traced, method, l.url, reader)
	if err != nil {
		return nil, both(errNotWritten, err)
	}
	if err := l.fill(ctx, request, m); err != nil {
		return nil, both(errNotWritten, err)
	}
	response, err := l.client.Do(request)
	switch {
	case err != nil && ctx.Err() != nil:
		if !written.Load() {
			return nil, both(errNotWritten, ctx.Err())
		}
		return nil, ctx.Err()
	case err != nil && !written.Load():
		return nil, both(errNotWritten, unwrapped(err))
	case err != nil:
		return nil, both(errLost, unwrapped(err))
	case response.StatusCode >= 300:
		defer response.Body.Close()
		return nil, newStatusError(response)
	}
	return response, nil
}

// unwrapped takes the URL, which may hold a secret, out of an error of net/http.
func unwrapped(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

// fill sets the headers of a request.
func (l *httpLink) fill(ctx context.Context, r *http.Request, m *outgoing) error {
	proof, err := proof(ctx)
	if err != nil {
		return err
	}
	h := r.Header
	for name, values := range l.header {
		h[name] = values
	}
	for name, values := range proof {
		h[name] = values
	}
	if m.method == string(mcp.MethodToolsCall) {
		traceHeaders(ctx, h)
	}
	if host := h.Get("Host"); host != "" {
		r.Host = host
	}
	if r.Method == http.MethodPost {
		h.Set("Content-Type", "application/json")
		h.Set("Accept", "application/json, text/event-stream")
	} else {
		h.Set("Accept", "text/event-stream")
	}
	if m.revision != "" {
		h.Set(mcp.HeaderProtocolVersion, m.revision)
	}
	if m.revision == modernRevision {
		h.Set(mcp.HeaderMethod, m.method)
		if name, ok := mcp.EncodeHeaderValue(m.name); ok && m.name != "" {
			h.Set(mcp.HeaderName, name)
		}
	} else if id := l.session(); id != "" && m.method != string(mcp.MethodInitialize) {
		h.Set(mcp.HeaderSessionID, id)
	}
	for i := 0; i+1 < len(m.mirrored); i += 2 {
		h.Set(m.mirrored[i], m.mirrored[i+1])
	}
	return nil
}

// newStatusError reads the body of a refusal.
func newStatusError(r *http.Response) *statusError {
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxErrorBody))
	e := &statusError{Status: r.StatusCode, Header: r.Header, Body: string(body)}
	var env envelope
	if env.feed(body); env.complete() && env.failure.found() {
		e.rpc = rpcError(env.failure.of(body))
	}
	return e
}

// listen holds the stream on which the server speaks unasked, where it has one.
func (l *httpLink) listen(ctx context.Context, revision string) {
	l.inBackground(func() {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(l.life, cancel)()
		r := &receiver{limit: l.limit, odd: l.diary.wrong, reply: l.reply}
		r.in.Store(l.in.Load())
		r.deliver = func(string, answer) { l.diary.wrong("an answer where no request was made") }
		r.deliverOnly = r.deliver
		var cursor cursor
		var pause pause
		for {
			response, err := l.get(ctx, revision, cursor.id)
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
