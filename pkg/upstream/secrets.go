package upstream

import "context"

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

// NoteSecrets returns a context whose calls note the credentials of their caller
// that they carry, for [Pool.Redactor]. It is ctx itself where there is nothing to
// note, or where that is done already.
func (p *Pool) NoteSecrets(ctx context.Context) context.Context {
	if !p.personal || noteOf(ctx) != nil {
		return ctx
	}
	return context.WithValue(ctx, noteKey{}, &redactor{above: []*redactor{p.redact}})
}

func noteOf(ctx context.Context) *redactor {
	r, _ := ctx.Value(noteKey{}).(*redactor)
	return r
}

// Redactor returns what takes the secrets of all servers out of a text, nil where
// there are none: those of their entries and of Options.Secrets, the tokens that
// were got for them so far, and the credentials that the calls of ctx carried so
// far, where [Pool.NoteSecrets] made it.
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
