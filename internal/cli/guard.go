package cli

import (
	"cmp"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
	"github.com/mcpgraph/mcpgraph/pkg/config"
)

const (
	// tokensVariable names the variable that has the callers' tokens, in the form
	// of the file of --auth-tokens.
	tokensVariable = "MCPGRAPH_AUTH_TOKENS"
	// introspectionVariable names the variable that has the secret of the client
	// which asks about opaque tokens.
	introspectionVariable = "MCPGRAPH_AUTH_INTROSPECTION_SECRET"
	// authSetting is the path of the file's settings for authentication.
	authSetting = "server.auth in the file"
)

// checkAuth returns an error if the flags for authentication are invalid.
func (o *httpOptions) checkAuth() error {
	a := o.auth
	ofOAuth := a.Issuer != "" || a.Audience != "" || len(a.RequiredScopes) > 0 || a.JWKS != "" || a.PublicURL != ""
	switch {
	case a.Type != "" && a.Type != config.AuthBearer && a.Type != config.AuthOAuth:
		return usagef("--auth %s: expected bearer or oauth", a.Type)
	case a.Type != config.AuthBearer && a.TokensFile != "":
		return usagef("--auth-tokens needs --auth bearer")
	case a.Type != config.AuthOAuth && ofOAuth:
		return usagef("--auth-issuer, --auth-audience, --auth-scope, --auth-jwks and --public-url need --auth oauth")
	case a.Type == config.AuthOAuth && (a.Issuer == "" || a.Audience == ""):
		return usagef("--auth oauth needs --auth-issuer URL and --auth-audience AUDIENCE")
	case a.Type != config.AuthOAuth && (o.introspection != config.Introspection{}):
		return usagef("--auth-introspection and --auth-introspection-client need --auth oauth")
	case (o.introspection.URL == "") != (o.introspection.ClientID == ""):
		return usagef("--auth-introspection URL and --auth-introspection-client ID need each other")
	case a.Type == config.AuthOAuth && a.PublicURL == "" && !config.IsSecureURL(a.Audience):
		return usagef("--auth-audience %s is not an https:// URL; set --public-url to the public URL of the endpoint", a.Audience)
	}
	return nil
}

// newGuard returns what authenticates callers, or nil if every caller is allowed,
// and whether flags configure it instead of the file.
func newGuard(a *app, o httpOptions, engine served) (guard auth.Guard, byFlags bool, err error) {
	if o.auth.Type == "" {
		if guard, err = engine.Guard(); err != nil {
			err = failedf("%s, server.auth: %w", engine.File().Path, err)
		}
		return guard, false, err
	}
	settings := o.auth
	if settings.Type == config.AuthBearer && settings.TokensFile == "" {
		if settings.Tokens, err = callerTokens(a); err != nil {
			return nil, true, err
		}
	}
	if o.introspection.URL != "" {
		asked := o.introspection
		if asked.ClientSecret, _ = a.getenv(introspectionVariable); asked.ClientSecret == "" {
			return nil, true, usagef("--auth-introspection needs the client secret in the environment variable %s", introspectionVariable)
		}
		settings.Introspection = &asked
	}
	if settings.TokensFile != "" {
		guard, err = auth.NewTokensFile(settings.TokensFile)
	} else {
		guard, err = auth.New(&settings)
	}
	switch {
	case err != nil && settings.TokensFile == "":
		err = usagef("--auth %s: %v", settings.Type, err)
	case err != nil:
		err = failedf("--auth %s: %w", settings.Type, err)
	}
	return guard, true, err
}

// callerTokens reads the callers' tokens from the environment.
func callerTokens(a *app) ([]config.CallerToken, error) {
	text, _ := a.getenv(tokensVariable)
	if strings.TrimSpace(text) == "" {
		return nil, usagef("--auth bearer needs tokens: pass --auth-tokens FILE, or set the environment variable %s", tokensVariable)
	}
	tokens, err := auth.ParseTokens(text)
	if err != nil {
		return nil, failedf("%s: %w", tokensVariable, err)
	}
	return tokens, nil
}

// unscoped is the error for a file with tools, prompts or resources that require scopes on a server
// without authentication: no caller has scopes.
func unscoped(file *config.File) error {
	scoped := func(what, name string, scopes []string) error {
		if len(scopes) == 0 {
			return nil
		}
		return usagef("%s %q has requiredScopes, but without authentication nobody could call it; add --auth or %s", what, name, authSetting)
	}
	var errs []error
	for _, t := range file.Tools {
		errs = append(errs, scoped("tool", t.Name.String(), t.RequiredScopes))
	}
	for _, p := range file.Prompts {
		errs = append(errs, scoped("prompt", p.Name.String(), p.RequiredScopes))
	}
	for _, r := range file.Resources {
		errs = append(errs, scoped("resource", r.Name.String(), r.RequiredScopes))
	}
	if scopes := file.Scopes(); len(scopes) > 0 { // its tools were not read
		errs = append(errs, usagef("tools of %s have requiredScopes, but without authentication nobody has scopes; add --auth or %s", file.Path, authSetting))
	}
	return cmp.Or(errs...)
}
