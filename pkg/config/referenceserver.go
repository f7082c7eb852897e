package config

import "slices"

var serverSettings = slices.Concat([]Setting{
	{Name: "name", Doc: "Name of the server", Required: true},
	{Name: "version", Doc: "Version of the server", Required: true},
	{Name: "title", Doc: "Name for people; the name where it is left out"},
	{Name: "instructions", Doc: "What clients are told about using the server"},
	{Name: "description", Doc: "Older spelling of instructions"},
}, accessSettings, turnSettings)

// accessSettings are about serving over HTTP.
var accessSettings = []Setting{
	{Name: "auth", Doc: "Who may call the tools over HTTP", Shape: MapShape, Fields: serverAuthSettings},
	{Name: "allowedHosts", Doc: "Hosts that HTTP requests may name; on loopback addresses, only loopback hosts are known", Shape: StringsShape},
	{Name: "allowedOrigins", Doc: "Origins of web pages that may come in over HTTP, such as https://example.com", Shape: StringsShape},
	{Name: "hideUnscopedTools", Doc: "List to a caller over HTTP only the tools that it has the scopes for", Shape: BoolShape, Default: "false"},
}

// turnSettings are about calls at the same time.
var turnSettings = []Setting{
	{Name: "maxConcurrentCalls", Doc: "Calls of tools that run at the same time; further calls wait", Shape: BoundShape, Default: "0"},
	{Name: "maxConcurrentCallsPerCaller", Doc: "As maxConcurrentCalls, for the calls of one caller", Shape: BoundShape, Default: "0"},
	{Name: "maxCallWaitMs", Doc: "How long a call waits for its turn, in milliseconds, before it is answered with an error", Shape: CountShape, Default: milliseconds(DefaultMaxCallWait)},
}

var serverAuthSettings = slices.Concat([]Setting{{Name: "type", Doc: "How callers prove who they are", Required: true, Values: serverAuthTypes}},
	callerSettings, issuerSettings)

var (
	callerSettings = []Setting{
		{Name: "tokens", Doc: "Of bearer: for each caller, by name, the token, or a map of it and of the caller's scopes", Shape: TokensShape, Fields: callerTokenSettings},
		{Name: "tokensFile", Doc: "Of bearer: path of a file with a line for each caller: name, token, and scopes; relative to this file"},
	}
	callerTokenSettings = []Setting{
		{Name: "token", Doc: "The token; at least 16 characters", Required: true},
		{Name: "scopes", Doc: "What the caller may do beside calling the tools that need no scopes", Shape: WordsShape},
	}
	introspectionSettings = []Setting{
		{Name: "url", Doc: "Address of the authorization server's introspection endpoint", Required: true},
		{Name: "clientId", Doc: "The client that may ask there", Required: true},
		{Name: "clientSecret", Doc: "Its secret", Required: true},
	}
	issuerSettings = []Setting{
		{Name: "issuer", Doc: "Of oauth: address of the authorization server"},
		{Name: "audience", Doc: "Of oauth: whom access tokens have to be for, as a rule the public address of the endpoint"},
		{Name: "requiredScopes", Doc: "Of oauth: scopes that every caller needs", Shape: WordsShape},
		{Name: "jwks", Doc: "Of oauth: address of the issuer's keys; the issuer is asked where it is left out"},
		{Name: "introspection", Doc: "Of oauth: where to ask about access tokens that are no JWTs (RFC 7662); they are refused where it is left out", Shape: MapShape, Fields: introspectionSettings},
		{Name: "publicUrl", Doc: "Of oauth: the address of the endpoint as clients know it, where the audience is another"},
	}
)
