package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// scopeToken matches a scope (RFC 6749, 3.3).
var scopeToken = regexp.MustCompile(`^[!#-\[\]-~]+$`)

// IsScope reports whether s is a valid OAuth scope (RFC 6749, 3.3).
func IsScope(s string) bool { return scopeToken.MatchString(s) }

// decodeScopes returns a list of scopes, which may be written as one string with
// white space between them.
func decodeScopes(s *section, name string) []string {
	words := s.words(name)
	for i, w := range words {
		n := s.node.Get(name)
		if n.Kind() == List {
			n = n.Items()[i]
		}
		if n.IsString() && !IsScope(w) && !strings.Contains(w, "${") {
			// Not w: the expanded value may be a secret.
			s.decoder.report(invalidScope(n, name))
		}
	}
	return words
}

// decodeRequiredScopes returns the scopes that callers of a tool need.
func decodeRequiredScopes(s *section) []string {
	const name = "requiredScopes"
	list := s.optional(name, List)
	if list == nil {
		return nil
	}
	granted, known := decodeGrantedScopes(s.decoder)
	for _, n := range list.Items() {
		scope := n.Text().String()
		switch {
		case !n.IsString(): // reported below
		case !IsScope(scope):
			s.decoder.report(invalidScope(n, name))
		case known && !granted.Has(scope):
			p := n.Problem(diag.CodeUnheldScope, fmt.Sprintf("%s requires the scope %q, which no caller has", s.owner, scope))
			p.Hint = diag.Meant(granted.Nearest(scope))
			s.decoder.report(p)
		}
	}
	return s.decoder.strings(list, name)
}

// decodeGrantedScopes returns the scopes that callers have, and whether they are known. The
// callers are decoded before.
func decodeGrantedScopes(d *decoder) (*diag.Names, bool) {
	auth := d.file.Server.Auth
	if d.scopes == nil || d.scopesOf != auth {
		scopes, known := auth.granted()
		d.scopes, d.scopesOf, d.scopesKnown = diag.NewNames(slices.Clone(scopes)), auth, known
	}
	return d.scopes, d.scopesKnown
}

// granted returns the scopes of all callers; known is false unless all callers
// are in the file.
func (a *ServerAuth) granted() (scopes []string, known bool) {
	if a == nil || a.Type != AuthBearer || a.TokensFile != "" {
		return nil, false
	}
	for _, t := range a.Tokens {
		scopes = append(scopes, t.Scopes...)
	}
	return scopes, true
}

func invalidScope(n *Node, name string) diag.Diagnostic {
	p := n.Problem(diag.CodeValue, fmt.Sprintf("%s in %q is not a scope", quote(n.Text().String()), name))
	p.Hint = "a scope consists of ASCII characters without spaces, quotes and backslashes"
	return p
}
