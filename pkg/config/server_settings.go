package config

import "slices"

var serverSettings = slices.Concat([]Setting{
	{Name: "name", Doc: "Name of the server", Required: true},
	{Name: "version", Doc: "Version of the server", Required: true},
	{Name: "title", Doc: "Name that clients show to people; by default the name"},
	{Name: "instructions", Doc: "How to use the server, for clients and their models"},
	{Name: "description", Doc: "Older name of instructions"},
}, accessSettings, concurrencySettings)

// accessSettings apply to HTTP.
var accessSettings = []Setting{
	{Name: "auth", Doc: "How callers over HTTP authenticate; by default not at all", Shape: MapShape, Fields: serverAuthSettings},
	{Name: "allowedHosts", Doc: "Accepted Host headers, such as tools.example.com; a server on a loopback address accepts only loopback hosts by default", Shape: StringsShape},
	{Name: "allowedOrigins", Doc: "Web pages that may send requests, by origin, such as https://example.com", Shape: StringsShape},
	{Name: "hideUnscopedTools", Doc: "Hide tools from callers that lack their requiredScopes", Shape: BoolShape, Default: "false"},
}

var concurrencySettings = []Setting{
	{Name: "maxConcurrentCalls", Doc: "Largest number of tool calls that run at the same time; further calls wait; 0 means no limit", Shape: BoundShape, Default: "0"},
	{Name: "maxConcurrentCallsPerCaller", Doc: "The same limit for each caller; 0 means no limit", Shape: BoundShape, Default: "0"},
	{Name: "maxCallWaitMs", Doc: "How long a call waits before it fails because of these limits", Shape: DurationShape, Default: milliseconds(DefaultMaxCallWait)},
}

var (
	forBearer = []string{AuthBearer}
	forOAuth  = []string{AuthOAuth}

	serverAuthSettings = []Setting{
		{Name: "type", Doc: "How callers authenticate", Required: true, Values: []string{AuthBearer, AuthOAuth}},
		{Name: "tokens", Doc: "The token of each caller, by the caller's name; or a map with the token and its scopes", Shape: TokensShape, For: forBearer, Fields: callerTokenSettings},
		{Name: "tokensFile", Doc: "Path of a file with one line per caller: name, token, and scopes; relative to the configuration file", For: forBearer},
		{Name: "issuer", Doc: "URL of the authorization server", Shape: SecureURLShape, For: forOAuth, RequiredFor: forOAuth},
		{Name: "audience", Doc: "Audience that access tokens must have, usually the public URL of the endpoint", For: forOAuth, RequiredFor: forOAuth},
		{Name: "requiredScopes", Doc: "Scopes that every caller needs", Shape: WordsShape, For: forOAuth},
		{Name: "jwks", Doc: "URL of the issuer's keys; by default taken from the issuer's metadata", Shape: SecureURLShape, For: forOAuth},
		{Name: "introspection", Doc: "How to check access tokens that are not JWTs (RFC 7662); by default they are refused", Shape: MapShape, For: forOAuth, Fields: introspectionSettings},
		{Name: "publicUrl", Doc: "Public URL of the endpoint, if it is not the audience", Shape: SecureURLShape, For: forOAuth},
	}
	callerTokenSettings = []Setting{
		{Name: "token", Doc: "The token; at least 16 characters", Required: true, Secret: true},
		{Name: "scopes", Doc: "Scopes of the caller", Shape: WordsShape},
	}
	introspectionSettings = []Setting{
		{Name: "url", Doc: "URL of the introspection endpoint", Shape: SecureURLShape, Required: true},
		{Name: "clientId", Doc: "Client id for the endpoint", Required: true},
		{Name: "clientSecret", Doc: "Client secret for the endpoint", Required: true, Secret: true},
	}
)
