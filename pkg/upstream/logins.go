package upstream

import (
	"context"
	"time"
)

// Login is what is known of a login to a server.
type Login struct {
	Server    string
	LoggedIn  bool
	Issuer    string // the authorization server; empty if it is not known
	Scopes    []string
	ExpiresAt time.Time // of the access token; zero if it is not known
	Renewable bool      // without a person
	File      string    // where it is kept
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
