package credential

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// endpoints are where the tokens of a server come from.
type endpoints struct {
	issuer, authorizationURL, tokenURL, registrationURL, revocationURL string

	resource      string   // RFC 8707
	scopes        []string // that the resource asks for
	methods       []string // of client authentication; nil if they are not known
	offlineAccess bool     // the scope offline_access is known there
	namesIssuer   bool     // answers name their issuer (RFC 9207)
}

// style returns how the client proves itself at the token endpoint.
func (e *endpoints) style(secret string) oauth2.AuthStyle {
	switch {
	case secret == "", slices.Contains(e.methods, "client_secret_post") && !slices.Contains(e.methods, "client_secret_basic"):
		return oauth2.AuthStyleInParams
	case slices.Contains(e.methods, "client_secret_basic"):
		return oauth2.AuthStyleInHeader
	}
	return oauth2.AuthStyleAutoDetect
}

// discover finds out where tokens come from: from the config, or as the MCP
// specification says (2025-11-25, Authorization, Authorization Server
// Discovery) from the protected-resource metadata of the server (RFC 9728) and
// the metadata of its authorization server (RFC 8414).
func (o *oauthClient) discover(ctx context.Context, seen Challenge) (*endpoints, error) {
	if found := o.known(); found != nil {
		return found, nil
	}
	return o.discoverAgain(ctx, seen)
}

// known returns what was found out before, nil if nothing was.
func (o *oauthClient) known() *endpoints {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.found
}

// rediscover is discover where the server has refused a token: it may have got
// another authorization server (SEP-2352 of MCP). A secret of the config is for
// the one that it was used with, and not told to another.
func (o *oauthClient) rediscover(ctx context.Context, why renewal) (*endpoints, error) {
	seen, before := why.challenge(), o.known()
	if why.refusal == nil || o.isConfigured() {
		return o.discover(ctx, seen)
	}
	e, err := o.discoverAgain(ctx, seen)
	switch {
	case before == nil:
	case err != nil:
		return before, nil // what was good enough until now
	case e.issuer != before.issuer && o.auth.ClientSecret != "":
		o.mu.Lock()
		o.found = before
		o.mu.Unlock()
		failure := o.changedIssuer(before.issuer, e.issuer, "")
		failure.Hint += ", and check auth.clientId and auth.clientSecret"
		return nil, failure
	}
	return e, err
}

// isConfigured reports whether the entry says where tokens come from.
func (o *oauthClient) isConfigured() bool { return o.auth.TokenURL != "" || o.auth.Issuer != "" }

// changedIssuer is the error of a server that names another authorization server than
// before.
func (o *oauthClient) changedIssuer(before, now, otherwise string) *Error {
	return &Error{
		Message: fmt.Sprintf("its authorization server has changed from %s to %s", before, now),
		Hint:    "if that is right, " + otherwise + "set " + o.entry.Setting("auth.issuer"),
	}
}

// checkLocked returns an error if a server that was discovered is not the one in the lock
// file.
func (o *oauthClient) checkLocked(issuer string) error {
	if o.isConfigured() || issuer == "" || o.locked == nil {
		return nil
	}
	if locked := o.locked(); locked != "" && !sameIssuer(locked, issuer) {
		return &Error{
			Message: fmt.Sprintf("its authorization server is %s, but the lock file has %s", issuer, locked),
			Hint:    "if that is right, set " + o.entry.Setting("auth.issuer"),
		}
	}
	return nil
}

// sameIssuer compares issuers as the library does, which checks that metadata are of the
// issuer that was asked (RFC 8414, 3.3).
func sameIssuer(a, b string) bool { return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/") }

func (o *oauthClient) discoverAgain(ctx context.Context, seen Challenge) (*endpoints, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout(o.entry))
	defer cancel()
	e, err := o.findEndpoints(ctx, seen)
	if err != nil {
		return nil, o.failed("where its tokens come from could not be found out: ", o.answerError(ctx, err),
			"set "+o.entry.Setting("auth.issuer")+" or "+o.entry.Setting("auth.tokenUrl"))
	}
	if err := o.checkLocked(e.issuer); err != nil {
		return nil, err
	}
	if r := o.auth.Resource; r != nil {
		e.resource = *r
	}
	o.mu.Lock()
	o.found = e
	o.mu.Unlock()
	return e, nil
}

func (o *oauthClient) findEndpoints(ctx context.Context, seen Challenge) (*endpoints, error) {
	a := o.auth
	e := &endpoints{resource: resourceOf(o.entry.URL)}
	if a.TokenURL != "" {
		e.issuer, e.tokenURL, e.authorizationURL = a.Issuer, a.TokenURL, a.AuthorizationURL
		return e, nil
	}
	client := o.metadataClient(ctx)
	if a.Issuer != "" {
		meta, err := auth.GetAuthServerMetadata(ctx, a.Issuer, client)
		if err != nil {
			return nil, err
		}
		if meta == nil {
			return nil, fmt.Errorf("%s publishes no metadata (RFC 8414)", a.Issuer)
		}
		return e.from(meta), nil
	}
	if seen.metadata == "" {
		seen = o.fetchChallenge(ctx)
	}
	resource, err := o.resourceMetadata(ctx, client, seen.metadata)
	if err != nil {
		return nil, err
	}
	if resource == nil {
		return e.withoutMetadata(ctx, client, o.entry.URL)
	}
	if len(resource.AuthorizationServers) == 0 {
		return nil, errors.New("its metadata names no authorization server")
	}
	e.resource, e.scopes = resource.Resource, resource.ScopesSupported
	if len(seen.Scopes) > 0 {
		e.scopes = seen.Scopes
	}
	issuer := resource.AuthorizationServers[0]
	meta, err := auth.GetAuthServerMetadata(ctx, issuer, client)
	if err != nil {
		return nil, err
	}
	if meta == nil {
		return e.conventional(issuer), nil
	}
	return e.from(meta), nil
}

// from takes over what an authorization server says of itself.
func (e *endpoints) from(m *oauthex.AuthServerMeta) *endpoints {
	e.issuer = m.Issuer
	e.authorizationURL, e.tokenURL = m.AuthorizationEndpoint, m.TokenEndpoint
	e.registrationURL, e.revocationURL = m.RegistrationEndpoint, m.RevocationEndpoint
	e.methods = m.TokenEndpointAuthMethodsSupported
	if e.methods == nil {
		e.methods = []string{"client_secret_basic"} // RFC 8414, 2
	}
	e.offlineAccess = slices.Contains(m.ScopesSupported, "offline_access")
	e.namesIssuer = m.AuthorizationResponseIssParameterSupported
	return e
}

// withoutMetadata is for servers of the revision of 2025-03-26, which are
// their own authorization server.
func (e *endpoints) withoutMetadata(ctx context.Context, client *http.Client, address string) (*endpoints, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	origin := origin(u)
	meta, err := auth.GetAuthServerMetadata(ctx, origin, client)
	if err != nil {
		return nil, err
	}
	if meta == nil {
		return e.conventional(origin), nil
	}
	return e.from(meta), nil
}

// conventional are the endpoints of an authorization server without metadata
// (MCP 2025-03-26, Authorization, 2.3.3).
func (e *endpoints) conventional(issuer string) *endpoints {
	base := strings.TrimSuffix(issuer, "/")
	e.issuer = issuer
	e.authorizationURL, e.tokenURL, e.registrationURL = base+"/authorize", base+"/token", base+"/register"
	return e
}

// resourceMetadata reads the protected-resource metadata; nil if there is
// none.
func (o *oauthClient) resourceMetadata(ctx context.Context, client *http.Client, named string) (*oauthex.ProtectedResourceMetadata, error) {
	u, err := url.Parse(o.entry.URL)
	if err != nil {
		return nil, err
	}
	places := []string{named}
	if named == "" {
		const wellKnown = "/.well-known/oauth-protected-resource"
		places = []string{origin(u) + wellKnown + strings.TrimSuffix(u.EscapedPath(), "/"), origin(u) + wellKnown}
	}
	// RFC 9728, 3.3 wants the very address; servers differ in the last slash, and
	// many name only their origin.
	resource := resourceOf(o.entry.URL)
	names := []string{resource, resource + "/", strings.TrimSuffix(resource, "/"), origin(u), origin(u) + "/"}
	for _, place := range slices.Compact(places) {
		var failed error
		for i, name := range names {
			if slices.Contains(names[:i], name) {
				continue
			}
			meta, err := oauthex.GetProtectedResourceMetadata(ctx, place, name, client)
			if err == nil {
				return meta, nil
			}
			if failed == nil {
				failed = err
			}
			if !strings.Contains(err.Error(), "metadata resource") {
				break // it is not about the name
			}
		}
		// What is there but cannot be trusted must not be passed over. The
		// library tells the two apart in words only.
		if named != "" || !strings.Contains(failed.Error(), "bad status 4") {
			return nil, failed
		}
	}
	return nil, nil
}

// fetchChallenge asks the server something without a credential, for the challenge.
func (o *oauthClient) fetchChallenge(ctx context.Context) Challenge {
	const ping = `{"jsonrpc":"2.0","id":"probe","method":"ping"}`
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, o.entry.URL, strings.NewReader(ping))
	if err != nil {
		return Challenge{}
	}
	for _, h := range o.entry.Headers {
		r.Header.Set(h.Name, h.Value)
	}
	r.Header.Del("Authorization")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	response, err := o.http.Do(r)
	if err != nil {
		return Challenge{}
	}
	response.Body.Close()
	return ParseChallenge(response.Header)
}

// metadataClient returns the client that reads metadata. What a server of the
// internet tells us must not lead us into the private network; where the
// server itself is there, it may.
func (o *oauthClient) metadataClient(ctx context.Context) *http.Client {
	client := &http.Client{Timeout: fetchTimeout(o.entry)}
	if u, err := url.Parse(o.entry.URL); err == nil && isPrivate(ctx, u.Hostname()) {
		client.Transport = http.DefaultTransport
	}
	return client
}

func isPrivate(ctx context.Context, host string) bool {
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	return err == nil && slices.ContainsFunc(ips, func(ip netip.Addr) bool { return ip.Unmap().IsPrivate() })
}

func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

// resourceOf returns the address as a resource indicator: without a fragment
// (RFC 8707, 2), and with the scheme and host in lower case.
func resourceOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	u.Fragment, u.RawFragment = "", ""
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	return u.String()
}
