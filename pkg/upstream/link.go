package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
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

// connector opens links to one MCP server, and finds out how it wants to be spoken to.
type connector struct {
	*faults
	dial    func(context.Context, *config.Upstream) (io.ReadWriteCloser, error)
	log     *slog.Logger
	answers map[string]Answer
	budget  *memory.Budget // nil: no bounds
	store   SessionStore   // nil: sessions end with the pool

	// What servers learn of us, as JSON: our name, our capabilities, and both
	// of them as members of _meta, without and with the tasks extension.
	clientInfo, capabilities, modernMeta, modernTaskMeta string

	era     atomic.Int32  // how the server wants to be spoken to
	probing chan struct{} // full while one caller finds out the era

	discoverTimeout time.Duration       // see fallbackDelay
	clients         atomic.Int32        // HTTP clients made
	http            func() *http.Client // the client of all sessions, made when it is first needed
}

func newConnector(f *faults, o Options) *connector {
	c := &connector{
		faults: f, dial: o.Dial, log: o.Log.With("server", f.entry.Name), answers: o.Answers, budget: o.Memory, store: o.SessionStore,
		probing: make(chan struct{}, 1), discoverTimeout: discoverTimeout,
	}
	if kept := f.entry.Session; c.store == nil && kept != nil && kept.Store == "file" {
		c.store = fileStore{kept.Path}
	}
	c.describeClient(o.ClientName, o.ClientVersion)
	c.http = sync.OnceValue(c.newHTTPClient)
	return c
}

// newHTTPClient makes the one HTTP client of the server.
func (s *connector) newHTTPClient() *http.Client {
	s.clients.Add(1)
	return wire.NewHTTPClient(s.entry.ConnectTimeout, s.entry.Transport == config.WebSocket)
}

// closeIdle closes the connections that nothing uses any more.
func (s *connector) closeIdle() {
	if s.clients.Load() > 0 {
		s.http().CloseIdleConnections()
	}
}

// openLink opens the transport of the entry, or the connection of the program. The
// requests of the link carry the credentials of ctx unless their own context has some. The
// known era tells HTTP+SSE from streamable HTTP where the entry does not.
func (s *connector) openLink(ctx context.Context, known era) (wire.Link, error) {
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
func (s *connector) httpOptions(peerLog *wire.PeerLog) wire.HTTPOptions {
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
func (s *connector) address() string {
	u, err := url.Parse(s.entry.URL)
	if err != nil {
		return ""
	}
	u.User = nil
	return s.redact.Text(u.String())
}

// saved returns the session to go on with; nil if there is none.
func (s *connector) saved(ctx context.Context, key SessionKey) *SavedSession {
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
func (s *connector) save(ctx context.Context, key SessionKey, session *session) {
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
