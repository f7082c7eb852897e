package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
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

// NewHTTPClient returns the client that all links to a server use. connect bounds
// each step of opening a connection. A WebSocket is opened in HTTP/1.1 (RFC 6455,
// section 4.1).
func NewHTTPClient(connect time.Duration, webSocket bool) *http.Client {
	dialer := &net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second}
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, ForceAttemptHTTP2: !webSocket,
		MaxIdleConns: maxIdleConns, MaxIdleConnsPerHost: maxIdleConns, IdleConnTimeout: idleConnTimeout,
		TLSHandshakeTimeout: connect,
	}
	if webSocket {
		t.Protocols = new(http.Protocols)
		t.Protocols.SetHTTP1(true)
	}
	return &http.Client{Transport: t, CheckRedirect: refuseOtherHosts}
}

// maxRedirects is how many redirections are followed.
const maxRedirects = 10

// refuseOtherHosts refuses redirections to another host, which would get to see the
// credentials that are meant for this one.
func refuseOtherHosts(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch {
	case r.URL.Host != first.Host || r.URL.Scheme != first.Scheme && r.URL.Scheme != "https":
		return fmt.Errorf("it redirects to another host, %s", r.URL.Host)
	case len(via) >= maxRedirects:
		return errors.New("it redirects without end")
	}
	return nil
}

func contentType(r *http.Response) string {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return r.Header.Get("Content-Type")
	}
	return kind
}

// discard lets the connection be used again.
func discard(r *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, maxErrorBody))
	r.Body.Close()
}

func (l *HTTP) post(ctx context.Context, m *Message) (*http.Response, error) {
	return l.send(ctx, http.MethodPost, m.body(), m)
}

// get opens a stream of events, from behind the event last on.
func (l *HTTP) get(ctx context.Context, revision, last string) (*http.Response, error) {
	m := &Message{Revision: revision}
	if last != "" {
		m.Headers = []string{mcp.HeaderLastEventID, last}
	}
	response, err := l.send(ctx, http.MethodGet, nil, m)
	if err != nil {
		return nil, err
	}
	if kind := contentType(response); kind != "text/event-stream" {
		discard(response)
		return nil, &ContentTypeError{response.StatusCode, kind}
	}
	return response, nil
}

// send makes one HTTP request. Errors are of its context, a *[StatusError],
// [ErrNotWritten] where nothing went out, or [ErrLost].
func (l *HTTP) send(ctx context.Context, method string, body []byte, m *Message) (*http.Response, error) {
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
	request, err := http.NewRequestWithContext(traced, method, l.URL, reader)
	if err != nil {
		return nil, both(ErrNotWritten, err)
	}
	if err := l.fill(ctx, request, m); err != nil {
		return nil, both(ErrNotWritten, err)
	}
	response, err := l.Client.Do(request)
	switch {
	case err != nil && ctx.Err() != nil:
		if !written.Load() {
			return nil, both(ErrNotWritten, ctx.Err())
		}
		return nil, ctx.Err()
	case err != nil && !written.Load():
		return nil, both(ErrNotWritten, unwrapped(err))
	case err != nil:
		return nil, both(ErrLost, unwrapped(err))
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

// addHeaders adds the headers that every request has: those of the settings, and
// over them the credentials.
func (o *HTTPOptions) addHeaders(ctx context.Context, h http.Header) error {
	credentials, err := o.Credentials(ctx)
	if err != nil {
		return err
	}
	maps.Copy(h, o.Header)
	maps.Copy(h, credentials)
	return nil
}

// fill sets the headers of a request.
func (l *HTTP) fill(ctx context.Context, r *http.Request, m *Message) error {
	h := r.Header
	if err := l.addHeaders(ctx, h); err != nil {
		return err
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
	if m.Revision != "" {
		h.Set(mcp.HeaderProtocolVersion, m.Revision)
	}
	if m.Revision == ModernRevision {
		h.Set(mcp.HeaderMethod, m.Method)
		if name, ok := mcp.EncodeHeaderValue(m.Name); ok && m.Name != "" {
			h.Set(mcp.HeaderName, name)
		}
	} else if id := l.SessionID(); id != "" && m.Method != string(mcp.MethodInitialize) {
		h.Set(mcp.HeaderSessionID, id)
	}
	for i := 0; i+1 < len(m.Headers); i += 2 {
		h.Set(m.Headers[i], m.Headers[i+1])
	}
	return nil
}
