package upstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/redact"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
)

type callKey struct{}

// withCall returns a context whose requests carry the credentials of the call.
func withCall(ctx context.Context, call *credential.Call) context.Context {
	if !call.HasHeaders() {
		return ctx
	}
	return context.WithValue(ctx, callKey{}, call)
}

// credentialHeaders returns the headers that the requests of ctx carry.
func credentialHeaders(ctx context.Context) (http.Header, error) {
	call, _ := ctx.Value(callKey{}).(*credential.Call)
	if call == nil {
		return nil, nil
	}
	h, token, err := call.Headers(ctx)
	if r := infoOf(ctx).Secrets; r != nil && err == nil {
		r.Learn(token) // which may be another one than the call began with
	}
	return h, err
}

// callSecrets returns the secrets that the requests of ctx carry.
func callSecrets(ctx context.Context) []string {
	if call, _ := ctx.Value(callKey{}).(*credential.Call); call != nil {
		return call.Secrets
	}
	return nil
}

// newHTTPClient makes the one HTTP client of the server.
func (s *server) newHTTPClient() *http.Client {
	s.clients.Add(1)
	return wire.NewHTTPClient(s.entry.ConnectTimeout, s.entry.Transport == config.WebSocket)
}

// closeIdle closes the connections that nothing uses any more.
func (s *server) closeIdle() {
	if s.clients.Load() > 0 {
		s.http().CloseIdleConnections()
	}
}

// openLink opens the transport of the entry, or the connection of the program. The
// requests of the link carry the credentials of ctx unless their own context has some. The
// known era tells HTTP+SSE from streamable HTTP where the entry does not.
func (s *server) openLink(ctx context.Context, known era) (wire.Link, error) {
	if missing := s.entry.Unset; len(missing) > 0 {
		return nil, fmt.Errorf("missing %s: no value is set", strings.Join(missing, ", "))
	}
	// The session has a redactor of its own: what calls on it send is not to push out the
	// tokens that the server's redactor has learned.
	peerLog := &wire.PeerLog{Redact: redact.New(callSecrets(ctx), s.redact), Log: s.log, Budget: s.budget}
	if s.dial != nil {
		conn, err := s.dial(ctx, s.entry)
		if err != nil {
			return nil, err
		}
		if conn != nil {
			return wire.OpenConn(conn, s.entry.MaxMessageBytes, peerLog), nil
		}
	}
	var (
		l   wire.Link
		err error
	)
	switch transport := s.entry.Transport; {
	case transport == config.Stdio:
		l, err = wire.OpenProcess(s.entry, peerLog)
	case transport == config.SSE, transport == config.HTTP && known == eraSSE:
		l, err = wire.OpenSSE(ctx, s.httpOptions(peerLog))
	case transport == config.HTTP:
		return wire.OpenHTTP(ctx, s.httpOptions(peerLog)), nil
	case transport == config.WebSocket:
		l, err = wire.OpenWebSocket(ctx, s.httpOptions(peerLog))
	default:
		err = KindUnreachable
	}
	if err != nil {
		return nil, err // not l: it may hold a nil pointer
	}
	return l, nil
}

// httpOptions returns what links to the server over HTTP are opened with.
func (s *server) httpOptions(peerLog *wire.PeerLog) wire.HTTPOptions {
	h := http.Header{}
	for _, one := range s.entry.Headers {
		h.Add(one.Name, one.Value)
	}
	return wire.HTTPOptions{
		Client: s.http(), URL: s.entry.URL, Header: h, Credentials: credentialHeaders, Limit: s.entry.MaxMessageBytes, Log: peerLog,
		KeepSession: s.store != nil, Life: s.life,
	}
}

// errForgotten is the cause of the end of a session that the server forgot.
var errForgotten = errors.New("the server has forgotten the session")

// sessionTexts are how servers say that they do not know a session, in the
// message of a JSON-RPC error -32600 or -32000, or of HTTP 400.
var sessionTexts = []string{"session", "not initialized"}

// refusedSession reports whether the server refused a request, with which err
// ended, for the id of its session, without regard to what it asked for. An error
// inside an answer, or one over a connection that knows no such ids, may as well
// come from the tool, after it has done its work.
func (s *session) refusedSession(err error) bool {
	var status *wire.StatusError
	if !errors.As(err, &status) || status.Status != http.StatusNotFound && status.Status != http.StatusBadRequest {
		return false
	}
	switch l := s.link.(type) {
	case *wire.SSE:
		return true // the address that it was posted to is that of the session
	case *wire.HTTP:
		return !s.peer.modern() && l.SessionID() != ""
	}
	return false
}

// forgotten reports whether err says that the server does not know the session
// (any more).
func (s *session) forgotten(err error) bool {
	var status *wire.StatusError
	var rpc *RPCError
	switch answered := errors.As(err, &rpc); {
	case answered && rpc.Code == mcp.UNSUPPORTED_PROTOCOL_VERSION:
		return true // it is another server now
	case s.peer.modern():
		// There are no sessions, but the server may be an older one now.
		return answered && errors.As(err, &status) && rpc.Code == codeServerError && containsAny(rpc.Message, sessionTexts)
	}
	over, overHTTP := s.link.(*wire.HTTP)
	if errors.As(err, &status) && status.Status == http.StatusNotFound {
		_, posts := s.link.(*wire.SSE)
		return posts || overHTTP && over.SessionID() != ""
	}
	if !errors.As(err, &rpc) || rpc.Code != mcp.INVALID_REQUEST && rpc.Code != codeServerError {
		return false
	}
	return containsAny(rpc.Message, sessionTexts)
}

// streamLost takes the end of the stream of notifications with err, which the server had
// before: it may have forgotten the session, which nobody may find out otherwise. A
// session with subscriptions is of no use without the stream. Changes of lists are not
// announced any more, so what is known of them counts as changed now.
func (s *session) streamLost(err error) {
	if s.forgotten(err) || s.isSubscribed() {
		s.slot.forget(s)
		return
	}
	s.missedLists()
}

// codeServerError is the first code that servers may give a meaning to
// (JSON-RPC 2.0, section 5.1).
const codeServerError = -32000

// resume goes on with a session that was saved, without a handshake.
func (s *session) resume(saved SavedSession) {
	s.peer = peer{
		revision: saved.Revision, name: s.said(saved.Name, maxName), version: s.said(saved.Version, maxName),
		listChanged: saved.ListChanged, logs: saved.Logs, capabilities: saved.Capabilities,
	}
}

// address returns the server's URL without secrets.
func (s *server) address() string {
	u, err := url.Parse(s.entry.URL)
	if err != nil {
		return ""
	}
	u.User = nil
	return s.redact.Text(u.String())
}

// saved returns the session to go on with; nil if there is none.
func (s *server) saved(ctx context.Context, key SessionKey) *SavedSession {
	if s.store == nil {
		return nil
	}
	saved, err := s.store.Load(ctx, key)
	if err != nil {
		s.log.Warn("cannot read the saved session; opening a new one", "error", s.redact.Err(err))
		return nil
	}
	if saved.ID == "" || saved.URL != s.address() || !isLegacy(saved.Revision) {
		return nil
	}
	return &saved
}

// save saves a session that was opened, if it has an id.
func (s *server) save(ctx context.Context, key SessionKey, session *session) {
	over, ok := session.link.(*wire.HTTP)
	if s.store == nil || !ok {
		return
	}
	var err error
	if id := over.SessionID(); id != "" && !session.peer.modern() {
		p := session.peer
		err = s.store.Save(ctx, key, SavedSession{
			ID: id, URL: s.address(), Revision: p.revision, Name: p.name, Version: p.version,
			Saved: time.Now().UTC(), ListChanged: p.listChanged, Logs: p.logs, Capabilities: p.capabilities,
		})
	} else {
		err = s.store.Delete(ctx, key)
	}
	if err != nil {
		s.log.Warn("cannot save the session", "error", s.redact.Err(err))
	}
}
