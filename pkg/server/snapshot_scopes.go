package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// requiredScopes are all scopes that something requires. Scopes are not checked over
// stdio: the client started the process, and could change its file as well.
type requiredScopes map[string]bool

func requiredScopesOf(opts Options) requiredScopes {
	s := requiredScopes{}
	for _, needed := range opts.scopes() {
		for _, scope := range needed.scopes {
			s[scope] = true
		}
	}
	return s
}

// scoped is something that requires scopes.
type scoped struct {
	label  string
	scopes []string
}

// scopes returns what requires scopes.
func (o *Options) scopes() []scoped {
	var all []scoped
	add := func(kind, name string, scopes []string) {
		if len(scopes) > 0 {
			all = append(all, scoped{fmt.Sprintf("%s %q", kind, name), scopes})
		}
	}
	for _, t := range o.Tools {
		add("tool", t.Name, t.RequiredScopes)
	}
	for _, t := range o.Prompts {
		add("prompt", t.Name, t.RequiredScopes)
	}
	for _, s := range o.Resources {
		add("resource", s.Name, s.RequiredScopes)
	}
	return all
}

// missingFor reports whether the caller of a request lacks a scope for an offer.
func missingFor(r *Request, o *offer) bool {
	return r.Transport == TCP && !(auth.Caller{Scopes: r.Scopes}).Has(o.scopes)
}

// check returns an error if the caller of a request lacks a scope for an offer.
func (s requiredScopes) check(r *Request, o *offer) *rpcError {
	if !missingFor(r, o) {
		return nil
	}
	e := rpcErrorf(mcp.INVALID_REQUEST, "%v requires the scopes %q, and the caller lacks at least one", o, strings.Join(o.scopes, " "))
	var listed []value.Value
	for _, scope := range o.scopes {
		listed = append(listed, value.FromString(scope))
	}
	e.Data = value.FromEntries([]value.Entry{{Key: "requiredScopes", Value: value.FromArray(listed)}})
	e.scopes, e.reason = o.scopes, auth.InsufficientScope
	if !r.modern {
		e.scopes = s.widened(o.scopes, r.Scopes)
	}
	return e
}

// String returns what messages call the offer.
func (o *offer) String() string { return o.label }

// widened returns the needed scopes and those granted scopes that something
// requires. Clients of revisions before 2026-07-28 request a token with exactly
// the scopes of the challenge, and would lose the others (MCP 2025-11-25,
// Authorization, Runtime Insufficient Scope Errors). Later clients add them up
// themselves.
func (s requiredScopes) widened(needed, granted []string) []string {
	all := slices.Clone(needed)
	for _, g := range granted {
		if s[g] && !slices.Contains(all, g) {
			all = append(all, g)
		}
	}
	return all
}
