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

// requiredScopes maps tools to the scopes that they require; tools that require
// none are absent. Scopes are not checked over stdio: the client started the
// process, and could change its file as well.
type requiredScopes map[string][]string

func requiredScopesOf(tools []Tool) requiredScopes {
	s := requiredScopes{}
	for _, t := range tools {
		if len(t.RequiredScopes) > 0 {
			s[t.Name] = t.RequiredScopes
		}
	}
	return s
}

// missingFor reports whether the caller of a request lacks a scope for a tool.
func (s requiredScopes) missingFor(r *Request, tool string) bool {
	return r.Transport == TCP && !(auth.Caller{Scopes: r.Scopes}).Has(s[tool])
}

// check returns an error if the caller of tools/call lacks a scope.
func (s requiredScopes) check(r *Request) *rpcError {
	needed := s[r.Tool]
	if !s.missingFor(r, r.Tool) {
		return nil
	}
	e := rpcErrorf(mcp.INVALID_REQUEST, "tool %q requires the scopes %q, and the caller lacks at least one", r.Tool, strings.Join(needed, " "))
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

// widened returns the needed scopes and those granted scopes that some tool
// requires. Clients of revisions before 2026-07-28 request a token with exactly
// the scopes of the challenge, and would lose the others (MCP 2025-11-25,
// Authorization, Runtime Insufficient Scope Errors). Later clients add them up
// themselves.
func (s requiredScopes) widened(needed, granted []string) []string {
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

// hidden reports whether a tool is hidden from the caller of a request.
func (p *snapshot) hidden(r *Request, tool string) bool {
	return p.hideTools && p.scopes.missingFor(r, tool)
}

// unknownTool returns the error for a tool that does not exist for the caller.
// It does not name hidden tools.
func (p *snapshot) unknownTool(r *Request, name string) *rpcError {
	err := &UnknownToolError{Name: jsonrpc.Clip(name), Tools: p.names}
	if p.hideTools {
		err.Tools = slices.DeleteFunc(slices.Clone(p.names), func(name string) bool { return p.hidden(r, name) })
	}
	e := rpcErrorf(mcp.INVALID_PARAMS, "%v", err)
	e.reason = "unknown_tool"
	return e
}

// challenge adds the missing scopes to the header of an answer with HTTP 403.
func (h *httpHandler) challenge(header http.Header, scopes []string) {
	if guard := h.access().Guard; guard != nil {
		guard.Challenge(header, scopes)
	}
}
