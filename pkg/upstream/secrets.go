package upstream

import (
	"context"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/redact"
)

// Redactor returns a function that takes these secrets out of a text: as they
// are, as they stand in JSON and in URLs, and line by line. Secrets of fewer
// than three bytes are no secrets. It is safe for concurrent use.
// It is nil if there are none.
func Redactor(secrets []string) func(string) string {
	r := redact.New(secrets)
	if r.Empty() {
		return nil
	}
	return r.Text
}

// NoteSecrets sets info.Secrets, for [Pool.Redactor], to the secrets of the caller:
// those in info that entries may forward, at once, the tokens that its calls get for the
// caller, and the arguments that tools declare as secrets, as calls send them. It does
// nothing if there is nothing to note, or if that is done already.
func (p *Pool) NoteSecrets(info *callinfo.Info) {
	if len(p.names) > 0 && info.Secrets == nil {
		info.Secrets = redact.New(p.forwardable(info), p.redact)
	}
}

// Identity returns a text that is the same for calls that get the same from all servers:
// those that carry the same credentials. info may be nil.
func (p *Pool) Identity(info *callinfo.Info) string {
	if !p.personal {
		return ""
	}
	var all strings.Builder
	for _, name := range p.names {
		all.WriteString(string(p.servers[name].credentials.Expect(info.OrNone())) + "\n")
	}
	return all.String()
}

// AddSecrets adds secrets of one call to info.Secrets, for [Pool.Redactor].
func (p *Pool) AddSecrets(info *callinfo.Info, secrets []string) {
	above := p.redact
	if noted, ok := info.Secrets.(*redact.Redactor); ok {
		above = p.with(noted)
	}
	info.Secrets = redact.New(secrets, above)
}

// with returns what redacts the secrets of the pool beside those of a call, which may have
// noted them with another pool.
func (p *Pool) with(own *redact.Redactor) *redact.Redactor {
	if own.Includes(p.redact) {
		return own
	}
	return redact.New(nil, own, p.redact)
}

// NewSecrets returns what redacts these secrets.
func NewSecrets(secrets []string) callinfo.Secrets { return redact.New(secrets) }

// forwardable returns the values in info that a call of some server would carry. They
// may stand in arguments and in results before any server is called, or without one.
func (p *Pool) forwardable(info *callinfo.Info) (all []string) {
	for _, name := range p.names {
		all = append(all, p.servers[name].credentials.Forwardable(info)...)
	}
	return all
}

// Redactor returns a function that takes the secrets of all servers out of a text:
// those of their entries and of Options.Secrets, the tokens that were got for them
// so far, and those in info.Secrets. info may be nil. It returns nil if there are
// none.
func (p *Pool) Redactor(info *callinfo.Info) func(string) string {
	var r callinfo.Secrets = p.redact
	switch own := info.OrNone().Secrets.(type) {
	case nil:
	case *redact.Redactor:
		r = p.with(own)
	default:
		r = own
	}
	if r.Empty() {
		return nil
	}
	return r.Text
}

// learnSecrets notes what a call carries for its caller.
func learnSecrets(info *callinfo.Info, call *credential.Call) {
	if r := info.Secrets; r != nil {
		r.Learn(call.Secrets...)
		r.Learn(call.Token)
	}
}

// Login logs a person in to a server whose auth has the flow
// authorizationCode: open shows the address to go to, and the browser comes
// back to a port of this machine. It waits until then, or until ctx ends.
// Errors are *[Error].
func (p *Pool) Login(ctx context.Context, server string, open func(ctx context.Context, url string) error) (Login, error) {
	s, err := p.server("login", server, "")
	if err != nil {
		return Login{}, err
	}
	l, err := s.credentials.Login(ctx, open)
	if err != nil {
		return Login{}, s.requestError(ctx, "login", "", nil, 0, err)
	}
	return Login(l), nil
}

// Logout forgets the tokens of a server, and revokes them where its
// authorization server can (RFC 7009). It reports whether there were any.
// Errors are *[Error].
func (p *Pool) Logout(ctx context.Context, server string) (bool, error) {
	s, err := p.server("logout", server, "")
	if err != nil {
		return false, err
	}
	there, err := s.credentials.Logout(ctx)
	if err != nil {
		return false, s.requestError(ctx, "logout", "", nil, 0, err)
	}
	return there, nil
}

// Logins returns what is known of the logins to the servers that a person can
// log in to, in the order of the servers and without asking anyone. Errors are
// *[Error].
func (p *Pool) Logins(ctx context.Context) ([]Login, error) {
	var all []Login
	for _, name := range p.names {
		s := p.servers[name]
		if !s.credentials.CanLogin() {
			continue
		}
		l, err := s.credentials.LoginState()
		if err != nil {
			return nil, s.requestError(ctx, "login", "", nil, 0, err)
		}
		all = append(all, Login(l))
	}
	return all, nil
}
