package config

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

// Auth says where a server's own credential comes from.
type Auth struct {
	Type string // AuthBearer, AuthOAuth2 or AuthTokenExchange

	// Of AuthBearer: one of the two.
	Token        string
	TokenCommand []string // program and arguments

	// Of the others.
	Flow             string // of AuthOAuth2
	ClientID         string
	ClientSecret     string
	TokenURL         string // empty: found by discovery
	AuthorizationURL string // of FlowAuthorizationCode; empty: found by discovery
	Scopes           []string
	Audience         string
	Resource         string // RFC 8707; empty: the address of the server
	RefreshToken     string // of FlowRefreshToken
	RedirectPort     int    // of FlowAuthorizationCode; 0: any free one
	Store            string // file of the tokens; empty: the user's own
}

// Session says where the ids of sessions are kept.
type Session struct {
	Store string // "memory" or "file"
	Path  string // of "file"
}
