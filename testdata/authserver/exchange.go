package main

import (
	"context"
	"net/http"
	"time"

	"github.com/ory/fosite"
	"github.com/ory/fosite/handler/oauth2"
)

const (
	grantExchange   = "urn:ietf:params:oauth:grant-type:token-exchange"
	accessTokenType = "urn:ietf:params:oauth:token-type:access_token"
)

// exchange is the grant of RFC 8693 for access tokens of this server.
type exchange struct {
	*oauth2.HandleHelper
	session func(subject, client string) fosite.Session
}

var _ fosite.TokenEndpointHandler = (*exchange)(nil)

// CanSkipClientAuth says that clients have to prove who they are.
func (*exchange) CanSkipClientAuth(context.Context, fosite.AccessRequester) bool { return false }

// CanHandleTokenEndpointRequest reports whether the request is of this grant.
func (*exchange) CanHandleTokenEndpointRequest(_ context.Context, r fosite.AccessRequester) bool {
	return r.GetGrantTypes().ExactOne(grantExchange)
}

// HandleTokenEndpointRequest checks the subject's token and takes its subject
// over.
func (x *exchange) HandleTokenEndpointRequest(ctx context.Context, r fosite.AccessRequester) error {
	if !x.CanHandleTokenEndpointRequest(ctx, r) {
		return fosite.ErrUnknownRequest
	}
	if !r.GetClient().GetGrantTypes().Has(grantExchange) {
		return fosite.ErrUnauthorizedClient
	}
	form := r.GetRequestForm()
	if form.Get("subject_token_type") != accessTokenType {
		return fosite.ErrInvalidRequest.WithHint("subject_token_type has to be that of access tokens")
	}
	token := form.Get("subject_token")
	held, err := x.AccessTokenStorage.GetAccessTokenSession(ctx, x.AccessTokenStrategy.AccessTokenSignature(ctx, token), r.GetSession())
	if err != nil {
		return fosite.ErrInvalidRequest.WithHint("the subject_token is not known")
	}
	if err := x.AccessTokenStrategy.ValidateAccessToken(ctx, held, token); err != nil {
		return &fosite.RFC6749Error{ErrorField: "invalid_grant", DescriptionField: "the subject_token is not good", CodeField: http.StatusBadRequest}
	}
	subject := held.GetSession().GetSubject()
	session := x.session(subject, r.GetClient().GetID())
	session.SetExpiresAt(fosite.AccessToken, time.Now().UTC().Add(x.Config.GetAccessTokenLifespan(ctx)))
	r.SetSession(session)
	return nil
}

// PopulateTokenEndpointResponse issues the token.
func (x *exchange) PopulateTokenEndpointResponse(ctx context.Context, r fosite.AccessRequester, w fosite.AccessResponder) error {
	if !x.CanHandleTokenEndpointRequest(ctx, r) {
		return fosite.ErrUnknownRequest
	}
	w.SetExtra("issued_token_type", accessTokenType)
	_, err := x.IssueAccessToken(ctx, x.Config.GetAccessTokenLifespan(ctx), r, w)
	return err
}
