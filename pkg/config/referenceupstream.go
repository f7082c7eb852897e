package config

import (
	"slices"
	"strconv"
)

var layerSettings = []Setting{
	{Name: "retry", Doc: "Try calls again that failed on the way; off where it is left out", Shape: MapShape, Fields: retrySettings},
	{Name: "retryUnsafe", Doc: "Try calls again whose effect on the server is unknown, also of tools that are not marked as idempotent", Shape: BoolShape, Default: "false"},
	{Name: "circuitBreaker", Doc: "Stop calling a tool that keeps failing; off where it is left out", Shape: MapShape, Fields: breakerSettings},
	{Name: "rateLimit", Doc: "Calls in a time; further calls wait", Shape: MapShape, Fields: rateSettings},
	{Name: "cache", Doc: "Use results again; off where it is left out", Shape: MapShape, Fields: cacheSettings},
}

var (
	retrySettings = []Setting{
		{Name: "maxAttempts", Doc: "Tries in all, the first included", Shape: CountShape, Default: strconv.Itoa(defaultMaxAttempts)},
		{Name: "initialDelayMs", Doc: "Time before the second try, in milliseconds", Shape: CountShape, Default: milliseconds(defaultInitialDelay)},
		{Name: "maxDelayMs", Doc: "Longest time between two tries, in milliseconds", Shape: CountShape, Default: milliseconds(defaultMaxDelay)},
		{Name: "backoff", Doc: "Factor from one delay to the next", Shape: FactorShape, Default: "2"},
		{Name: "jitter", Doc: "Vary delays at random", Shape: BoolShape, Default: "true"},
		{Name: "retryOn", Doc: "Further failures after which a call is tried again: connect, closed, timeout, malformed, HTTP statuses (500, 5xx) or codes of JSON-RPC errors", Shape: FailuresShape},
		{Name: "skipOn", Doc: "Failures after which a call is not tried again, stronger than retryOn", Shape: FailuresShape},
	}
	breakerSettings = []Setting{
		{Name: "failureThreshold", Doc: "Failures in a row that open it", Shape: CountShape, Default: strconv.Itoa(defaultFailureThreshold)},
		{Name: "successThreshold", Doc: "Successes in a row that close it again", Shape: CountShape, Default: strconv.Itoa(defaultSuccessThreshold)},
		{Name: "resetTimeoutMs", Doc: "Time for which it stays open, in milliseconds", Shape: CountShape, Default: milliseconds(defaultResetTimeout)},
		{Name: "halfOpenMaxCalls", Doc: "Calls at a time that find out whether it can close", Shape: CountShape, Default: strconv.Itoa(defaultHalfOpenMaxCalls)},
	}
	toolRateSettings = []Setting{
		{Name: "limit", Doc: "Calls in each period", Shape: CountShape, Required: true},
		{Name: "periodMs", Doc: "The period, in milliseconds", Shape: CountShape, Required: true},
	}
	rateSettings = []Setting{
		{Name: "limit", Doc: "Calls in each period, of all tools", Shape: CountShape},
		{Name: "periodMs", Doc: "The period, in milliseconds", Shape: CountShape},
		{Name: "perTool", Doc: "Limits of single tools, beside the one of all", Shape: EntriesShape, Fields: toolRateSettings},
	}
	cacheSettings = []Setting{
		{Name: "ttlMs", Doc: "How long a result is used, in milliseconds", Shape: CountShape, Default: milliseconds(defaultTTL)},
		{Name: "maxEntries", Doc: "Results that are kept", Shape: CountShape, Default: strconv.Itoa(defaultMaxEntries)},
		{Name: "tools", Doc: "The tools whose results are kept: names or globs", Shape: StringsShape, Required: true},
	}
)

var credentialSettings = []Setting{
	{Name: "auth", Doc: "Where the server's credential comes from", Shape: MapShape, Fields: authSettings},
	{Name: "forwardHeaders", Doc: "Headers of the caller's request that are passed on", Shape: ListShape, Fields: forwardHeaderSettings},
	{Name: "forwardMeta", Doc: "Keys of the _meta of the caller's request that are passed on as headers", Shape: ListShape, Fields: forwardMetaSettings},
}

var (
	sessionSetting = Setting{
		Name: "session", Doc: "Where session ids are kept: in memory, or in a file, so that sessions outlive this process",
		Shape: SessionShape, Values: []string{StoreMemory}, Fields: sessionSettings, Default: strconv.Quote(StoreMemory),
	}
	sessionSettings = []Setting{{Name: "file", Doc: "Path of the file", Required: true}}
)

var (
	forwardHeaderSettings = []Setting{
		{Name: "from", Doc: "Header of the caller's request", Required: true},
		{Name: "to", Doc: "Header of the requests to the server; the same where it is left out"},
		forwardPrefix, forwardRequired,
		{Name: "unsafePassthrough", Doc: "Pass on even the caller's own Authorization, which MCP forbids", Shape: BoolShape, Default: "false"},
	}
	forwardMetaSettings = []Setting{
		{Name: "from", Doc: "Key of the _meta of the caller's request", Required: true},
		{Name: "to", Doc: "Header of the requests to the server", Required: true},
		forwardPrefix, forwardRequired,
	}
	forwardPrefix   = Setting{Name: "prefix", Doc: "What stands before the value"}
	forwardRequired = Setting{Name: "required", Doc: "Refuse calls without it", Shape: BoolShape, Default: "false"}
)

var authSettings = slices.Concat([]Setting{{Name: "type", Doc: "Kind of credential", Required: true, Values: authTypes}},
	bearerSettings, flowSettings, clientSettings, exchangeSettings)

var (
	bearerSettings = []Setting{
		{Name: "token", Doc: "Of bearer: the token"},
		{Name: "tokenCommand", Doc: "Of bearer: a program that prints the token", Shape: WordsShape},
	}
	flowSettings = []Setting{
		{Name: "flow", Doc: "Of oauth2: how a token is come by", Values: authFlows},
		{Name: "refreshToken", Doc: "Of the flow refreshToken: the token that others are got with"},
		{Name: "authorizationUrl", Doc: "Of the flow authorizationCode: address at which people allow access"},
		{Name: "redirectPort", Doc: "Of the flow authorizationCode: the port on this machine to which the browser returns; 0 is any", Shape: PortShape, Default: "0"},
		{Name: "store", Doc: "Of oauth2: the file that keeps tokens"},
	}
	clientSettings = []Setting{
		{Name: "issuer", Doc: "Address of the authorization server; the server is asked where it is left out"},
		{Name: "tokenUrl", Doc: "Address that gives tokens; the authorization server is asked where it is left out"},
		{Name: "clientId", Doc: "Name of this client at the authorization server"},
		{Name: "clientSecret", Doc: "Secret of this client"},
		{Name: "scopes", Doc: "What the token is to allow", Shape: WordsShape},
		{Name: "audience", Doc: "Whom the token is for, where the authorization server wants to know"},
		{Name: "resource", Doc: "What the token is for (RFC 8707); the address of the server where it is left out, not sent where it is empty"},
	}
	exchangeSettings = []Setting{
		{Name: "from", Doc: "Of tokenExchange: header of the caller's request that has its token; Authorization where fromMeta is left out too"},
		{Name: "fromMeta", Doc: "Of tokenExchange: key of the _meta of the caller's request that has its token"},
		{Name: "subjectTokenType", Doc: "Of tokenExchange: type of the caller's token", Default: strconv.Quote(AccessTokenType)},
		{Name: "requestedTokenType", Doc: "Of tokenExchange: type of the token that is asked for"},
	}
)
