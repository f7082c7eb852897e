package server

import (
	"context"
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
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// exchange is one request for Path and its answer.
type exchange struct {
	*httpHandler
	response *httpResponse
	r        *http.Request
	caller   auth.Caller
	modern   bool
	session  *session
	calls    *inflight
	streams  *sessionStreams // of the session; nil without a session
	account  *memory.Account // memory of the exchange
}

// newExchange returns an exchange, which holds memory until end is called. Its
// requests are cancelled if memory runs out.
func (h *httpHandler) newExchange(w http.ResponseWriter, r *http.Request, caller auth.Caller) (x *exchange, end func()) {
	account := h.memory.Account(caller.Name)
	_ = account.Grow(requestBytes) // a failure shows when more memory is needed
	ctx, cancel := memory.WithAccount(r.Context(), account)
	r = r.WithContext(ctx)
	x = &exchange{httpHandler: h, r: r, caller: caller, account: account, response: newHTTPResponse(w, r, h.timeouts.write, caller.Expires, account)}
	return x, func() {
		cancel()
		account.Close()
	}
}

// post answers one message, or in revision 2025-03-26 a batch.
func (x *exchange) post() {
	w, r := x.response.w, x.r
	refuse := func(status int, e *rpcError) { x.response.sendJSON(status, appendError(nil, nullID, e)) }
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		refuse(http.StatusUnsupportedMediaType, rpcErrorf(mcp.INVALID_REQUEST, "the Content-Type header must be application/json"))
		return
	}
	if !x.response.acceptsJSON && !x.response.acceptsEvents {
		refuse(http.StatusNotAcceptable, rpcErrorf(mcp.INVALID_REQUEST, "the Accept header must include application/json and text/event-stream"))
		return
	}
	at := x.currentAccess()
	body, err := x.readBody(w)
	if x.currentAccess() != at {
		// Sending the body took time; the access rules may have changed since.
		var ok bool
		if x.caller, ok = x.admit(w, r); !ok {
			return
		}
	}
	if short := (*memory.Error)(nil); errors.As(err, &short) {
		// A client that is still sending does not read an answer. Discarded
		// bytes cost no memory, and the read deadline applies.
		_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, x.opts.MaxBody))
		x.refuse(http.StatusServiceUnavailable, nullID, busyError(err))
		return
	}
	if err != nil {
		status := http.StatusBadRequest
		if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
			status = http.StatusRequestEntityTooLarge
			err = errors.New("message longer than " + strconv.FormatInt(tooLong.Limit, 10) + " bytes")
		}
		refuse(status, rpcErrorf(mcp.INVALID_REQUEST, "invalid request: %v", err))
		return
	}
	v, id, failure := parse(body, x.account)
	if failure != nil {
		x.refuse(http.StatusBadRequest, id, failure)
		return
	}
	v = v.Metered(x.account)
	if v.Kind() == value.Array {
		x.batch(v)
		return
	}
	m, ok, broken := jsonrpc.ReadRequest(v)
	switch err := x.account.Err(); {
	case err != nil:
		x.refuse(http.StatusServiceUnavailable, m.ID, busyError(err))
		return
	case broken != nil:
		x.response.sendJSON(http.StatusBadRequest, jsonrpc.AppendError(nil, m.ID, broken))
		return
	case !ok:
		x.handleResponse(v)
		return
	}
	said := m.Params.Get("_meta").Get(mcp.MetaKeyProtocolVersion).Str()
	x.modern = mcp.IsModernProtocol(said) || mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion))
	if x.modern {
		x.session, x.calls = newSession(""), &inflight{}
		if m.ID == "" {
			// notifications/cancelled could name a request of another client;
			// in this revision closing the HTTP request cancels it.
			x.response.sendAccepted()
			return
		}
		x.answer(m)
		return
	}
	if m.Method == string(mcp.MethodInitialize) && m.ID != "" {
		x.startSession(m)
		return
	}
	s := x.useSession()
	if s == nil {
		return
	}
	defer x.sessions.release(s)
	if m.ID == "" {
		x.handleNotification(m)
		x.response.sendAccepted()
		return
	}
	x.answer(m)
}

// refuse answers a request with an error.
func (x *exchange) refuse(status int, id string, e *rpcError) {
	if e.status != 0 {
		status = e.status
	}
	if status == http.StatusServiceUnavailable {
		x.response.w.Header().Set("Retry-After", retryAfter)
	}
	x.response.sendJSON(status, appendError(nil, id, e))
}

// readBody reads the body, within the deadline that serve set.
func (x *exchange) readBody(w http.ResponseWriter) ([]byte, error) {
	if t, ok := w.(*responseRecorder); ok {
		w = t.ResponseWriter // so that it closes the connection if the body is too long
	}
	body, err := readAll(http.MaxBytesReader(w, x.r.Body, x.opts.MaxBody), min(x.r.ContentLength, x.opts.MaxBody), x.account)
	if err == nil {
		// The call may take longer than the transfer of the request.
		_ = x.response.control.SetReadDeadline(time.Time{})
		_ = x.response.control.SetWriteDeadline(time.Time{})
	}
	return body, err
}

// startSession answers initialize and opens a session.
func (x *exchange) startSession(m jsonrpc.Request) {
	s, err := x.sessions.create(x.r.Context(), x.caller.Name, stateOf(m.Params))
	if err != nil {
		x.refuseSession(m.ID, err)
		return
	}
	defer x.sessions.release(s)
	x.session, x.calls, x.streams = s.session, &s.calls, &s.streams
	x.response.w.Header().Set(mcp.HeaderSessionID, s.id)
	if !x.answer(m) {
		x.sessions.remove(s.id, x.caller.Name)
	}
}

// useSession returns the session that the request names; the caller must
// release it. It returns nil if the request was refused.
func (x *exchange) useSession() *httpSession {
	if version := x.r.Header.Get(mcp.HeaderProtocolVersion); version != "" && !mcp.IsValidProtocolVersion(version) {
		x.response.sendJSON(http.StatusBadRequest, appendError(nil, nullID,
			rpcErrorf(mcp.INVALID_REQUEST, "unsupported protocol version %q", version)))
		return nil
	}
	id := x.r.Header.Get(mcp.HeaderSessionID)
	if id == "" {
		x.response.sendJSON(http.StatusBadRequest, appendError(nil, nullID,
			rpcErrorf(mcp.INVALID_REQUEST, "missing header Mcp-Session-Id; send initialize to get one")))
		return nil
	}
	s, err := x.sessions.use(x.r.Context(), id, x.caller.Name)
	if err != nil {
		x.refuseSession(nullID, err)
		return nil
	}
	x.session, x.calls, x.streams = s.session, &s.calls, &s.streams
	return s
}

// refuseSession answers a request whose session cannot begin or go on.
func (x *exchange) refuseSession(id string, err error) {
	if errors.Is(err, errTooManySessions) {
		recordRefusal(x.response.w, "too_many_sessions", "", slog.LevelWarn)
		x.response.w.Header().Set("Retry-After", "10")
		x.response.sendJSON(http.StatusServiceUnavailable, appendError(nil, id, rpcErrorf(mcp.INTERNAL_ERROR, "%v", err)))
		return
	}
	recordRefusal(x.response.w, "unknown_session", "", slog.LevelInfo)
	x.response.sendJSON(http.StatusNotFound, appendError(nil, id, rpcErrorf(mcp.INVALID_REQUEST, "%v", err)))
}

// handleResponse takes an answer of the client to a request of the server, which
// belongs to a session (MCP 2025-11-25, Transports, Sending Messages to the
// Server).
func (x *exchange) handleResponse(v value.Value) {
	if mcp.IsModernProtocol(x.r.Header.Get(mcp.HeaderProtocolVersion)) || x.r.Header.Get(mcp.HeaderSessionID) == "" {
		x.response.sendAccepted() // nothing was asked without a session
		return
	}
	s := x.useSession()
	if s == nil {
		return
	}
	defer x.sessions.release(s)
	s.asked.deliver(v)
	x.response.sendAccepted()
}

func (x *exchange) handleNotification(m jsonrpc.Request) {
	if m.Method == string(mcp.MethodNotificationCancelled) {
		x.calls.cancel(m.Params.Get("requestId").JSON())
	}
}

// answer answers a request, and reports whether it has a result.
func (x *exchange) answer(m jsonrpc.Request) bool {
	a := x.run(m)
	// While the client reads, only the answer is needed.
	x.account.Reset(requestBytes + int64(cap(a.text)) + x.response.pendingBytes())
	if a.none {
		x.response.finishEmpty()
		return false
	}
	if a.scopes != nil {
		recordRefusal(x.response.w, auth.InsufficientScope, "it needs "+strings.Join(a.scopes, " "), slog.LevelInfo)
		x.challenge(x.response.w.Header(), a.scopes)
		x.response.sendJSON(http.StatusForbidden, a.text)
		return false
	}
	if a.status == http.StatusServiceUnavailable {
		x.response.w.Header().Set("Retry-After", retryAfter)
	}
	x.response.finish(a.status, a.text)
	return a.ok
}

// batch answers several messages in one response.
func (x *exchange) batch(v value.Value) {
	s := x.useSession()
	if s == nil {
		return
	}
	defer x.sessions.release(s)
	invalid := ""
	switch {
	case x.session.ProtocolVersion() != mcp.ProtocolVersion20250326:
		invalid = "this protocol revision does not support batches"
	case v.Len() == 0 && x.account.Err() == nil:
		invalid = "empty batch"
	}
	if invalid != "" {
		x.response.sendJSON(http.StatusBadRequest, appendError(nil, nullID, rpcErrorf(mcp.INVALID_REQUEST, "invalid request: %s", invalid)))
		return
	}
	if err := x.account.Err(); err != nil {
		x.refuse(http.StatusServiceUnavailable, nullID, busyError(err))
		return
	}
	if v.Len() > maxBatch {
		x.response.sendJSON(http.StatusBadRequest, appendError(nil, nullID, batchTooLong(v)))
		return
	}
	var all []byte
	var done sync.WaitGroup
	b := &batch{left: v.Len(), send: func(text []byte, _ func()) { all = text }}
	for _, e := range v.Elems() {
		m, ok, failure := jsonrpc.ReadRequest(e)
		switch {
		case failure != nil:
			x.countRequest()
			x.current.Load().observeRefusal(x.r.Context(), x.request(), &rpcError{Error: *failure})
			b.answer(jsonrpc.AppendError(nil, m.ID, failure), noop)
		case !ok: // an answer; in this revision the server sends no requests
			b.answer(nil, noop)
		case m.ID == "":
			x.handleNotification(m)
			b.answer(nil, noop)
		default:
			done.Go(func() {
				b.answer(x.run(m).text, noop)
			})
		}
	}
	done.Wait()
	if all == nil {
		x.response.sendAccepted()
		return
	}
	x.response.finish(http.StatusOK, all)
}

// requestResult is the answer to one MCP request.
type requestResult struct {
	status int // of HTTP
	text   []byte
	ok     bool     // has a result, not an error
	none   bool     // the client cancelled it and expects no answer
	scopes []string // to request, if the caller lacks one of them
}

// countRequest counts an MCP request for Exchange.Requests.
func (x *exchange) countRequest() {
	if t, ok := x.response.w.(*responseRecorder); ok {
		t.requests.Add(1)
	}
}

// request returns a Request with what the HTTP request tells about it.
func (x *exchange) request() *Request {
	r := &Request{
		Info: callinfo.Info{Header: x.r.Header, Caller: x.caller.Name}, Transport: TCP, Scopes: x.caller.Scopes,
		Session: x.session.id, Address: config.HostName(x.r.Host), From: x.r.RemoteAddr, Client: x.session.Client(),
		session: x.session, peer: x,
	}
	if _, port, err := net.SplitHostPort(x.r.Host); err == nil {
		r.Port, _ = strconv.Atoi(port)
	}
	return r
}

// run answers one MCP request.
func (x *exchange) run(m jsonrpc.Request) requestResult {
	x.countRequest()
	r := x.request()
	j, rpcErr := accept(x.r.Context(), x.Server, m, r, x.calls)
	if rpcErr != nil {
		return requestResult{status: x.statusOf(rpcErr), text: appendError(nil, m.ID, rpcErr), scopes: rpcErr.scopes}
	}
	defer j.finish()
	x.response.startKeepAlive()
	text, rpcErr, cancelled := j.answer()
	if cancelled {
		return requestResult{none: true}
	}
	if rpcErr != nil {
		return requestResult{status: x.statusOf(rpcErr), text: appendError(nil, m.ID, rpcErr)}
	}
	return requestResult{status: http.StatusOK, text: text, ok: true}
}

func (x *exchange) callerKey() string {
	if x.caller.Name != "" {
		return x.caller.Name
	}
	return "address " + config.HostName(x.r.RemoteAddr)
}

func (x *exchange) notify(method string, params value.Value) {
	x.response.sendEvent(jsonrpc.AppendNotification(nil, method, params))
}

func (x *exchange) sendRequest(id, method string, params value.Value) bool {
	return x.response.sendEvent(jsonrpc.AppendRequest(nil, id, method, params))
}

func (x *exchange) sessionNotifier() func(method string, params value.Value) {
	if x.streams == nil {
		return func(string, value.Value) {}
	}
	return x.streams.notify
}

// keepOpen blocks until a subscription ends.
func (x *exchange) keepOpen(ctx context.Context) { x.keepStreamOpen(ctx, nil) }

// statusOf returns the HTTP status of an error. Before revision 2026-07-28
// errors had status 200.
func (x *exchange) statusOf(e *rpcError) int {
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

// lasting returns a context that is done when the access token expires or is revoked.
// It keeps nothing of the request but its headers.
func (x *exchange) lasting() (ctx context.Context, admitted func() bool, stop func()) {
	a, caller := &x.admission, x.caller
	kept := x.r.Clone(context.Background())
	kept.Body = http.NoBody
	ctx, stop = a.expiring(kept.Context(), caller)
	return ctx, func() bool { return a.stillAdmitted(kept, caller) }, stop
}
