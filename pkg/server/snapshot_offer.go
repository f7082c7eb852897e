package server

import (
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
)

// offer is what a snapshot knows of one thing that clients can use: a tool, a
// prompt, a resource or a resource template.
type offer struct {
	target   string   // the Request.Tool of its calls
	label    string   // in messages, such as `tool "x"`
	scopes   []string // that a caller over HTTP needs
	call     CallFunc
	verbatim bool // the result is sent as it is, once
	instant  bool // it answers at once and takes no slot
	task     TaskSupport

	arguments []string // of a prompt or a template; nil if they are not known
	required  []string // of those
	complete  CompleteFunc
	mimeType  string    // of a resource
	resource  *Resource // nil for tools and prompts
}

// Prefixes of Request.Tool for what is not a tool.
const (
	promptTarget   = "prompts/"
	resourceTarget = "resources/"
)

// catalog is all that a snapshot offers, and who may know of it.
type catalog struct {
	tools, prompts, resources, templates []listed

	toolsByName, promptsByName, resourcesByURI, templatesByURI map[string]*offer

	matchers []templateOffer // the templates, in their order
	dynamic  Dynamic
	scopes   requiredScopes
	hides    bool // hides from callers what they lack scopes for
}

// listed is an offer as lists show it, encoded once.
type listed struct {
	*offer
	key    string // name or URI, unique in its list
	oldest []byte // for revisions before 2025-11-25; nil: as legacy
	legacy []byte // for revisions with sessions
	modern []byte // since revision 2026-07-28
}

func sameList(a, b []listed) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].key != b[i].key || string(a[i].oldest) != string(b[i].oldest) ||
			string(a[i].legacy) != string(b[i].legacy) || string(a[i].modern) != string(b[i].modern) {
			return false
		}
	}
	return true
}

// byKey returns the offers of a list by their keys; the first one wins.
func byKey(list []listed) map[string]*offer {
	m := make(map[string]*offer, len(list))
	for _, l := range list {
		if m[l.key] == nil {
			m[l.key] = l.offer
		}
	}
	return m
}

// visible returns what the caller of a request may see of a list.
func (c *catalog) visible(r *Request, list []listed) []listed {
	if !c.hides {
		return list
	}
	var shown []listed
	for _, l := range list {
		if !c.hidden(r, l.offer) {
			shown = append(shown, l)
		}
	}
	return shown
}

// hidden reports whether an offer is hidden from the caller of a request.
func (c *catalog) hidden(r *Request, o *offer) bool { return c.hides && missingFor(r, o) }

// shown returns an offer, nil if it is hidden from the caller of a request.
func (c *catalog) shown(r *Request, o *offer) *offer {
	if c.hidden(r, o) {
		return nil
	}
	return o
}

// unknown returns the error for a tool or prompt that does not exist for the caller.
// It names none that is hidden.
func (c *catalog) unknown(r *Request, kind, name string, list []listed) *rpcError {
	shown := c.visible(r, list)
	names := make([]string, len(shown))
	for i, l := range shown {
		names[i] = l.key
	}
	slices.Sort(names)
	e := rpcErrorf(mcp.INVALID_PARAMS, "%v", &UnknownToolError{
		Name: jsonrpc.Clip(name), Tools: names, kind: kind, more: kind == "prompt" && c.dynamic.Prompt != nil,
	})
	e.reason = "unknown_" + kind
	return e
}

// completes reports whether some argument can be completed.
func (c *catalog) completes() bool {
	for _, list := range [][]listed{c.prompts, c.resources, c.templates} {
		if slices.ContainsFunc(list, func(l listed) bool { return l.complete != nil }) {
			return true
		}
	}
	return c.dynamic.Completes
}
