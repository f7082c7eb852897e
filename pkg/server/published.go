package server

import (
	"bytes"
	"log/slog"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// published is what a Server shows at one time. It is immutable: a request is
// answered by the one that it found, whatever takes its place meanwhile.
type published struct {
	tools     []listedTool
	names     []string             // sorted
	blocks    map[string]bool      // whose results are lists of content blocks
	mirrored  map[string]*mcp.Tool // those with arguments that HTTP headers repeat
	scopes    scopes
	hides     bool // tools from callers who lack scopes for them
	access    Access
	resources resources
	call      CallFunc
	hold      func() (release func())
	log       *slog.Logger
	observe   ObserveFunc
	exchanged ExchangeFunc
	audience  *audience
	over      chan struct{} // closed when something else has taken its place

	// Parts of results, as JSON.
	identity  []byte // the server's, a member of _meta since revision 2026-07-28
	about     []byte // members of initialize's, after its first
	discovery []byte // members of server/discover's
}

// newPublished lays out what opts say. The error is that of [Tool.Check].
func newPublished(opts Options, log *slog.Logger, to *audience) (*published, error) {
	p := &published{
		scopes: scopesOf(opts.Tools), hides: opts.Info.HideUnscopedTools, access: opts.Access, resources: newResources(opts.Resources),
		call: opts.Call, hold: opts.Hold, log: log, observe: opts.Observe, exchanged: opts.Exchanged, audience: to,
		blocks: map[string]bool{}, mirrored: map[string]*mcp.Tool{}, over: make(chan struct{}),
	}
	for _, t := range opts.Tools {
		if err := t.Check(); err != nil {
			return nil, err
		}
		p.tools = append(p.tools, newListedTool(t))
		p.names = append(p.names, t.Name)
		p.blocks[t.Name] = t.Blocks
		if literal := t.literal(); len(mcp.ExtractParamHeaderBindings(&literal)) > 0 {
			p.mirrored[t.Name] = &literal
		}
	}
	slices.Sort(p.names)
	p.introduce(opts.Info)
	return p, nil
}

// introduce computes what clients learn of the server in each era.
func (p *published) introduce(info config.Server) {
	name := value.NewBuilder(3)
	name.Set("name", value.FromString(info.Name))
	name.Set("version", value.FromString(info.Version))
	if info.Title != "" {
		name.Set("title", value.FromString(info.Title))
	}
	implementation := name.Value()
	changes := value.FromEntries([]value.Entry{{Key: "listChanged", Value: value.True}})
	can := []value.Entry{{Key: "logging", Value: value.FromEntries(nil)}}
	if len(p.resources.all) > 0 {
		can = append(can, value.Entry{Key: "resources", Value: changes})
	}
	capabilities := value.FromEntries(append(can, value.Entry{Key: "tools", Value: changes}))

	p.identity = implementation.Append(append(value.AppendString(nil, mcp.MetaKeyServerInfo), ':'))
	p.about = capabilities.Append([]byte(`,"capabilities":`))
	p.about = implementation.Append(append(p.about, `,"serverInfo":`...))
	p.discovery = []byte(`"supportedVersions":`)
	p.discovery = supportedVersions.Append(p.discovery)
	p.discovery = capabilities.Append(append(p.discovery, `,"capabilities":`...))
	if info.Instructions != "" {
		said := value.AppendString([]byte(`,"instructions":`), info.Instructions)
		p.about = append(p.about, said...)
		p.discovery = append(p.discovery, said...)
	}
}

// supportedVersions are the revisions of MCP, the newest first.
var supportedVersions = func() value.Value {
	var all []value.Value
	for _, v := range mcp.ValidProtocolVersions {
		all = append(all, value.FromString(v))
	}
	return value.FromArray(all)
}()

// message returns the answer with a result that has these members. Since revision 2026-07-28 it also
// says who gave it, that it is whole, and where it is cacheable that it is the
// caller's own and to be asked for again each time.
func (p *published) message(r *Request, members []byte, cacheable bool) []byte {
	dst := make([]byte, 0, len(members)+len(p.identity)+len(r.ID)+256)
	dst = append(jsonrpc.AppendResultStart(dst, r.ID), '{')
	if r.modern {
		dst = append(append(dst, `"_meta":{`...), p.identity...)
		if r.subscription != nil {
			dst = value.AppendString(append(dst, ','), mcp.MetaKeySubscriptionID)
			dst = append(append(dst, ':'), r.ID...)
		}
		dst = append(dst, `},"resultType":"complete"`...)
		if cacheable {
			dst = append(dst, `,"ttlMs":0,"cacheScope":"private"`...)
		}
		if len(members) > 0 {
			dst = append(dst, ',')
		}
	}
	return append(append(dst, members...), "}}"...)
}

// sameTools reports whether clients are shown the same list of tools.
func (p *published) sameTools(q *published) bool {
	return slices.EqualFunc(p.tools, q.tools, func(a, b listedTool) bool {
		return a.name == b.name && bytes.Equal(a.legacy, b.legacy) && bytes.Equal(a.modern, b.modern)
	})
}
