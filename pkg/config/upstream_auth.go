package config

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// decodeAuth decodes the credential for a server.
func decodeAuth(s *section) *Auth {
	a := s.subsection("auth")
	if a == nil {
		return nil
	}
	out := &Auth{Type: a.choice("type")}
	switch out.Type {
	case AuthBearer:
		a.selectType(out.Type, "")
		decodeBearer(a, out)
	case AuthOAuth2:
		if out.Flow = a.choice("flow"); out.Flow == "" {
			if !a.has("flow") {
				a.reportMissing(*a.setting("flow"))
			}
			break
		}
		a.selectType(out.Type, out.Flow)
		decodeOAuth2(a, out)
	case AuthTokenExchange:
		a.selectType(out.Type, "")
		decodeTokenExchange(a, out)
	}
	for _, h := range s.node.Get("headers").Fields() {
		if strings.EqualFold(h.Key.String(), "Authorization") && out.Type != "" {
			s.reportConflict(h.Key, fmt.Sprintf(`%s has both "auth" and a header "Authorization"`, s.owner), "auth")
		}
	}
	return out
}

func decodeBearer(s *section, out *Auth) {
	out.Token, out.TokenCommand = s.string("token"), s.words("tokenCommand")
	token, hasToken := s.node.Field("token")
	command := s.node.Get("tokenCommand")
	switch {
	case hasToken && command != nil:
		s.reportConflict(token.Key, s.owner+` has both a "token" and a "tokenCommand"`, "tokenCommand")
	case !hasToken && command == nil:
		m := s.node.Missing(s.owner, "token")
		m.Message = s.owner + ` has no "token" and no "tokenCommand"`
		m.Hint = "one of the two is required"
		s.decoder.report(m)
	case hasToken:
		s.reportMissing(*s.setting("token"))
	case len(out.TokenCommand) == 0 && (command.Kind() == List || command.IsString()):
		s.decoder.report(command.Problem(diag.CodeValue, fmt.Sprintf(`"tokenCommand" of %s is empty`, s.owner)))
	}
}

func decodeOAuth2(s *section, out *Auth) {
	decodeClient(s, out)
	out.Store = s.string("store")
	switch out.Flow {
	case FlowRefreshToken:
		out.RefreshToken = s.string("refreshToken")
	case FlowAuthorizationCode:
		out.AuthorizationURL = s.string("authorizationUrl")
		out.RedirectPort = s.count("redirectPort")
		for _, pair := range [][2]string{{"tokenUrl", "authorizationUrl"}, {"authorizationUrl", "tokenUrl"}} {
			if s.has(pair[0]) && !s.has(pair[1]) {
				m := s.node.Missing(s.owner, pair[1])
				m.Message = fmt.Sprintf("%s has %q but no %q", s.owner, pair[0], pair[1])
				m.Hint = "write both, or neither if the server's metadata name them"
				s.decoder.report(m)
			}
		}
	}
	needsIssuer(s, out)
}

func decodeTokenExchange(s *section, out *Auth) {
	decodeClient(s, out)
	out.From, out.FromMeta = s.string("from"), s.string("fromMeta")
	if out.From == "" && out.FromMeta == "" {
		out.From = authorization
	} else if out.From != "" {
		isHeaderNameOf(s, "from")
	}
	out.SubjectTokenType, out.RequestedTokenType = s.string("subjectTokenType"), s.string("requestedTokenType")
	if out.SubjectTokenType == "" {
		out.SubjectTokenType = AccessTokenType
	}
	needsIssuer(s, out)
}

// needsIssuer reports a client that has something to keep from strangers and does not say
// where its tokens come from. The server would: any server could have a secret sent
// anywhere.
func needsIssuer(s *section, out *Auth) {
	what := "the caller's token"
	for _, name := range []string{"clientSecret", "refreshToken"} {
		if s.has(name) {
			what = strconv.Quote(name)
		}
	}
	if out.Type != AuthTokenExchange && !s.has("clientSecret") && !s.has("refreshToken") {
		return
	}
	const names = `"issuer" and no "tokenUrl"`
	const hint = "write one of the two, such as issuer: https://login.example.com, so that it is sent nowhere else"
	switch {
	case !s.has("issuer") && !s.has("tokenUrl"):
		m := s.node.Missing(s.owner, "issuer")
		m.Message, m.Hint = fmt.Sprintf("%s has no %s: the server would choose who gets %s", s.owner, names, what), hint
		s.decoder.report(m)
	case out.Issuer == "" && out.TokenURL == "":
		for _, name := range []string{"issuer", "tokenUrl"} {
			if s.has(name) {
				p := s.node.Get(name).Problem(diag.CodeValue, fmt.Sprintf("%q of %s is empty: the server would choose who gets %s", name, s.owner, what))
				p.Hint = hint
				s.decoder.report(p)
			}
		}
	}
}

// decodeClient decodes the fields of every client of an authorization server.
func decodeClient(s *section, out *Auth) {
	out.Issuer, out.TokenURL = s.string("issuer"), s.string("tokenUrl")
	out.ClientID, out.ClientSecret = s.string("clientId"), s.string("clientSecret")
	out.Scopes, out.Audience = s.words("scopes"), s.string("audience")
	if s.has("resource") {
		resource := s.string("resource")
		out.Resource = &resource
	}
}

// decodeSession decodes where the session id is kept: the word memory, or a file.
func decodeSession(s *section) *Session {
	f := s.node.Get("session")
	switch {
	case f == nil:
		return nil
	case f.IsString() && f.Text().String() == StoreMemory:
		return &Session{Store: StoreMemory}
	case f.Kind() == Map:
		return &Session{Store: StoreFile, Path: s.subsection("session").string("file")}
	case f.Value().Kind() == value.String:
		p := f.Problem(diag.CodeValue, fmt.Sprintf(`"session" of %s has the unknown value %s`, s.owner, quote(f.Text().String())))
		p.Hint = "expected memory or {file: PATH}"
		s.decoder.report(p)
	default:
		s.decoder.report(f.Expected(`"session"`, `"memory" or {file: PATH}`))
	}
	return nil
}
