package config

import "github.com/mcpgraph/mcpgraph/pkg/diag"

// Forward takes one value of what a caller sent and puts it into a header of
// the requests to a server, for that caller's calls alone.
type Forward struct {
	From string // name of the header of the caller's request, or of the key of its _meta
	To   string // name of the header upstream
	// Prefix stands before the value.
	Prefix   string
	Required bool // a call without it fails
	// UnsafePassthrough allows the caller's own Authorization to be passed on.
	UnsafePassthrough bool
	Pos               diag.Pos
}

// Types of Auth.
const (
	AuthBearer        = "bearer"
	AuthOAuth2        = "oauth2"
	AuthTokenExchange = "tokenExchange" // RFC 8693
)

// Flows of AuthOAuth2.
const (
	FlowClientCredentials = "clientCredentials"
	FlowRefreshToken      = "refreshToken"
	FlowAuthorizationCode = "authorizationCode"
)

// Auth configures the source of a server's credential.
type Auth struct {
	Type string // AuthBearer, AuthOAuth2 or AuthTokenExchange

	// Of AuthBearer: one of the two.
	Token        string
	TokenCommand []string // a program and its arguments

	// Of the others. Addresses that are empty are found by discovery. The file has one of
	// Issuer and TokenURL with ClientSecret, RefreshToken or AuthTokenExchange.
	Issuer, TokenURL       string
	ClientID, ClientSecret string
	Scopes                 []string
	Audience               string
	Resource               *string // RFC 8707; nil: the address of the server; empty: not sent

	// Of AuthOAuth2.
	Flow             string // FlowClientCredentials, FlowRefreshToken or FlowAuthorizationCode
	AuthorizationURL string // of FlowAuthorizationCode
	RedirectPort     int    // of FlowAuthorizationCode; 0: any free one
	RefreshToken     string // of FlowRefreshToken
	Store            string // file of the tokens; empty: the user's own

	// Of AuthTokenExchange: the header, or the key of _meta, that holds the
	// caller's token; one may be empty.
	From, FromMeta                       string
	SubjectTokenType, RequestedTokenType string // URIs of RFC 8693, 3; the latter may be empty
}

// Session configures the storage of session ids.
type Session struct {
	Store string // StoreMemory or StoreFile
	Path  string // of StoreFile
}

// Stores of Session.
const (
	StoreMemory = "memory"
	StoreFile   = "file"
)

// AccessTokenType is the token type that [Auth].SubjectTokenType has by default
// (RFC 8693, 3).
const AccessTokenType = "urn:ietf:params:oauth:token-type:access_token"
