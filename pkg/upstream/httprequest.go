package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
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

func contentType(r *http.Response) string {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return r.Header.Get("Content-Type")
	}
	return kind
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
	var env jsonrpc.Envelope
	if env.Feed(body); env.Complete() && env.Error.Found() {
		e.rpc = rpcError(env.Error.Of(body))
	}
	return e
}
