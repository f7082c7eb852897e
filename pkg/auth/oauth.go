package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	sdk "github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// fetchTime bounds each question to the authorization server.
const fetchTime = 10 * time.Second

// algorithms are those that tokens may be signed with: asymmetric ones alone.
var algorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512,
	oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA,
}

// OAuthOptions configure which tokens are accepted. Issuer and Audience are
// required.
type OAuthOptions struct {
	Issuer   string // URL of the authorization server, as tokens have it in iss
	Audience string // that tokens must have in aud (RFC 8707)
	// Resource is the URL that clients know the endpoint by; empty means
	// Audience, which then has to be one.
	Resource string
	Scopes   []string // that every caller needs
	JWKS     string   // URL of the issuer's keys; empty: its metadata name it
	// Introspection is the endpoint that checks opaque tokens; nil refuses them.
	Introspection *config.Introspection
	Client        *http.Client
}

// OAuth is a Guard that takes the access tokens of an authorization server, as
// a resource server of OAuth 2.1: signed JWTs (RFC 9068) of its issuer, for its
// audience, and opaque tokens by introspection (RFC 7662). It is safe for
// concurrent use.
type OAuth struct {
	opts     OAuthOptions
	metadata string // URL of the protected-resource metadata
	pages    map[string]http.Handler
	opaque   *introspector // nil if opaque tokens are not taken

	mu       sync.Mutex
	verifier *oidc.IDTokenVerifier // nil until it is known where the keys are
	failure  error                 // why it is not, until
	until    time.Time
}

// NewOAuth returns a Guard. The issuer is asked when the first token comes. The
// error names the option that is missing or not a URL.
func NewOAuth(opts OAuthOptions) (*OAuth, error) {
	if opts.Resource == "" {
		opts.Resource = opts.Audience
	}
	if opts.Issuer == "" || opts.Audience == "" {
		return nil, errors.New("missing issuer or audience")
	}
	resource, err := url.Parse(opts.Resource)
	if err != nil || !config.IsSecureURL(opts.Resource) {
		return nil, fmt.Errorf("%q is not a secure URL; use https://, or http:// on localhost", opts.Resource)
	}
	urls := []string{opts.Issuer, opts.JWKS}
	if i := opts.Introspection; i != nil {
		if i.URL == "" || i.ClientID == "" || i.ClientSecret == "" {
			return nil, errors.New("introspection needs a URL, a client id and a client secret")
		}
		urls = append(urls, i.URL)
	}
	for _, u := range urls {
		if u != "" && !config.IsSecureURL(u) {
			return nil, fmt.Errorf("%q is not a secure URL; use https://, or http:// on localhost", u)
		}
	}
	for _, s := range opts.Scopes {
		if !config.IsScope(s) {
			return nil, fmt.Errorf("%q is not a scope", s)
		}
	}
	if opts.Client == nil {
		opts.Client = &http.Client{Timeout: fetchTime}
	}
	// RFC 9728, 3.1: the path of the resource follows the well-known one.
	const known = "/.well-known/oauth-protected-resource"
	path := known + strings.TrimSuffix(resource.EscapedPath(), "/")
	page := sdk.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
		Resource: opts.Resource, AuthorizationServers: []string{opts.Issuer}, ScopesSupported: opts.Scopes,
		BearerMethodsSupported: []string{"header"},
	})
	o := &OAuth{
		opts: opts, metadata: resource.Scheme + "://" + resource.Host + path,
		pages: map[string]http.Handler{known: page, path: page},
	}
	if opts.Introspection != nil {
		o.opaque = newIntrospector(opts)
	}
	return o, nil
}

// Pages are the protected-resource metadata (RFC 9728).
func (o *OAuth) Pages() map[string]http.Handler { return o.pages }

// Admit lets those in who have a valid token with all scopes. The caller is the
// token's subject at its client. Others get what they need to get one (MCP
// 2025-11-25, Authorization, Protected Resource Metadata Discovery).
func (o *OAuth) Admit(w http.ResponseWriter, r *http.Request) (Caller, error) {
	caller, err := o.admit(r)
	if err == nil && !caller.Has(o.opts.Scopes) {
		o.Challenge(w.Header(), nil)
		err = &refusal{http.StatusForbidden, InsufficientScope, "missing scope; required: " + strings.Join(o.opts.Scopes, " ")}
		http.Error(w, err.Error(), http.StatusForbidden)
		return Caller{}, err
	}
	if err == nil {
		return caller, nil
	}
	params := []string{"resource_metadata", o.metadata}
	if len(o.opts.Scopes) > 0 {
		params = append(params, "scope", strings.Join(o.opts.Scopes, " "))
	}
	refuse(w, err, params...)
	return Caller{}, err
}

// Challenge names the scopes, those that every caller needs among them, and the
// address of the metadata that names their issuer.
func (o *OAuth) Challenge(header http.Header, scopes []string) {
	all := slices.Clone(o.opts.Scopes)
	for _, s := range scopes {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	challenge(header, append(scopeChallenge(all), "resource_metadata", o.metadata)...)
}

// claims are those of RFC 9068, 2.2, and the scopes as some servers write them.
type claims struct {
	Subject  string `json:"sub"`
	ClientID string `json:"client_id"`
	Party    string `json:"azp"`
	Scope    string `json:"scope"`
	Scopes   any    `json:"scp"`
}

func (c *claims) scopes() []string {
	all := strings.Fields(c.Scope)
	switch s := c.Scopes.(type) {
	case string:
		all = append(all, strings.Fields(s)...)
	case []any:
		for _, one := range s {
			if text, ok := one.(string); ok {
				all = append(all, text)
			}
		}
	}
	return all
}

// caller returns the owner of a token with these claims.
func (c *claims) caller(expires time.Time) (Caller, error) {
	if c.ClientID == "" {
		c.ClientID = c.Party
	}
	if c.Subject == "" && c.ClientID == "" {
		return Caller{}, &refusal{http.StatusUnauthorized, invalidToken, "the token has no sub and no client_id"}
	}
	return Caller{
		Name:   url.QueryEscape(c.Subject) + "@" + url.QueryEscape(c.ClientID),
		Scopes: c.scopes(), Expires: expires,
	}, nil
}

func (o *OAuth) admit(r *http.Request) (Caller, error) {
	token, err := bearer(r)
	if err != nil {
		return Caller{}, err
	}
	if err := checkType(token); errors.Is(err, errNoJWT) && o.opaque != nil {
		return o.opaque.admit(r.Context(), token)
	} else if err != nil {
		return Caller{}, invalid(err)
	}
	verifier, err := o.keys(r.Context())
	if errors.Is(err, errNoKeys) && o.opaque != nil {
		return o.opaque.admit(r.Context(), token)
	}
	if err != nil {
		return Caller{}, err
	}
	var unknown error
	verified, err := verifier.Verify(context.WithValue(r.Context(), unknownKeys{}, &unknown), token)
	if unknown != nil {
		return Caller{}, unknown
	}
	var c claims
	if err == nil {
		err = verified.Claims(&c)
	}
	if err != nil {
		return Caller{}, invalid(err)
	}
	return c.caller(verified.Expiry)
}

// invalid refuses a token.
func invalid(err error) error {
	return &refusal{http.StatusUnauthorized, invalidToken, "the token is not valid: " + headerText(err)}
}

// headerText keeps an error to what a header can hold.
func headerText(err error) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return ' '
		}
		return r
	}, strings.TrimPrefix(err.Error(), "oidc: "))
}

// keys returns what verifies tokens. Where the issuer cannot be asked, it is asked
// again after a while.
func (o *OAuth) keys(ctx context.Context) (*oidc.IDTokenVerifier, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.verifier != nil {
		return o.verifier, nil
	}
	if time.Now().Before(o.until) {
		return nil, o.failure
	}
	at := o.opts.JWKS
	if at == "" {
		// The request that asks first asks for all; its client may be gone.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTime)
		defer cancel()
		meta, err := sdk.GetAuthServerMetadata(ctx, o.opts.Issuer, o.opts.Client)
		if err != nil || meta == nil || meta.JWKSURI == "" {
			o.failure = fmt.Errorf("%w: cannot get its metadata: %w", ErrUnavailable, orNoKeys(err))
			o.until = time.Now().Add(askAgain)
			return nil, o.failure
		}
		at = meta.JWKSURI
	}
	o.verifier = oidc.NewVerifier(o.opts.Issuer, newKeySet(o.opts.Client, at), &oidc.Config{
		ClientID: o.opts.Audience, SupportedSigningAlgs: algorithms,
	})
	return o.verifier, nil
}

// errNoKeys is returned if an issuer does not publish keys.
var errNoKeys = errors.New("its metadata have no jwks_uri")

func orNoKeys(err error) error {
	if err == nil {
		return errNoKeys
	}
	return err
}
