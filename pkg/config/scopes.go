package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// scopeToken is what a scope looks like (RFC 6749, 3.3).
var scopeToken = regexp.MustCompile(`^[!#-\[\]-~]+$`)

// IsScope reports whether s can be a scope of OAuth (RFC 6749, 3.3).
func IsScope(s string) bool { return scopeToken.MatchString(s) }

// scopes gives a list of scopes, or one string with white space between them.
func (e *entry) scopes(name string) []string {
	words := e.words(name)
	for i, w := range words {
		n := e.n.Get(name)
		if n.Kind() == List {
			n = n.Items()[i]
		}
		if n.IsString() && !IsScope(w) && !strings.Contains(w, "${") {
			// What it was expanded to may be a secret.
			e.decoder.report(noScope(n, name))
		}
	}
	return words
}

// requiredScopes gives the scopes that callers of a tool need.
func (d *decoder) requiredScopes(tool *Node, owner string) []string {
	list := d.optional(tool, "requiredScopes", List)
	if list == nil {
		return nil
	}
	granted, known := d.file.Server.Auth.granted()
	for _, n := range list.Items() {
		scope := n.Text().String()
		switch {
		case !n.IsString(): // reported below
		case !IsScope(scope):
			d.report(noScope(n, "requiredScopes"))
		case known && !slices.Contains(granted, scope):
			p := n.Problem(diag.CodeUnheldScope, fmt.Sprintf("%s needs the scope %q, which no caller has", owner, scope))
			if near, ok := diag.Nearest(scope, granted); ok {
				p.Hint = fmt.Sprintf("did you mean %q?", near)
			}
			d.report(p)
		}
	}
	return d.strings(list, "requiredScopes")
}

// granted gives the scopes that callers have; known is false where not all of
// them are in the file.
func (a *ServerAuth) granted() (scopes []string, known bool) {
	if a == nil || a.Type != AuthBearer || a.TokensFile != "" {
		return nil, false
	}
	for _, t := range a.Tokens {
		scopes = append(scopes, t.Scopes...)
	}
	return scopes, true
}

func noScope(n *Node, name string) diag.Diagnostic {
	p := n.Problem(diag.CodeValue, fmt.Sprintf("%s in %q is not a scope", quoted(n.Text().String()), name))
	p.Hint = "a scope is one word of ASCII characters, without quotes and backslashes"
	return p
}
