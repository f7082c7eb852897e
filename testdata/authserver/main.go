// Authserver is an OAuth 2.1 authorization server for tests, made of
// github.com/ory/fosite: metadata, authorization code with PKCE, client
// credentials, refresh tokens that work once, token exchange (RFC 8693),
// dynamic registration, revocation and introspection. It is a module of its
// own, so that what it is made of stays out of the project's dependencies.
//
// It prints its address, and ends with its standard input.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/ory/fosite"
	"github.com/ory/fosite/compose"
	"github.com/ory/fosite/handler/oauth2"
	"github.com/ory/fosite/storage"
	"github.com/ory/fosite/token/jwt"
)

// authServer is the provider and what it stands on.
type authServer struct {
	provider fosite.OAuth2Provider
	store    *storage.MemoryStore
	config   *fosite.Config
	issuer   string
	resource string // the only resource that tokens are for; empty: any
	register bool
	signer   *signer // of access tokens; nil: they are opaque
}

func main() {
	access := flag.Duration("access", time.Hour, "life of access tokens")
	resource := flag.String("resource", "", "the only resource that tokens are issued for")
	register := flag.Bool("register", true, "let clients register")
	signed := flag.Bool("jwt", false, "make access tokens JWTs, whose key /keys shows")
	flag.Parse()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	var keys *signer
	if *signed {
		if keys, err = newSigner(); err != nil {
			log.Fatal(err)
		}
	}
	s := newServer("http://"+listener.Addr().String(), *access, keys)
	s.resource, s.register = *resource, *register
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	fmt.Println(s.issuer)
	log.Fatal(http.Serve(listener, s.handler()))
}

func newServer(issuer string, access time.Duration, keys *signer) *authServer {
	config := &fosite.Config{
		AccessTokenLifespan: access, GlobalSecret: []byte("a secret of thirty-two bytes or so"),
		HashCost: 4, EnforcePKCE: true, RefreshTokenScopes: []string{}, ScopeStrategy: fosite.ExactScopeStrategy,
		// Any client may ask for any resource; see meant.
		AudienceMatchingStrategy: func([]string, []string) error { return nil },
		AccessTokenIssuer:        issuer, TokenURL: issuer + "/token", JWTScopeClaimKey: jwt.JWTScopeFieldString,
	}
	s := &authServer{store: storage.NewMemoryStore(), config: config, issuer: issuer, signer: keys}
	var strategy oauth2.CoreStrategy = compose.NewOAuth2HMACStrategy(config)
	if keys != nil {
		strategy = compose.NewOAuth2JWTStrategy(keys.private, strategy, config)
	}
	s.provider = compose.Compose(config, s.store, strategy,
		compose.OAuth2AuthorizeExplicitFactory, compose.OAuth2PKCEFactory, compose.OAuth2ClientCredentialsGrantFactory,
		compose.OAuth2RefreshTokenGrantFactory, compose.OAuth2TokenRevocationFactory,
		compose.OAuth2TokenIntrospectionFactory,
		func(fosite.Configurator, any, any) any {
			return &exchange{&oauth2.HandleHelper{AccessTokenStrategy: strategy, AccessTokenStorage: s.store, Config: config}, s.session}
		},
	)
	for _, name := range []string{"alice", "bob", "carol"} {
		s.store.Users[name] = storage.MemoryUserRelation{Username: name, Password: name + "-password"}
	}
	s.addClient("worker", "worker-secret", nil, "client_credentials", "refresh_token", "authorization_code", grantExchange)
	s.addClient("resource-server", "resource-server-secret", nil)
	s.addClient("desktop", "", []string{"http://127.0.0.1/callback"}, "authorization_code", "refresh_token")
	return s
}

func (s *authServer) addClient(id, secret string, redirects []string, grants ...string) {
	c := &fosite.DefaultClient{
		ID: id, Public: secret == "", RedirectURIs: redirects, GrantTypes: grants,
		ResponseTypes: []string{"code"}, Scopes: []string{"read", "write"},
	}
	if secret != "" {
		hash, err := s.config.GetSecretsHasher(context.Background()).Hash(context.Background(), []byte(secret))
		if err != nil {
			log.Fatal(err)
		}
		c.Secret = hash
	}
	s.store.Clients[id] = c
}

func (s *authServer) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", s.metadata)
	mux.HandleFunc("GET /authorize", s.authorize)
	mux.HandleFunc("POST /token", s.token)
	mux.HandleFunc("POST /revoke", func(w http.ResponseWriter, r *http.Request) {
		s.provider.WriteRevocationResponse(r.Context(), w, s.provider.NewRevocationRequest(r.Context(), r))
	})
	mux.HandleFunc("POST /introspect", func(w http.ResponseWriter, r *http.Request) {
		answer, err := s.provider.NewIntrospectionRequest(r.Context(), r, s.session("", ""))
		if err != nil {
			s.provider.WriteIntrospectionError(r.Context(), w, err)
			return
		}
		s.provider.WriteIntrospectionResponse(r.Context(), w, answer)
	})
	if s.register {
		mux.HandleFunc("POST /register", s.registration)
	}
	if s.signer != nil {
		mux.HandleFunc("GET /keys", s.signer.keys)
	}
	return mux
}

func (s *authServer) metadata(w http.ResponseWriter, _ *http.Request) {
	m := map[string]any{
		"issuer": s.issuer, "authorization_endpoint": s.issuer + "/authorize", "token_endpoint": s.issuer + "/token",
		"revocation_endpoint": s.issuer + "/revoke", "introspection_endpoint": s.issuer + "/introspect",
		"scopes_supported": []string{"read", "write"}, "response_types_supported": []string{"code"},
		"grant_types_supported":                          []string{"authorization_code", "refresh_token", "client_credentials", grantExchange},
		"token_endpoint_auth_methods_supported":          []string{"client_secret_basic", "none"},
		"code_challenge_methods_supported":               []string{"S256"},
		"authorization_response_iss_parameter_supported": true,
	}
	if s.register {
		m["registration_endpoint"] = s.issuer + "/register"
	}
	if s.signer != nil {
		m["jwks_uri"] = s.issuer + "/keys"
	}
	answer(w, http.StatusOK, m)
}

// authorize logs a user in by HTTP Basic and consents to everything.
func (s *authServer) authorize(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	user, password, _ := r.BasicAuth()
	if _, err := s.store.Authenticate(ctx, user, password); err != nil {
		w.Header().Set("WWW-Authenticate", `Basic realm="login"`)
		http.Error(w, "who are you?", http.StatusUnauthorized)
		return
	}
	request, err := s.provider.NewAuthorizeRequest(ctx, r)
	if err == nil {
		err = s.meant(r.URL.Query()["resource"])
	}
	if err != nil {
		s.provider.WriteAuthorizeError(ctx, w, request, err)
		return
	}
	for _, scope := range request.GetRequestedScopes() {
		request.GrantScope(scope)
	}
	for _, resource := range r.URL.Query()["resource"] {
		request.GrantAudience(resource)
	}
	response, err := s.provider.NewAuthorizeResponse(ctx, request, s.session(user, request.GetClient().GetID()))
	if err != nil {
		s.provider.WriteAuthorizeError(ctx, w, request, err)
		return
	}
	response.AddParameter("iss", s.issuer) // RFC 9207
	s.provider.WriteAuthorizeResponse(ctx, w, request, response)
}

func (s *authServer) token(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	client, _, _ := r.BasicAuth()
	request, err := s.provider.NewAccessRequest(ctx, r, s.session("", client))
	if err == nil {
		err = s.meant(r.PostForm["resource"])
	}
	if err != nil {
		s.provider.WriteAccessError(ctx, w, request, err)
		return
	}
	if request.GetGrantTypes().HasOneOf("client_credentials", grantExchange) {
		for _, scope := range request.GetRequestedScopes() {
			request.GrantScope(scope)
		}
		for _, resource := range r.PostForm["resource"] {
			request.GrantAudience(resource)
		}
	}
	response, err := s.provider.NewAccessResponse(ctx, request)
	if err != nil {
		s.provider.WriteAccessError(ctx, w, request, err)
		return
	}
	s.provider.WriteAccessResponse(ctx, w, request, response)
}

// meant checks the resources that a token is asked for (RFC 8707, 2).
func (s *authServer) meant(resources []string) error {
	if s.resource == "" || len(resources) == 1 && resources[0] == s.resource {
		return nil
	}
	return &fosite.RFC6749Error{
		ErrorField: "invalid_target", DescriptionField: "tokens are issued for " + s.resource + " only", CodeField: http.StatusBadRequest,
	}
}

// registration registers a client (RFC 7591).
func (s *authServer) registration(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		RedirectURIs []string `json:"redirect_uris"`
		GrantTypes   []string `json:"grant_types"`
		Scope        string   `json:"scope"`
		Method       string   `json:"token_endpoint_auth_method"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || len(asked.RedirectURIs) == 0 {
		answer(w, http.StatusBadRequest, map[string]string{"error": "invalid_client_metadata"})
		return
	}
	id := fmt.Sprintf("registered-%d", len(s.store.Clients))
	s.addClient(id, "", asked.RedirectURIs, asked.GrantTypes...)
	answer(w, http.StatusCreated, map[string]any{
		"client_id": id, "redirect_uris": asked.RedirectURIs, "grant_types": asked.GrantTypes,
		"token_endpoint_auth_method": "none", "scope": strings.TrimSpace(asked.Scope),
	})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
