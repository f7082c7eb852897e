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

// snapshot is what a Server publishes at one time. It is immutable: each
// request is answered by one snapshot, even if Replace publishes another one
// meanwhile.
type snapshot struct {
	tools       []listedTool
	names       []string        // sorted
	blocks      map[string]bool // tools whose results are content blocks
	mirrored    map[string]*mirroredTool
	scopes      requiredScopes
	hideTools   bool // hide tools from callers that lack their scopes
	access      Access
	resources   resources
	call        CallFunc
	retain      func() (release func())
	log         *slog.Logger
	observe     ObserveFunc
	observeHTTP ExchangeFunc
	subscribers *subscribers
	replaced    chan struct{} // closed when another snapshot is published

	// JSON that is part of results.
	identity          []byte // member of _meta since revision 2026-07-28
	initializeMembers []byte // members of the result of initialize after protocolVersion
	discoverMembers   []byte // members of the result of server/discover
}

// newSnapshot returns the snapshot of opts, or the error of [Tool.Check].
func newSnapshot(opts Options, log *slog.Logger, to *subscribers) (*snapshot, error) {
	p := &snapshot{
		scopes: requiredScopesOf(opts.Tools), hideTools: opts.Info.HideUnscopedTools, access: opts.Access, resources: newResources(opts.Resources),
		call: opts.Call, retain: opts.Hold, log: log, observe: opts.Observe, observeHTTP: opts.Exchanged, subscribers: to,
		blocks: map[string]bool{}, mirrored: map[string]*mirroredTool{}, replaced: make(chan struct{}),
	}
	for _, t := range opts.Tools {
		if err := t.Check(); err != nil {
			return nil, err
		}
		p.tools = append(p.tools, newListedTool(t))
		p.names = append(p.names, t.Name)
		p.blocks[t.Name] = t.Blocks
		literal := t.literal()
		if m := newMirroredTool(&literal); m != nil {
			p.mirrored[t.Name] = m
		}
	}
	slices.Sort(p.names)
	p.describe(opts.Info)
	return p, nil
}

// describe computes how the server describes itself to clients of each era.
func (p *snapshot) describe(info config.Server) {
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
	p.initializeMembers = capabilities.Append([]byte(`,"capabilities":`))
	p.initializeMembers = implementation.Append(append(p.initializeMembers, `,"serverInfo":`...))
	p.discoverMembers = []byte(`"supportedVersions":`)
	p.discoverMembers = supportedVersions.Append(p.discoverMembers)
	p.discoverMembers = capabilities.Append(append(p.discoverMembers, `,"capabilities":`...))
	if info.Instructions != "" {
		said := value.AppendString([]byte(`,"instructions":`), info.Instructions)
		p.initializeMembers = append(p.initializeMembers, said...)
		p.discoverMembers = append(p.discoverMembers, said...)
	}
}

// supportedVersions are the supported revisions of MCP, newest first.
var supportedVersions = func() value.Value {
	var all []value.Value
	for _, v := range mcp.ValidProtocolVersions {
		all = append(all, value.FromString(v))
	}
	return value.FromArray(all)
}()

// message returns the answer with a result that has these members. Since
// revision 2026-07-28 it also names the server, says that the result is
// complete and, if cacheable, that it is private and expires at once.
func (p *snapshot) message(r *Request, members []byte, cacheable bool) []byte {
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

// sameTools reports whether both snapshots show the same list of tools.
func (p *snapshot) sameTools(q *snapshot) bool {
	return slices.EqualFunc(p.tools, q.tools, func(a, b listedTool) bool {
		return a.name == b.name && bytes.Equal(a.legacy, b.legacy) && bytes.Equal(a.modern, b.modern)
	})
}
