package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/auth"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// scopes are those that tools need, by the tool's name; tools that need none are
// not there. Over pipes they are not asked for: the client is whoever started the
// process, and could as well change its file.
type scopes map[string][]string

func scopesOf(tools []Tool) scopes {
	s := scopes{}
	for _, t := range tools {
		if len(t.RequiredScopes) > 0 {
			s[t.Name] = t.RequiredScopes
		}
	}
	return s
}

// lacks reports whether the caller of a request lacks a scope for a tool.
func (s scopes) lacks(r *Request, tool string) bool {
	return r.Transport == TCP && !(auth.Caller{Scopes: r.Scopes}).Has(s[tool])
}

// check says that the caller of a tool lacks scopes for it.
func (s scopes) check(r *Request) *rpcError {
	needed := s[r.Tool]
	if !s.lacks(r, r.Tool) {
		return nil
	}
	e := rpcErrorf(mcp.INVALID_REQUEST, "tool %q: the caller lacks a scope that it needs (%s)", r.Tool, strings.Join(needed, " "))
	var listed []value.Value
	for _, scope := range needed {
		listed = append(listed, value.FromString(scope))
	}
	e.Data = value.FromEntries([]value.Entry{{Key: "requiredScopes", Value: value.FromArray(listed)}})
	e.scopes, e.reason = needed, auth.InsufficientScope
	if !r.modern {
		e.scopes = s.widened(needed, r.Scopes)
	}
	return e
}

// widened adds to scopes that are needed those that the caller has already and
// some tool needs. Clients of revisions before 2026-07-28 ask for a token with
// what a challenge names, and would lose them (MCP 2025-11-25, Authorization,
// Runtime Insufficient Scope Errors); later ones add up themselves.
func (s scopes) widened(needed, granted []string) []string {
	all := slices.Clone(needed)
	for _, g := range granted {
		if slices.Contains(all, g) {
			continue
		}
		for _, of := range s {
			if slices.Contains(of, g) {
				all = append(all, g)
				break
			}
		}
	}
	return all
}

// hidden reports whether a tool is one that the caller of a request is not to know
// of.
func (p *published) hidden(r *Request, tool string) bool {
	return p.hides && p.scopes.lacks(r, tool)
}

// unknownTool returns the error for a tool that is not there for the caller of a
// request. It names none that is hidden.
func (p *published) unknownTool(r *Request, name string) *rpcError {
	err := &UnknownToolError{Name: jsonrpc.Clip(name), Tools: p.names}
	if p.hides {
		err.Tools = slices.DeleteFunc(slices.Clone(p.names), func(name string) bool { return p.hidden(r, name) })
	}
	e := rpcErrorf(mcp.INVALID_PARAMS, "%v", err)
	e.reason = "unknown_tool"
	return e
}

// challenge tells a client, in the header of an answer with HTTP status 403,
// which scopes its request would have needed.
func (h *handler) challenge(header http.Header, scopes []string) {
	if guard := h.access().Guard; guard != nil {
		guard.Challenge(header, scopes)
	}
}
