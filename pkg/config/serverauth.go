package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

var serverAuthTypes = []string{AuthBearer, AuthOAuth}

// access decodes who may come in over HTTP.
func (e *entry) access(s *Server) {
	s.Auth = e.serverAuth()
	s.HideUnscopedTools = e.decoder.boolean(e.n, "hideUnscopedTools", false)
	s.AllowedHosts = e.checkedStrings("allowedHosts", IsHost, "a host, with or without a port",
		"write it as requests name it: tools.example.com, or tools.example.com:8443")
	s.AllowedOrigins = e.checkedStrings("allowedOrigins", IsOrigin, "the origin of a web page",
		"write it as browsers send it: https://example.com, without a path, and with a port only where it is not the usual one")
}

func (e *entry) serverAuth() *ServerAuth {
	a := e.inner("auth", serverAuthSettings)
	if a == nil {
		return nil
	}
	out := &ServerAuth{Type: a.oneOf("type", serverAuthTypes)}
	switch out.Type {
	case AuthBearer:
		a.only(out.Type, serverAuthSettings, callerSettings)
		a.callers(out)
	case AuthOAuth:
		a.only(out.Type, serverAuthSettings, issuerSettings)
		a.needs("issuer", "audience")
		out.Issuer, out.JWKS, out.PublicURL = a.endpoint("issuer"), a.endpoint("jwks"), a.endpoint("publicUrl")
		out.Audience = a.string("audience")
		out.RequiredScopes = a.scopes("requiredScopes")
		out.Introspection = a.introspection()
		if out.PublicURL == "" && a.n.Get("publicUrl") == nil {
			a.audienceIsURL(out.Audience)
		}
	}
	return out
}

// introspection decodes where opaque tokens are asked about.
func (e *entry) introspection() *Introspection {
	i := e.inner("introspection", introspectionSettings)
	if i == nil {
		return nil
	}
	i.needs("url", "clientId", "clientSecret")
	return &Introspection{URL: i.endpoint("url"), ClientID: i.string("clientId"), ClientSecret: i.secret("clientSecret")}
}

// audienceIsURL reports an audience by which clients cannot find the endpoint.
func (e *entry) audienceIsURL(audience string) {
	f := e.n.Get("audience")
	if audience == "" || strings.Contains(audience, "${") || IsSecureURL(audience) {
		return // or reported already
	}
	p := f.Problem(diag.CodeValue, fmt.Sprintf(
		`"audience" of %s, %s, is not the https:// address of the endpoint`, e.owner, quoted(f.Text().String())))
	p.Hint = `say in "publicUrl" by which address clients know the endpoint`
	e.decoder.report(p)
}

// callers decodes the tokens that were agreed on.
func (e *entry) callers(out *ServerAuth) {
	tokens, hasTokens := e.n.Field("tokens")
	_, hasFile := e.n.Field("tokensFile")
	if out.TokensFile = e.string("tokensFile"); out.TokensFile != "" && !filepath.IsAbs(out.TokensFile) {
		out.TokensFile = filepath.Join(filepath.Dir(e.n.File()), out.TokensFile)
	}
	switch {
	case !hasTokens && !hasFile:
		m := e.n.Missing(e.owner, "tokens")
		m.Message = e.owner + ` has neither "tokens" nor a "tokensFile"`
		e.decoder.report(m)
		return
	case hasFile:
		e.needs("tokensFile")
	}
	list := e.decoder.optional(e.n, "tokens", Map)
	if list != nil && len(list.Fields()) == 0 && !hasFile {
		e.decoder.report(tokens.Value.Problem(diag.CodeValue, fmt.Sprintf(`"tokens" of %s is empty, so that nobody could come in`, e.owner)))
	}
	first := map[string]Text{}
	for _, f := range list.Fields() {
		if IsFree(f.Key.String()) {
			continue
		}
		t := e.caller(f)
		if t.Token == "" {
			continue // reported
		}
		if other, used := first[t.Token]; used {
			p := f.Key.Problem(diag.CodeValue, fmt.Sprintf("%q has the token of %q, so that they cannot be told apart", t.Caller, other.String()))
			p.Related = []diag.Related{{File: other.File(), Pos: other.Pos(), Message: fmt.Sprintf("%q is here", other.String())}}
			e.decoder.report(p)
			continue
		}
		first[t.Token] = f.Key
		out.Tokens = append(out.Tokens, t)
	}
	// Not before: a token counts as written in the file where it holds nothing of
	// the environment.
	for _, t := range out.Tokens {
		e.keep(t.Token)
	}
}

// caller decodes one caller: a token, or a map of it and of scopes. Where there
// is no token that can be used, that is reported, and it is empty.
func (e *entry) caller(f Field) CallerToken {
	owner := fmt.Sprintf(`%q in "tokens" of %s`, f.Key.String(), e.owner)
	out := CallerToken{Caller: f.Key.String()}
	if out.Caller == "" {
		e.decoder.report(f.Key.Problem(diag.CodeValue, fmt.Sprintf(`a caller in "tokens" of %s has no name`, e.owner)))
		return out
	}
	token := f.Value
	switch {
	case token.IsString():
	case token.Kind() == Map:
		c := &entry{e.environment, owner, token}
		e.decoder.report(unknownFields(token, owner, names(callerTokenSettings))...)
		out.Scopes = c.scopes("scopes")
		if token = token.Get("token"); token == nil {
			e.decoder.report(f.Value.Missing(owner, "token"))
			return out
		}
		if !token.IsString() {
			e.decoder.report(e.decoder.notAString(token, "token"))
			return out
		}
	default:
		e.decoder.report(token.Expected(owner, "a token, or a map with token and scopes"))
		return out
	}
	out.Token = e.callerToken(token, out.Caller)
	return out
}

// callerToken gives a token, empty where it cannot be used.
func (e *entry) callerToken(n *Node, caller string) string {
	token := e.expand(n.Text())
	if strings.Contains(token, "${") {
		return "" // reported already
	}
	literal := !slices.ContainsFunc(*e.secrets, func(s string) bool { return strings.Contains(token, s) })
	if literal {
		e.decoder.tokens = append(e.decoder.tokens, n)
	}
	wrong := func(message, hint string) string {
		p := n.Problem(diag.CodeValue, fmt.Sprintf("the token of %q %s", caller, message))
		p.Hint = hint
		e.decoder.report(p)
		return ""
	}
	const hint = "openssl rand -hex 32 makes a good one"
	switch {
	case token == "":
		return wrong("is empty", hint)
	case len(token) < MinToken:
		return wrong(fmt.Sprintf("is shorter than %d characters and could be guessed", MinToken), hint)
	case !IsToken(token):
		return wrong("has characters that cannot be sent: white space, or some that are not ASCII", hint)
	}
	if literal {
		p := n.Problem(diag.CodeLiteralToken, fmt.Sprintf("the token of %q is written in the file", caller))
		p.Hint = `take it from the environment, "${NAME}", or from a "tokensFile"`
		e.decoder.report(p)
	}
	return token
}

// checkedStrings gives a list of strings for which is holds.
func (e *entry) checkedStrings(name string, is func(string) bool, what, hint string) []string {
	list := e.decoder.optional(e.n, name, List)
	var out []string
	for _, n := range list.Items() {
		if n.Value().Kind() != value.String {
			e.decoder.report(n.Expected(fmt.Sprintf("an element of %q", name), "a string"))
			continue
		}
		s := e.expand(n.Text())
		if is(s) {
			out = append(out, s)
		} else if !strings.Contains(s, "${") {
			p := n.Problem(diag.CodeValue, fmt.Sprintf("%s in %q is not %s", quoted(n.Text().String()), name, what))
			p.Hint = hint
			e.decoder.report(p)
		}
	}
	return out
}

// illegible gives the text of a file with the tokens in it blotted out, so that
// nothing that is shown of it, in a log for instance, lets anybody in.
func (d *decoder) illegible(doc *document) []byte {
	if d.tokens == nil {
		return doc.source
	}
	shown := []rune(string(doc.source))
	for _, n := range d.tokens {
		from := utf8.RuneCount(doc.source[:doc.lines.Offset(n.Pos())])
		to := utf8.RuneCount(doc.source[:doc.lines.Offset(n.End())])
		for i := from; i < to; i++ {
			if !unicode.IsSpace(shown[i]) && shown[i] != '"' && shown[i] != '\'' {
				shown[i] = '*'
			}
		}
	}
	return []byte(string(shown))
}
