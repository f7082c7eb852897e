package server

import (
	"errors"
	"log/slog"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// snapshot is what a Server publishes at one time. It is immutable: each
// request is answered by one snapshot, even if Replace publishes another one
// meanwhile.
type snapshot struct {
	catalog
	lists       *dynamicLists
	tasks       Tasks // nil if there are none
	makesTasks  bool  // a tool can be a task
	mirrored    map[string]*mirroredTool
	access      Access
	retain      func() (release func())
	log         *slog.Logger
	observe     ObserveFunc
	observeHTTP ExchangeFunc
	subscribers *subscribers
	watches     *watches
	limiter     *subscriptionLimiter
	replaced    chan struct{} // closed when another snapshot is published

	// JSON that is part of results.
	identity          []byte // member of _meta since revision 2026-07-28
	initializeMembers []byte // members of the result of initialize after protocolVersion
	discoverMembers   []byte // members of the result of server/discover
}

// newSnapshot returns the snapshot of opts, or the error of [Tool.Check].
func newSnapshot(s *Server, opts Options) (*snapshot, error) {
	p := &snapshot{
		catalog: catalog{scopes: requiredScopesOf(opts), hides: opts.Info.HideUnscopedTools}, access: opts.Access, retain: opts.Hold, log: s.log,
		observe: opts.Observe, observeHTTP: opts.Exchanged, subscribers: &s.subscribers,
		watches: s.watches, limiter: &s.subscriptions, mirrored: map[string]*mirroredTool{}, replaced: make(chan struct{}),
		tasks: opts.Tasks, lists: &s.lists,
	}
	if opts.Dynamic != nil {
		p.dynamic = *opts.Dynamic
	}
	for _, t := range opts.Tools {
		if err := t.Check(); err != nil {
			return nil, err
		}
		p.tools = append(p.tools, t.listed(opts.Call))
		p.makesTasks = p.makesTasks || opts.Tasks != nil && t.Task.possible()
		literal := t.literal()
		if m := newMirroredTool(&literal); m != nil {
			p.mirrored[t.Name] = m
		}
	}
	for i := range opts.Prompts {
		p.prompts = append(p.prompts, opts.Prompts[i].listed())
	}
	p.toolsByName, p.promptsByName = byKey(p.tools), byKey(p.prompts)
	if err := p.addResources(slices.Clone(opts.Resources)); err != nil {
		return nil, err
	}
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
	none := value.FromEntries(nil)
	can := []value.Entry{{Key: "logging", Value: none}}
	if p.completes() {
		can = append(can, value.Entry{Key: "completions", Value: none})
	}
	if p.hasPrompts() {
		can = append(can, value.Entry{Key: "prompts", Value: changes})
	}
	if p.hasResources() {
		of := changes
		if p.subscribes() {
			of = value.FromEntries([]value.Entry{{Key: "subscribe", Value: value.True}, {Key: "listChanged", Value: value.True}})
		}
		can = append(can, value.Entry{Key: "resources", Value: of})
	}
	capabilities := value.FromEntries(append(can, value.Entry{Key: "tools", Value: changes}))

	p.identity = implementation.Append(append(value.AppendString(nil, mcp.MetaKeyServerInfo), ':'))
	p.initializeMembers = capabilities.Append([]byte(`,"capabilities":`))
	p.initializeMembers = implementation.Append(append(p.initializeMembers, `,"serverInfo":`...))
	p.discoverMembers = []byte(`"supportedVersions":`)
	p.discoverMembers = supportedVersions.Append(p.discoverMembers)
	if p.makesTasks {
		capabilities = value.FromEntries(slices.Concat(capabilities.Entries(), []value.Entry{
			{Key: "extensions", Value: value.FromEntries([]value.Entry{{Key: TasksExtension, Value: none}})},
		}))
	}
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

// notifyLists sends what tells a client to read all lists again.
func (p *snapshot) notifyLists(notify func(method string, params value.Value)) {
	notify(mcp.MethodNotificationToolsListChanged, value.Undef)
	if p.hasPrompts() {
		notify(mcp.MethodNotificationPromptsListChanged, value.Undef)
	}
	if p.hasResources() {
		notify(mcp.MethodNotificationResourcesListChanged, value.Undef)
	}
}

// subscribable returns the methods of the notifications that clients may
// subscribe to, by their names in the request.
func (p *snapshot) subscribable() map[string]string {
	all := map[string]string{"toolsListChanged": mcp.MethodNotificationToolsListChanged}
	if p.hasPrompts() {
		all["promptsListChanged"] = mcp.MethodNotificationPromptsListChanged
	}
	if p.hasResources() {
		all["resourcesListChanged"] = mcp.MethodNotificationResourcesListChanged
	}
	return all
}

// appendCallResult appends the result of a tool that returned v or failed with err.
func (p *snapshot) appendCallResult(dst []byte, v value.Value, err error, blocks, modern bool) []byte {
	dst = append(dst, `{"content":`...)
	switch {
	case err != nil:
		dst = append(appendText(dst, err.Error()), `,"isError":true`...)
	case blocks:
		dst = v.Append(dst)
	default:
		dst = appendValue(dst, v, modern)
	}
	if modern {
		dst = append(dst, `,"resultType":"complete"`...)
	}
	failed := (*CallError)(nil)
	if errors.As(err, &failed) || modern {
		dst = append(dst, `,"_meta":{`...)
		if modern {
			dst = append(dst, p.identity...)
		}
		if failed != nil {
			if modern {
				dst = append(dst, ',')
			}
			dst = failed.Failure.Append(append(value.AppendString(dst, metaError), ':'))
		}
		dst = append(dst, '}')
	}
	return append(dst, '}')
}
