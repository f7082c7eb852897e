package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// decodeHTTPAccess decodes the settings for access over HTTP.
func decodeHTTPAccess(s *section, out *Server) {
	out.Auth = decodeServerAuth(s)
	out.HideUnscopedTools = s.boolean("hideUnscopedTools")
	out.AllowedHosts = checkedStrings(s, "allowedHosts", IsHost, "a host with or without a port",
		"write it as in the Host header: tools.example.com or tools.example.com:8443")
	out.AllowedOrigins = checkedStrings(s, "allowedOrigins", IsOrigin, "the origin of a web page",
		"write it as in the Origin header: https://example.com, without a path, and with a port only if it is not the default")
}

func decodeServerAuth(s *section) *ServerAuth {
	a := s.subsection("auth")
	if a == nil {
		return nil
	}
	out := &ServerAuth{Type: a.choice("type")}
	if out.Type == "" {
		return out
	}
	a.selectType(out.Type, "")
	switch out.Type {
	case AuthBearer:
		decodeBearerTokens(a, out)
	case AuthOAuth:
		out.Issuer, out.JWKS, out.PublicURL = a.string("issuer"), a.string("jwks"), a.string("publicUrl")
		out.Audience = a.string("audience")
		out.RequiredScopes = decodeScopes(a, "requiredScopes")
		if i := a.subsection("introspection"); i != nil {
			out.Introspection = &Introspection{URL: i.string("url"), ClientID: i.string("clientId"), ClientSecret: i.string("clientSecret")}
		}
		if !a.has("publicUrl") {
			checkAudienceURL(a, out.Audience)
		}
	}
	return out
}

// checkAudienceURL reports an audience that is not the URL of the endpoint:
// without publicUrl, clients find the endpoint by its audience.
func checkAudienceURL(s *section, audience string) {
	if audience == "" || strings.Contains(audience, "${") || IsSecureURL(audience) {
		return // or reported already
	}
	f := s.node.Get("audience")
	p := f.Problem(diag.CodeValue, fmt.Sprintf(`"audience" of %s is not an https:// URL: %s`, s.owner, quote(f.Text().String())))
	p.Hint = `set "publicUrl" to the public URL of the endpoint`
	s.decoder.report(p)
}

// decodeBearerTokens decodes the tokens of callers.
func decodeBearerTokens(s *section, out *ServerAuth) {
	tokens, hasTokens := s.node.Field("tokens")
	if out.TokensFile = s.string("tokensFile"); out.TokensFile != "" && !filepath.IsAbs(out.TokensFile) {
		out.TokensFile = filepath.Join(filepath.Dir(s.node.File()), out.TokensFile)
	}
	switch hasFile := s.has("tokensFile"); {
	case !hasTokens && !hasFile:
		m := s.node.Missing(s.owner, "tokens")
		m.Message = s.owner + ` has no "tokens" and no "tokensFile"`
		m.Hint = "at least one of the two is required"
		s.decoder.report(m)
		return
	case hasFile:
		s.reportMissing(*s.setting("tokensFile"))
	case tokens.Value.Kind() == Map && len(tokens.Value.Fields()) == 0:
		s.decoder.report(tokens.Value.Problem(diag.CodeValue, fmt.Sprintf(`"tokens" of %s is empty: no caller could connect`, s.owner)))
	}
	first := map[string]Text{}
	for _, f := range s.optional("tokens", Map).Fields() {
		if IsFree(f.Key.String()) {
			continue
		}
		t := decodeBearerToken(s, f)
		if t.Token == "" {
			continue // reported
		}
		if other, used := first[t.Token]; used {
			p := f.Key.Problem(diag.CodeValue, fmt.Sprintf("%q has the same token as %q", t.Caller, other.String()))
			p.Hint = "each caller needs a token of its own"
			p.Related = []diag.Related{{File: other.File(), Pos: other.Pos(), Message: fmt.Sprintf("%q is here", other.String())}}
			s.decoder.report(p)
			continue
		}
		first[t.Token] = f.Key
		out.Tokens = append(out.Tokens, t)
	}
	// Only now: checkToken takes a token for literal if it contains no secret.
	for _, t := range out.Tokens {
		s.addSecret(t.Token)
	}
}

// decodeBearerToken decodes one caller: a token, or a map with the token and its
// scopes. It reports an unusable token, and returns an empty one.
func decodeBearerToken(s *section, f Field) CallerToken {
	owner := diag.Quote(f.Key.String()) + ` in "tokens" of ` + s.owner
	out := CallerToken{Caller: f.Key.String()}
	if out.Caller == "" {
		s.decoder.report(f.Key.Problem(diag.CodeValue, fmt.Sprintf(`a caller in "tokens" of %s has an empty name`, s.owner)))
		return out
	}
	token := f.Value
	switch {
	case token.IsString():
	case token.Kind() == Map:
		c := s.decoder.newSection(token, owner, callerTokenSettings, s.secrets)
		out.Scopes = decodeScopes(c, "scopes")
		if c.literal("token") == "" {
			return out // reported
		}
		token = token.Get("token")
	default:
		s.decoder.report(token.Expected(owner, "a token, or a map with token and scopes"))
		return out
	}
	out.Token = checkToken(s, token, out.Caller)
	return out
}

// checkToken returns a token, or an empty string if it is unusable.
func checkToken(s *section, n *Node, caller string) string {
	token := s.expand(n.Text())
	if strings.Contains(token, "${") {
		return "" // reported already
	}
	literal := !slices.ContainsFunc(*s.secrets, func(secret string) bool { return strings.Contains(token, secret) })
	if literal {
		s.decoder.literalTokens = append(s.decoder.literalTokens, n)
	}
	problem := ""
	switch {
	case token == "":
		problem = "is empty"
	case len(token) < MinToken:
		problem = fmt.Sprintf("is shorter than %d characters, so it could be guessed", MinToken)
	case !IsToken(token):
		problem = "contains white space or non-ASCII characters, which a header cannot carry"
	}
	if problem != "" {
		p := n.Problem(diag.CodeValue, fmt.Sprintf("the token of %q %s", caller, problem))
		p.Hint = "create one, for example with: openssl rand -hex 32"
		s.decoder.report(p)
		return ""
	}
	if literal {
		p := n.Problem(diag.CodeLiteralToken, fmt.Sprintf("the token of %q is written in the file", caller))
		p.Hint = `read it from the environment ("${NAME}") or from a "tokensFile"`
		s.decoder.report(p)
	}
	return token
}

// checkedStrings returns a list of strings that valid accepts.
func checkedStrings(s *section, name string, valid func(string) bool, what, hint string) []string {
	var out []string
	for _, n := range s.optional(name, List).Items() {
		if !n.IsString() {
			s.decoder.report(n.Expected(fmt.Sprintf("an element of %q", name), "a string"))
			continue
		}
		v := s.expand(n.Text())
		if valid(v) {
			out = append(out, v)
		} else if !strings.Contains(v, "${") {
			p := n.Problem(diag.CodeValue, fmt.Sprintf("%s in %q is not %s", quote(n.Text().String()), name, what))
			p.Hint = hint
			s.decoder.report(p)
		}
	}
	return out
}

// redactTokens returns the text of a file without the tokens that are written
// in it, so that the text can be shown and logged.
func redactTokens(d *decoder, doc *document) []byte {
	if d.literalTokens == nil {
		return doc.source
	}
	hidden := make([]bool, len(doc.source))
	for _, n := range d.literalTokens {
		for i := doc.lines.Offset(n.Pos()); i < doc.lines.Offset(n.End()); i++ {
			hidden[i] = true
		}
	}
	shown := make([]byte, 0, len(doc.source))
	for i, r := range string(doc.source) {
		if hidden[i] && !unicode.IsSpace(r) && r != '"' && r != '\'' {
			r = '*'
		}
		shown = utf8.AppendRune(shown, r)
	}
	return shown
}
