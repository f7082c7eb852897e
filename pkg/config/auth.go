package config

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const maxPort = 65535

var (
	authTypes = []string{AuthBearer, AuthOAuth2, AuthTokenExchange}
	authFlows = []string{FlowClientCredentials, FlowRefreshToken, FlowAuthorizationCode}
)

func (e *entry) auth() *Auth {
	a := e.inner("auth", authSettings)
	if a == nil {
		return nil
	}
	out := &Auth{Type: a.oneOf("type", authTypes)}
	switch out.Type {
	case AuthBearer:
		a.only(out.Type, authSettings, bearerSettings)
		a.bearer(out)
	case AuthOAuth2:
		a.oauth2(out)
	case AuthTokenExchange:
		a.only(out.Type, authSettings, clientSettings, exchangeSettings)
		a.client(out)
		out.From, out.FromMeta = a.string("from"), a.string("fromMeta")
		if out.From == "" && out.FromMeta == "" {
			out.From = "Authorization"
		} else if out.From != "" {
			a.headerName("from")
		}
		out.SubjectTokenType, out.RequestedTokenType = a.string("subjectTokenType"), a.string("requestedTokenType")
		if out.SubjectTokenType == "" {
			out.SubjectTokenType = AccessTokenType
		}
	}
	for _, h := range e.n.Get("headers").Fields() {
		if strings.EqualFold(h.Key.String(), "Authorization") && out.Type != "" {
			e.conflict(h.Key, fmt.Sprintf(`%s has "auth" and a header "Authorization"`, e.owner), "auth")
		}
	}
	return out
}

// oneOf gives a field that has to be there and to be one of these.
func (e *entry) oneOf(name string, valid []string) string {
	if e.n.Get(name) == nil {
		m := e.n.Missing(e.owner, name)
		m.Hint = "it is " + diag.List(valid)
		e.decoder.report(m)
		return ""
	}
	s := e.string(name)
	f := e.n.Get(name)
	if slices.Contains(valid, s) || !f.IsString() {
		return s
	}
	// What it was expanded to may be a secret.
	written := f.Text().String()
	p := f.Problem(diag.CodeValue, fmt.Sprintf("%s has the unknown %s %s", e.owner, name, quoted(written)))
	p.Hint = "it is " + diag.List(valid)
	if near, ok := diag.Nearest(written, valid); ok {
		p.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	e.decoder.report(p)
	return ""
}

// only reports those of all fields that mean nothing for what the map turned out
// to be.
func (e *entry) only(kind string, all []Setting, settings ...[]Setting) {
	valid := append(names(slices.Concat(settings...)), "type")
	for _, f := range e.n.Fields() {
		if key := f.Key.String(); slices.Contains(names(all), key) && !slices.Contains(valid, key) {
			e.ignored(f.Key, kind)
		}
	}
}

// onlyFlow reports the fields of other flows.
func (e *entry) onlyFlow(flow string) {
	for name, of := range map[string]string{
		"refreshToken": FlowRefreshToken, "authorizationUrl": FlowAuthorizationCode, "redirectPort": FlowAuthorizationCode,
	} {
		if f, ok := e.n.Field(name); ok && of != flow {
			e.ignored(f.Key, "the flow "+flow)
		}
	}
}

func (e *entry) ignored(key Text, kind string) {
	e.decoder.report(key.Problem(diag.CodeMeaningless,
		fmt.Sprintf("%q of %s means nothing for %s; it is ignored", key.String(), e.owner, kind)))
}

// secret is string for what must not be shown, wherever it was written.
func (e *entry) secret(name string) string {
	s := e.string(name)
	e.keep(s)
	return s
}

// needs reports fields that have to be there and are not, or are empty.
func (e *entry) needs(fields ...string) {
	for _, name := range fields {
		switch f := e.n.Get(name); {
		case f == nil:
			e.decoder.report(e.n.Missing(e.owner, name))
		case f.IsString() && f.Text().String() == "":
			e.decoder.report(f.Problem(diag.CodeValue, fmt.Sprintf("%q of %s is empty", name, e.owner)))
		}
	}
}

// conflict reports at the key that it and another field of the entry cannot
// stand together.
func (e *entry) conflict(key Text, message, other string) {
	p := key.Problem(diag.CodeConflict, message)
	p.Hint = "leave one of them out"
	if f, ok := e.n.Field(other); ok {
		p.Related = []diag.Related{{File: f.Key.File(), Pos: f.Key.Pos(), Message: fmt.Sprintf("%q is here", other)}}
	}
	e.decoder.report(p)
}

func (e *entry) bearer(out *Auth) {
	out.Token, out.TokenCommand = e.secret("token"), e.words("tokenCommand")
	token, hasToken := e.n.Field("token")
	command := e.n.Get("tokenCommand")
	switch {
	case hasToken && command != nil:
		e.conflict(token.Key, e.owner+` has a "token" and a "tokenCommand"`, "tokenCommand")
	case !hasToken && command == nil:
		m := e.n.Missing(e.owner, "token")
		m.Message = e.owner + ` has neither a "token" nor a "tokenCommand"`
		e.decoder.report(m)
	case hasToken:
		e.needs("token")
	case len(out.TokenCommand) == 0 && (command.Kind() == List || command.IsString()):
		e.decoder.report(command.Problem(diag.CodeValue, fmt.Sprintf(`"tokenCommand" of %s is empty`, e.owner)))
	}
}

func (e *entry) oauth2(out *Auth) {
	out.Flow = e.oneOf("flow", authFlows)
	if out.Flow == "" {
		return
	}
	e.only(out.Type, authSettings, clientSettings, flowSettings)
	e.onlyFlow(out.Flow)
	e.client(out)
	out.Store = e.string("store")
	switch out.Flow {
	case FlowClientCredentials:
		e.needs("clientId", "clientSecret")
	case FlowRefreshToken:
		e.needs("clientId", "refreshToken")
		out.RefreshToken = e.secret("refreshToken")
	case FlowAuthorizationCode:
		out.AuthorizationURL = e.endpoint("authorizationUrl")
		out.RedirectPort = int(e.decoder.whole(e.n, "redirectPort", 0, maxPort, 0))
		for _, pair := range [][2]string{{"tokenUrl", "authorizationUrl"}, {"authorizationUrl", "tokenUrl"}} {
			if e.n.Get(pair[0]) != nil && e.n.Get(pair[1]) == nil {
				m := e.n.Missing(e.owner, pair[1])
				m.Message = fmt.Sprintf("%s has %q but no %q", e.owner, pair[0], pair[1])
				m.Hint = "write both, or neither where the server can be asked for them"
				e.decoder.report(m)
			}
		}
	}
}

// client decodes what every client of an authorization server has.
func (e *entry) client(out *Auth) {
	out.Issuer, out.TokenURL = e.endpoint("issuer"), e.endpoint("tokenUrl")
	out.ClientID, out.ClientSecret = e.string("clientId"), e.secret("clientSecret")
	out.Scopes, out.Audience = e.words("scopes"), e.string("audience")
	if e.n.Get("resource") != nil {
		s := e.string("resource")
		out.Resource = &s
	}
}

// words gives a list of strings, which may be written as one string with white
// space between them.
func (e *entry) words(name string) []string {
	f := e.n.Get(name)
	switch {
	case f == nil:
		return nil
	case f.IsString():
		return strings.Fields(e.string(name))
	case f.Kind() == List:
		return e.strings(name)
	}
	e.decoder.report(f.Expected(fmt.Sprintf("%q", name), "a string or a list of strings"))
	return nil
}

// endpoint gives the address of an authorization server. Tokens do not travel
// unencrypted, except to this machine itself (OAuth 2.1, 1.5).
func (e *entry) endpoint(name string) string {
	s := e.string(name)
	if s == "" || strings.Contains(s, "${") {
		return s
	}
	if IsSecureURL(s) {
		return s
	}
	f := e.n.Get(name)
	e.decoder.report(f.Problem(diag.CodeValue, fmt.Sprintf(
		"%q of %s, %s, is not an address that begins with https:// (http:// will do for this machine itself)",
		name, e.owner, quoted(f.Text().String()))))
	return s
}

func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// session decodes where session ids are kept: the word memory, or a file.
func (e *entry) session() *Session {
	f := e.n.Get("session")
	switch {
	case f == nil:
		return nil
	case f.IsString() && f.Text().String() == StoreMemory:
		return &Session{Store: StoreMemory}
	case f.Kind() == Map:
		s := e.inner("session", sessionSettings)
		s.needs("file")
		return &Session{Store: StoreFile, Path: s.string("file")}
	case f.Value().Kind() == value.String:
		p := f.Problem(diag.CodeValue, fmt.Sprintf(`"session" of %s is %s`, e.owner, quoted(f.Text().String())))
		p.Hint = "write memory, or {file: PATH}"
		e.decoder.report(p)
	default:
		e.decoder.report(f.Expected(`"session"`, `"memory" or {file: PATH}`))
	}
	return nil
}
