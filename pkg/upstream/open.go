package upstream

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/config"
)

type grantKey struct{}

// withGrant returns a context whose requests carry what g grants.
func withGrant(ctx context.Context, g *grant) context.Context {
	if g.headers == nil {
		return ctx
	}
	return context.WithValue(ctx, grantKey{}, g)
}

// proof returns the headers that the requests of ctx carry.
func proof(ctx context.Context) (http.Header, error) {
	g, _ := ctx.Value(grantKey{}).(*grant)
	if g == nil {
		return nil, nil
	}
	return g.headers(ctx)
}

// secretsOf returns the secrets that the requests of ctx carry.
func secretsOf(ctx context.Context) []string {
	if g, _ := ctx.Value(grantKey{}).(*grant); g != nil {
		return g.secrets
	}
	return nil
}

// newHTTPClient makes the one HTTP client of the server.
func (s *server) newHTTPClient() *http.Client {
	s.clients.Add(1)
	c := newHTTPClient(s.entry.ConnectTimeout)
	if s.entry.Transport == config.WebSocket {
		// A WebSocket is opened in HTTP/1.1 (RFC 6455, section 4.1).
		t := c.Transport.(*http.Transport)
		t.ForceAttemptHTTP2 = false
		t.Protocols = new(http.Protocols)
		t.Protocols.SetHTTP1(true)
	}
	return c
}

// closeIdle closes the connections that nothing uses any more.
func (s *server) closeIdle() {
	if s.clients.Load() > 0 {
		s.http().CloseIdleConnections()
	}
}

// openLink opens what the entry says, or what the program brings along. The
// requests of the link carry what ctx grants unless their own context does. The
// known era tells HTTP+SSE from streamable HTTP where the entry does not.
func (s *server) openLink(ctx context.Context, known era) (link, error) {
	d := &diary{redact: s.redact.with(secretsOf(ctx)), log: s.log, budget: s.budget}
	if s.dial != nil {
		conn, err := s.dial(ctx, s.entry)
		if err != nil {
			return nil, err
		}
		if conn != nil {
			return openConn(conn, s.entry, d), nil
		}
	}
	var (
		l   link
		err error
	)
	switch transport := s.entry.Transport; {
	case transport == config.Stdio:
		l, err = openProcess(s.entry, d)
	case transport == config.SSE, transport == config.HTTP && known == eraSSE:
		l, err = s.openSSE(ctx, d)
	case transport == config.HTTP:
		return s.openHTTP(ctx, d), nil
	case transport == config.WebSocket:
		l, err = s.openWebSocket(ctx, d)
	default:
		err = errTransport
	}
	if err != nil {
		return nil, err // not l: it may hold a nil pointer
	}
	return l, nil
}

func (s *server) header() http.Header {
	h := http.Header{}
	for _, one := range s.entry.Headers {
		h.Add(one.Name, one.Value)
	}
	return h
}

// openHTTP sends nothing yet.
func (s *server) openHTTP(ctx context.Context, d *diary) *httpLink {
	l := &httpLink{
		client: s.http(), url: s.entry.URL, header: s.header(), limit: s.entry.MaxMessageBytes, diary: d,
		keep: s.store != nil, waiting: map[string]*elsewhere{}, pool: s.life, done: make(chan struct{}),
	}
	l.life, l.kill = context.WithCancel(context.WithoutCancel(ctx))
	return l
}

func (s *server) openSSE(ctx context.Context, d *diary) (*sseLink, error) {
	over := s.openHTTP(ctx, d)
	l, err := openSSE(ctx, over)
	if err != nil {
		over.kill()
	}
	return l, err
}

func (s *server) openWebSocket(ctx context.Context, d *diary) (*pipe, error) {
	header := s.header()
	more, err := proof(ctx)
	if err != nil {
		return nil, err
	}
	for name, values := range more {
		header[name] = values
	}
	conn, err := dialWebSocket(ctx, s.http(), s.entry.URL, header)
	if err != nil {
		return nil, err
	}
	return openConn(conn, s.entry, d), nil
}

// errForgotten is the cause of the end of a session that the server forgot.
var errForgotten = errors.New("the server has forgotten the session")

// sessionTexts are how servers say that they do not know a session, in the
// message of a JSON-RPC error -32600 or -32000, or of HTTP 400.
var sessionTexts = []string{"session", "not initialized"}

// refusedUnread reports whether the server refused a request, with which err
// ended, for the id of its session, without regard to what it asked for. An error
// inside an answer, or one over a connection that knows no such ids, may as well
// come from the tool, after it has done its work.
func (s *session) refusedUnread(err error) bool {
	var status *statusError
	if !errors.As(err, &status) || status.Status != http.StatusNotFound && status.Status != http.StatusBadRequest {
		return false
	}
	switch l := s.link.(type) {
	case *sseLink:
		return true // the address that it was posted to is that of the session
	case *httpLink:
		return !s.peer.modern() && l.session() != ""
	}
	return false
}

// forgotten reports whether err says that the server does not know the session
// (any more).
func (s *session) forgotten(err error) bool {
	var status *statusError
	var rpc *RPCError
	switch answered := errors.As(err, &rpc); {
	case answered && rpc.Code == mcp.UNSUPPORTED_PROTOCOL_VERSION:
		return true // it is another server now
	case s.peer.modern():
		// There are no sessions, but the server may be an older one now.
		return answered && errors.As(err, &status) && rpc.Code == codeServerError && saysOneOf(rpc.Message, sessionTexts)
	}
	over, overHTTP := s.link.(*httpLink)
	if errors.As(err, &status) && status.Status == http.StatusNotFound {
		_, posts := s.link.(*sseLink)
		return posts || overHTTP && over.session() != ""
	}
	if !errors.As(err, &rpc) || rpc.Code != mcp.INVALID_REQUEST && rpc.Code != codeServerError {
		return false
	}
	return saysOneOf(rpc.Message, sessionTexts)
}

// codeServerError is the first code that servers may give a meaning to
// (JSON-RPC 2.0, section 5.1).
const codeServerError = -32000

// resume goes on with a session that was saved, without a handshake.
func (s *session) resume(saved SavedSession) {
	s.peer = peer{
		revision: saved.Revision, name: saved.Name, version: saved.Version,
		listChanged: saved.ListChanged, logs: saved.Logs,
	}
}

// address returns the server's URL without secrets.
func (s *server) address() string {
	u, err := url.Parse(s.entry.URL)
	if err != nil {
		return ""
	}
	u.User = nil
	return s.redact.text(u.String())
}

// saved returns the session to go on with; nil where there is none.
func (s *server) saved(ctx context.Context, key SessionKey) *SavedSession {
	if s.store == nil {
		return nil
	}
	saved, err := s.store.Load(ctx, key)
	if err != nil {
		s.log.Warn("the saved session cannot be read; another one is opened", "error", s.redact.err(err))
		return nil
	}
	if saved.ID == "" || saved.URL != s.address() || !isLegacy(saved.Revision) {
		return nil
	}
	return &saved
}

// save saves a session that was opened, where it has an id.
func (s *server) save(ctx context.Context, key SessionKey, session *session) {
	over, ok := session.link.(*httpLink)
	if s.store == nil || !ok {
		return
	}
	var err error
	if id := over.session(); id != "" && !session.peer.modern() {
		p := session.peer
		err = s.store.Save(ctx, key, SavedSession{
			ID: id, URL: s.address(), Revision: p.revision, Name: p.name, Version: p.version,
			Saved: time.Now().UTC(), ListChanged: p.listChanged, Logs: p.logs,
		})
	} else {
		err = s.store.Delete(ctx, key)
	}
	if err != nil {
		s.log.Warn("the session cannot be saved", "error", s.redact.err(err))
	}
}
