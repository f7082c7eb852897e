package upstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// era is how a server wants to be spoken to. It is found out once per server.
type era int32

const (
	eraUnknown era = iota
	eraLegacy      // initialize: 2024-10-07 to 2025-11-25
	eraModern      // server/discover: 2026-07-28
	eraSSE         // initialize over HTTP+SSE, which the entry did not say
)

// peer is what a server says of itself.
type peer struct {
	revision      string // of the protocol that is spoken
	name, version string
	// title and instructions are for people and models, and may be empty.
	title, instructions string
	listChanged         bool // it announces changes of its list of tools
	logs                bool // it sends log messages
	// capabilities are what it announces beside tools; nil if that is not known.
	capabilities []string

	meta    string // members of _meta in each request; empty before 2026-07-28
	mirrors bool   // arguments may have to stand in headers as well
}

func (p *peer) modern() bool { return p.meta != "" }

// discoverTimeout is how long a server may take to answer server/discover before
// it is sent initialize.
const discoverTimeout = 2 * time.Second

// fallbackDelay returns how long a server may take to answer server/discover before
// it is sent initialize: discoverTimeout, or a quarter of the entry's
// connectTimeoutMs if that is less.
func (s *connector) fallbackDelay() time.Duration {
	return min(s.discoverTimeout, s.entry.ConnectTimeout/4)
}

// handshake performs the handshake of the era that is known, and that of
// initialize where none is, because some older servers end when they are asked
// anything before it. If the server does not answer properly, handshake tries the
// other era, because another server may have taken its place. It returns the era
// that the server speaks.
func (s *session) handshake(ctx context.Context, known era) (era, error) {
	if _, overSSE := s.link.(*wire.SSE); overSSE {
		return eraSSE, s.initialize(ctx)
	}
	if known == eraModern {
		err := s.discoverBriefly(ctx)
		if err == nil || !mayBeLegacy(ctx, err) {
			return eraModern, err
		}
		return eraLegacy, s.initialize(ctx)
	}
	err := s.initialize(ctx)
	if err == nil || ctx.Err() != nil || !answered(err) {
		return eraLegacy, err
	}
	discover := s.discoverBriefly
	if speaksModern(err) {
		discover = s.discover
	}
	if discover(ctx) == nil {
		return eraModern, nil
	}
	return eraLegacy, err
}

// discoverBriefly is discover within a short time.
func (s *session) discoverBriefly(ctx context.Context) error {
	short, cancel := context.WithTimeout(ctx, s.server.fallbackDelay())
	defer cancel()
	return s.discover(short)
}

// mayBeLegacy reports whether a server may be of the older era whose answer to
// server/discover was err. Some of these servers ignore what they do not know,
// and proxies before them answer late, wrongly or not at all.
func mayBeLegacy(ctx context.Context, err error) bool {
	return ctx.Err() == nil && (answered(err) || unanswered(err) || errors.Is(err, context.DeadlineExceeded))
}

// speaksModern reports whether an answer to initialize says that the server
// speaks the revision of 2026-07-28.
func speaksModern(err error) bool {
	var rpc *RPCError
	return errors.As(err, &rpc) && hasModern(rpc.Data.Get("supported"))
}

// answered reports whether the server answered, if only with an error that may
// mean that it speaks another revision.
func answered(err error) bool {
	var status *wire.StatusError
	if errors.As(err, &status) {
		return status.Status != http.StatusUnauthorized && status.Status != http.StatusForbidden
	}
	var rpc *RPCError
	var kind *wire.ContentTypeError
	return errors.As(err, &rpc) || errors.As(err, &kind) || errors.Is(err, wire.ErrMalformed) || errors.Is(err, errOldServer)
}

// errOldServer is the error of a server that answers server/discover without
// knowing it.
var errOldServer = errors.New("its answer to server/discover names no revision that has it")

// discover asks for the server's revisions, as since 2026-07-28.
func (s *session) discover(ctx context.Context) error {
	s.peer = peer{revision: wire.ModernRevision, meta: s.server.modernMeta}
	ask := func() (value.Value, error) {
		return s.request(ctx, &wire.Message{Method: string(mcp.MethodServerDiscover)}, 0)
	}
	reply, err := ask()
	var rpc *RPCError
	if errors.As(err, &rpc) && rpc.Code == mcp.UNSUPPORTED_PROTOCOL_VERSION && hasModern(rpc.Data.Get("supported")) {
		reply, err = ask() // it says that it speaks what we do
	}
	if err == nil && !hasModern(reply.Get("supportedVersions")) {
		err = errOldServer
	}
	if err != nil {
		s.peer = peer{}
		return err
	}
	info := reply.Get("_meta").Get(mcp.MetaKeyServerInfo)
	if info.IsUndefined() {
		info = reply.Get("serverInfo")
	}
	s.setPeer(info, reply)
	_, s.peer.mirrors = s.link.(*wire.HTTP)
	return nil
}

// hasModern reports whether a list of revisions has the modern one.
func hasModern(revisions value.Value) bool {
	return slices.ContainsFunc(revisions.Elems(), func(v value.Value) bool { return v.Str() == wire.ModernRevision })
}

// initialize performs the handshake of the older revisions with the newest of
// them, accepting each.
func (s *session) initialize(ctx context.Context) error {
	s.peer = peer{}
	params := append([]byte(`"protocolVersion":`), value.AppendString(nil, mcp.LATEST_LEGACY_PROTOCOL_VERSION)...)
	params = append(params, `,"capabilities":`+s.server.capabilities+`,"clientInfo":`+s.server.clientInfo...)
	reply, err := s.request(ctx, &wire.Message{Method: string(mcp.MethodInitialize), Params: params}, 0)
	if err != nil {
		return err
	}
	revision := reply.Get("protocolVersion").Str()
	if !isLegacy(revision) {
		return mcp.UnsupportedProtocolVersionError{Version: revision}
	}
	s.peer.revision = revision
	s.setPeer(reply.Get("serverInfo"), reply)
	return s.link.Notify(ctx, &wire.Message{Method: "notifications/initialized", Revision: revision})
}

// firstRevision is that of the first servers. It differs from 2024-11-05 in what this
// client reads by the member toolResult alone; see unwrapped.
const firstRevision = "2024-10-07"

// isLegacy reports whether a revision has the handshake.
func isLegacy(revision string) bool {
	return revision == firstRevision || slices.Contains(mcp.LegacyProtocolVersions(), revision)
}

// setPeer takes over what the server says of itself, without secrets.
func (s *session) setPeer(info, reply value.Value) {
	capabilities := reply.Get("capabilities")
	s.peer.name, s.peer.version = s.said(info.Get("name").Str(), maxName), s.said(info.Get("version").Str(), maxName)
	s.peer.title = s.said(info.Get("title").Str(), maxName)
	s.peer.instructions = s.said(reply.Get("instructions").Str(), maxInstructions)
	s.peer.listChanged = capabilities.Get("tools").Get("listChanged").Bool()
	s.peer.logs = !capabilities.Get("logging").IsUndefined()
	s.peer.capabilities = capabilitiesOf(capabilities)
}

// describeClient computes what the server learns of us in each era.
func (s *connector) describeClient(name, version string) {
	info := append([]byte(`{"name":`), value.AppendString(nil, name)...)
	info = append(value.AppendString(append(info, `,"version":`...), version), '}')
	s.clientInfo = string(info)
	s.capabilities = s.capabilitiesJSON("")
	meta := func(capabilities string) string {
		return fmt.Sprintf("%q:%q,%q:%s,%q:%s", mcp.MetaKeyProtocolVersion, wire.ModernRevision,
			mcp.MetaKeyClientInfo, s.clientInfo, mcp.MetaKeyClientCapabilities, capabilities)
	}
	s.modernMeta, s.modernTaskMeta = meta(s.capabilities), meta(s.capabilitiesJSON(`"extensions":{"`+tasksExtension+`":{}}`))
}

// capabilitiesJSON returns our capabilities as JSON: those that we have answers for, and
// more.
func (s *connector) capabilitiesJSON(more string) string {
	out := more
	for _, a := range answerableRequests {
		if s.answers[a.method] != nil {
			if out != "" {
				out += ","
			}
			out += a.capability
		}
	}
	return "{" + out + "}"
}
