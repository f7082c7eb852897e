package upstream

import (
	"context"
	"encoding/base64"
	"strings"
	"unicode"
)

// Redactor returns a function that takes these secrets out of a text: as they
// are, as they stand in JSON and in URLs, and line by line. Secrets of fewer
// than three bytes are no secrets. It is safe for concurrent use.
// Where there are none it is nil.
func Redactor(secrets []string) func(string) string {
	r := newRedactor(secrets)
	if len(r.forms.all) == 0 {
		return nil
	}
	return r.text
}

type noteKey struct{}

// NoteSecrets returns a context for [Pool.Redactor] that knows the secrets of a
// caller: those of [CredentialsOf](ctx) that entries may forward, at once, and the
// tokens that its calls get for the caller, as they get them. It returns ctx itself
// if there is nothing to note, or if that is done already.
func (p *Pool) NoteSecrets(ctx context.Context) context.Context {
	if !p.personal || noteOf(ctx) != nil {
		return ctx
	}
	return context.WithValue(ctx, noteKey{}, &redactor{above: []*redactor{p.redact}, fixed: p.forwardable(CredentialsOf(ctx))})
}

// forwardable returns the values in c that a call of some server would carry. They
// may stand in arguments and in results before any server is called, or without one.
func (p *Pool) forwardable(c Credentials) []string {
	var g grant
	for _, name := range p.names {
		a := p.servers[name].authority
		for _, rules := range [][]rule{a.rules, a.subject} {
			for _, r := range rules {
				if v := r.take(c); v != "" && len(v) <= maxForwarded {
					g.keep(v)
				}
			}
		}
	}
	return g.secrets
}

// credentialsIn returns what is secret by itself in the value of a header that
// begins with an authentication scheme (RFC 9110, 11.4): what follows the scheme,
// and of Basic the password.
func credentialsIn(v string) []string {
	scheme, rest, ok := strings.Cut(strings.TrimSpace(v), " ")
	rest = strings.TrimSpace(rest)
	isNoLetter := func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) }
	if !ok || rest == "" || strings.ContainsAny(rest, " \t") || strings.ContainsFunc(scheme, isNoLetter) {
		return nil
	}
	if strings.EqualFold(scheme, "Basic") {
		if text, err := base64.StdEncoding.DecodeString(rest); err == nil {
			if _, password, ok := strings.Cut(string(text), ":"); ok {
				return []string{rest, password}
			}
		}
	}
	return []string{rest}
}

func noteOf(ctx context.Context) *redactor {
	r, _ := ctx.Value(noteKey{}).(*redactor)
	return r
}

// Redactor returns what takes the secrets of all servers out of a text, nil where
// there are none: those of their entries and of Options.Secrets, the tokens that
// were got for them so far, and if [Pool.NoteSecrets] made ctx, those of its
// caller.
func (p *Pool) Redactor(ctx context.Context) func(string) string {
	r := noteOf(ctx)
	if r == nil {
		r = p.redact
	}
	if len(r.now().all) == 0 {
		return nil
	}
	return r.text
}

// note notes what a call carries for its caller.
func (g *grant) note(ctx context.Context) {
	if r := noteOf(ctx); r != nil {
		r.learn(g.secrets...)
		r.learn(g.token)
	}
}

// isPersonal reports whether calls carry credentials that are not the server's
// own.
func (a *authority) isPersonal() bool {
	return a.rules != nil || a.source != nil || a.exchange != nil
}
