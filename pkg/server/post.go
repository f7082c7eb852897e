package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/auth"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// exchange is one POST and the answer to it.
type exchange struct {
	*handler
	reply   *reply
	r       *http.Request
	caller  auth.Caller
	modern  bool
	session *session
	calls   *inflight
	streams *streams        // of the session; nil without one
	held    *memory.Account // what the exchange holds
}

// exchange begins an exchange, which holds memory until end is called. Its
// requests end where there is too little of that.
func (h *handler) exchange(w http.ResponseWriter, r *http.Request, caller auth.Caller) (x *exchange, end func()) {
	held := h.memory.Account(caller.Name)
	_ = held.Grow(requestBytes) // what it is refused for is said when it asks for more
	ctx, cancel := memory.WithAccount(r.Context(), held)
	r = r.WithContext(ctx)
	x = &exchange{handler: h, r: r, caller: caller, held: held, reply: newReply(w, r, h.patience.write, caller.Expires, held)}
	return x, func() {
		cancel()
		held.Close()
	}
}

// post takes one message, or in revision 2025-03-26 a batch.
func (h *handler) post(w http.ResponseWriter, r *http.Request, caller auth.Caller) {
	x, end := h.exchange(w, r, caller)
	defer end()
	refuse := func(status int, e *rpcError) { x.reply.whole(status, appendError(nil, nullID, e)) }
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		refuse(http.StatusUnsupportedMediaType, rpcErrorf(mcp.INVALID_REQUEST, "the Content-Type must be application/json"))
		return
	}
	if !x.reply.json && !x.reply.events {
		refuse(http.StatusNotAcceptable, rpcErrorf(mcp.INVALID_REQUEST, "Accept must name application/json and text/event-stream"))
		return
	}
	at := h.admission()
	body, err := x.body(w)
	if h.admission() != at {
		// A client takes its time for a message; who may come in may be others by now.
		var ok bool
		if x.caller, ok = h.admit(w, r); !ok {
			return
		}
	}
	if short := (*memory.Error)(nil); errors.As(err, &short) {
		// A client that is still sending does not see an answer. What is not kept
		// costs nothing, and has to come within its time.
		_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, x.opts.MaxBody))
		x.refuse(http.StatusServiceUnavailable, nullID, busyError(err))
		return
	}
	if err != nil {
		status := http.StatusBadRequest
		if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
			status = http.StatusRequestEntityTooLarge
			err = errors.New("the message is longer than " + strconv.FormatInt(tooLong.Limit, 10) + " bytes")
		}
		refuse(status, rpcErrorf(mcp.INVALID_REQUEST, "invalid request: %v", err))
		return
	}
	v, id, failure := parse(body, x.held)
	if failure != nil {
		x.refuse(http.StatusBadRequest, id, failure)
		return
	}
	v = v.Metered(x.held)
	if v.Kind() == value.Array {
		x.batch(v)
		return
	}
	m, ok, broken := jsonrpc.ReadRequest(v)
	switch err := x.held.Err(); {
	case err != nil:
		x.refuse(http.StatusServiceUnavailable, m.ID, busyError(err))
		return
	case broken != nil:
		x.reply.whole(http.StatusBadRequest, jsonrpc.AppendError(nil, m.ID, broken))
		return
	case !ok:
		x.reply.accepted()
		return
	}
	said := m.Params.Get("_meta").Get(mcp.MetaKeyProtocolVersion).Str()
	x.modern = mcp.IsModernProtocol(said) || mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion))
	if x.modern {
		x.session, x.calls = newSession(""), &inflight{}
		if m.ID == "" {
			// The only one that asks for anything, notifications/cancelled, could
			// be about anybody's request; closing the request cancels it.
			x.reply.accepted()
			return
		}
		x.answer(m)
		return
	}
	if m.Method == string(mcp.MethodInitialize) && m.ID != "" {
		x.begin(m)
		return
	}
	s := x.resume()
	if s == nil {
		return
	}
	defer x.sessions.release(s)
	if m.ID == "" {
		x.notified(m)
		x.reply.accepted()
		return
	}
	x.answer(m)
}

// body reads the request, within the time that ServeHTTP gave it.
func (x *exchange) body(w http.ResponseWriter) ([]byte, error) {
	if t, ok := w.(*tracked); ok {
		w = t.ResponseWriter // which closes the connection of too long a request
	}
	body, err := readAll(http.MaxBytesReader(w, x.r.Body, x.opts.MaxBody), min(x.r.ContentLength, x.opts.MaxBody), x.held)
	if err == nil {
		// A call may take longer than a request to arrive.
		_ = x.reply.control.SetReadDeadline(time.Time{})
		_ = x.reply.control.SetWriteDeadline(time.Time{})
	}
	return body, err
}

// begin answers initialize with a new session.
func (x *exchange) begin(m jsonrpc.Request) {
	s, err := x.sessions.create(x.r.Context(), x.caller.Name)
	if err != nil {
		refused(x.reply.w, "too_many_sessions", "", slog.LevelWarn)
		x.reply.w.Header().Set("Retry-After", "10")
		x.reply.whole(http.StatusServiceUnavailable, appendError(nil, m.ID, rpcErrorf(mcp.INTERNAL_ERROR, "%v", err)))
		return
	}
	defer x.sessions.release(s)
	x.session, x.calls, x.streams = s.session, &s.calls, &s.streams
	x.reply.w.Header().Set(mcp.HeaderSessionID, s.id)
	if !x.answer(m) {
		x.sessions.remove(s.id, x.caller.Name)
	}
}

// resume finds the session that a request names, which has to be released; nil
// where the request was refused.
func (x *exchange) resume() *httpSession {
	if version := x.r.Header.Get(mcp.HeaderProtocolVersion); version != "" && !mcp.IsValidProtocolVersion(version) {
		x.reply.whole(http.StatusBadRequest, appendError(nil, nullID,
			rpcErrorf(mcp.INVALID_REQUEST, "unsupported protocol version %q", version)))
		return nil
	}
	id := x.r.Header.Get(mcp.HeaderSessionID)
	if id == "" {
		x.reply.whole(http.StatusBadRequest, appendError(nil, nullID,
			rpcErrorf(mcp.INVALID_REQUEST, "the header Mcp-Session-Id is missing; initialize gives one")))
		return nil
	}
	s := x.sessions.use(id, x.caller.Name)
	if s == nil {
		refused(x.reply.w, "unknown_session", "", slog.LevelInfo)
		x.reply.whole(http.StatusNotFound, appendError(nil, nullID,
			rpcErrorf(mcp.INVALID_REQUEST, "there is no such session; initialize again")))
		return nil
	}
	x.session, x.calls, x.streams = s.session, &s.calls, &s.streams
	return s
}

func (x *exchange) notified(m jsonrpc.Request) {
	if m.Method == string(mcp.MethodNotificationCancelled) {
		x.calls.cancel(m.Params.Get("requestId").JSON())
	}
}

// answer answers a request, and reports whether with a result.
func (x *exchange) answer(m jsonrpc.Request) bool {
	a := x.run(m)
	// The rest is needed no more while the client reads.
	x.held.Reset(requestBytes + int64(cap(a.text)) + x.reply.unread())
	if a.scopes != nil {
		refused(x.reply.w, auth.InsufficientScope, "it needs "+strings.Join(a.scopes, " "), slog.LevelInfo)
		x.challenge(x.reply.w.Header(), a.scopes)
		x.reply.whole(http.StatusForbidden, a.text)
		return false
	}
	if a.status == http.StatusServiceUnavailable {
		x.reply.w.Header().Set("Retry-After", retryAfter)
	}
	x.reply.end(a.status, a.text)
	return a.ok
}

// batch answers several messages as one.
func (x *exchange) batch(v value.Value) {
	s := x.resume()
	if s == nil {
		return
	}
	defer x.sessions.release(s)
	if x.session.ProtocolVersion() != mcp.ProtocolVersion20250326 || v.Len() == 0 && x.held.Err() == nil {
		x.reply.whole(http.StatusBadRequest, appendError(nil, nullID,
			rpcErrorf(mcp.INVALID_REQUEST, "invalid request: an empty batch, or a protocol revision without them")))
		return
	}
	if err := x.held.Err(); err != nil {
		x.refuse(http.StatusServiceUnavailable, nullID, busyError(err))
		return
	}
	if v.Len() > maxBatch {
		x.reply.whole(http.StatusBadRequest, appendError(nil, nullID, tooMany(v)))
		return
	}
	var all []byte
	var done sync.WaitGroup
	b := &batch{left: v.Len(), send: func(text []byte, _ func()) { all = text }}
	for _, e := range v.Elems() {
		m, ok, failure := jsonrpc.ReadRequest(e)
		switch {
		case failure != nil:
			x.counted()
			x.current.Load().refuse(x.r.Context(), x.request(), &rpcError{Error: *failure})
			b.answer(jsonrpc.AppendError(nil, m.ID, failure), nothing)
		case !ok:
			b.answer(nil, nothing)
		case m.ID == "":
			x.notified(m)
			b.answer(nil, nothing)
		default:
			done.Go(func() {
				b.answer(x.run(m).text, nothing)
			})
		}
	}
	done.Wait()
	if all == nil {
		x.reply.accepted()
		return
	}
	x.reply.end(http.StatusOK, all)
}

// answered is the answer to one request.
type answered struct {
	status int // of HTTP
	text   []byte
	ok     bool     // with a result
	scopes []string // to ask for, where the caller lacks one
}

// counted says that a request of MCP came.
func (x *exchange) counted() {
	if t, ok := x.reply.w.(*tracked); ok {
		t.requests.Add(1)
	}
}

// request returns what is known of a request before it is read.
func (x *exchange) request() *Request {
	r := &Request{
		Transport: TCP, Header: x.r.Header, Caller: x.caller.Name, Scopes: x.caller.Scopes,
		Session: x.session.id, Address: hostname(x.r.Host), From: x.r.RemoteAddr, Client: x.session.Client(),
		session: x.session, from: x,
	}
	if _, port, err := net.SplitHostPort(x.r.Host); err == nil {
		r.Port, _ = strconv.Atoi(port)
	}
	return r
}

// run answers one request.
func (x *exchange) run(m jsonrpc.Request) answered {
	x.counted()
	r := x.request()
	j, rpcErr := x.accept(x.r.Context(), m, r, x.calls)
	if rpcErr != nil {
		return answered{status: x.status(rpcErr), text: appendError(nil, m.ID, rpcErr), scopes: rpcErr.scopes}
	}
	defer j.finish()
	x.reply.expect()
	text, rpcErr, _ := j.run()
	if rpcErr != nil {
		return answered{status: x.status(rpcErr), text: appendError(nil, m.ID, rpcErr)}
	}
	return answered{status: http.StatusOK, text: text, ok: true}
}

func (x *exchange) key() string {
	if x.caller.Name != "" {
		return x.caller.Name
	}
	return "address " + hostname(x.r.RemoteAddr)
}

func (x *exchange) notify(method string, params value.Value) {
	x.reply.event(jsonrpc.AppendNotification(nil, method, params))
}

func (x *exchange) later(method string, params value.Value) {
	if x.streams != nil {
		x.streams.tell(method, params)
	}
}

// stand waits until a subscription is over.
func (x *exchange) stand(ctx context.Context) { x.keepOpen(ctx, nil) }

// verify holds a request to its headers.
func (x *exchange) verify(p *published, r *Request) *rpcError {
	if x.modern || r.modern { // the second alone: in a batch, which that revision has none of
		if rpcErr := x.mismatch(p, r); rpcErr != nil {
			return rpcErr
		}
	}
	if r.Method == string(mcp.MethodSubscriptionsListen) && r.modern && !x.reply.events {
		return rpcErrorf(mcp.INVALID_REQUEST, "Accept must name text/event-stream")
	}
	return nil
}

// mismatch holds the headers of a request of revision 2026-07-28 to its message
// (MCP 2026-07-28, Transports, Streamable HTTP).
func (x *exchange) mismatch(p *published, r *Request) *rpcError {
	header := x.r.Header
	said := r.Meta.Get(mcp.MetaKeyProtocolVersion).Str()
	switch version := strings.Join(header.Values(mcp.HeaderProtocolVersion), ","); {
	case version == "":
		return rpcErrorf(mcp.HEADER_MISMATCH, "the header %s is missing", mcp.HeaderProtocolVersion)
	case said == "":
		return rpcErrorf(mcp.INVALID_PARAMS, "_meta has no %s", mcp.MetaKeyProtocolVersion)
	case version != said:
		return rpcErrorf(mcp.HEADER_MISMATCH, "the header %s is %q, but _meta says %q", mcp.HeaderProtocolVersion, version, said)
	case !mcp.IsValidProtocolVersion(said):
		return nil // another error says which there are
	}
	if max(len(r.Method), len(r.params.Get("name").Str()), len(r.params.Get("uri").Str())) > maxHeaders {
		return rpcErrorf(mcp.HEADER_MISMATCH, "the method, name or uri is longer than a header can be")
	}
	// The library reads the params again, and not by exact names: it gets no others.
	// A header that is there twice would be another one to a proxy that takes the last.
	params := headerParams(r, "name", "uri")
	joined := func(name string) string { return strings.Join(header.Values(name), ",") }
	if err := mcp.ValidateStandardHeaders(joined, said, mcp.MCPMethod(r.Method), params); err != nil {
		return rpcErrorf(mcp.HEADER_MISMATCH, "%s", err.Error())
	}
	tool := p.mirrored[r.Tool]
	if tool == nil || p.hidden(r, r.Tool) {
		return nil
	}
	err := mcp.ValidateParamHeadersLookup(func(name string) (string, bool) {
		values := header.Values(name)
		return strings.Join(values, ","), values != nil
	}, tool, headerParams(r, "arguments"))
	if err != nil {
		return rpcErrorf(mcp.HEADER_MISMATCH, "%s", err.Error())
	}
	return nil
}

// headerParams returns the named members of the params as JSON.
func headerParams(r *Request, names ...string) json.RawMessage {
	b := value.NewBuilder(len(names))
	for _, name := range names {
		b.Set(name, r.params.Get(name))
	}
	return b.Value().Append(nil)
}

// status gives the HTTP status for an error: before revision 2026-07-28 errors
// were results like others.
func (x *exchange) status(e *rpcError) int {
	switch {
	case e.status != 0:
		return e.status
	case !x.modern:
		return http.StatusOK
	}
	switch e.Code {
	case mcp.METHOD_NOT_FOUND:
		return http.StatusNotFound
	case mcp.HEADER_MISMATCH, mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, mcp.UNSUPPORTED_PROTOCOL_VERSION,
		mcp.INVALID_REQUEST, mcp.INVALID_PARAMS, mcp.PARSE_ERROR:
		return http.StatusBadRequest
	}
	return http.StatusOK
}
