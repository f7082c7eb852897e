package config

import (
	"maps"
	"slices"
	"strconv"
	"time"
)

// Defaults of the call policies of an upstream server, if they are on.
const (
	defaultMaxAttempts      = 3
	defaultInitialDelay     = time.Second
	defaultMaxDelay         = 30 * time.Second
	defaultFailureThreshold = 5
	defaultSuccessThreshold = 2
	defaultResetTimeout     = time.Minute
	defaultHalfOpenMaxCalls = 1
	defaultTTL              = time.Minute
	defaultMaxEntries       = 1000
)

// upstreamSettings are the fields of an entry of mcpServers.
var upstreamSettings = slices.Concat(processSettings, remoteSettings, connectionSettings, policySettings, credentialSettings,
	[]Setting{sessionSetting}, foreignSettings)

// processSettings apply to servers that are child processes.
var processSettings = []Setting{
	{Name: "command", Doc: "Program to start, for a server that is a child process", Or: []Setting{{Shape: MapShape, Fields: nestedProcessSettings}}},
	{Name: "args", Doc: "Arguments of the program", Shape: TextsShape, Default: "[]"},
	{Name: "env", Doc: "Environment variables of the program, added to those that it inherits", Shape: ScalarsShape},
	{Name: "inheritEnv", Doc: "Environment variables that the program inherits: true for all, false for the few that every program needs, or a list of further names", Shape: BoolShape, Default: "true", Or: []Setting{{Shape: StringsShape}}},
	{Name: "cwd", Doc: "Working directory of the program; by default that of mcpgraph"},
}

// nestedProcessSettings are those of Zed's older form of "command".
var nestedProcessSettings = []Setting{
	{Name: "path", Doc: "Program to start", Required: true},
	{Name: "args", Doc: "Arguments of the program", Shape: TextsShape},
	{Name: "env", Doc: "Environment variables of the program", Shape: ScalarsShape},
}

// remoteSettings apply to servers that are reached over the network.
var remoteSettings = []Setting{
	{Name: "url", Doc: "URL of a server that is reached over the network", Shape: URLShape},
	{Name: "headers", Doc: "HTTP headers of each request", Shape: ScalarsShape},
	{Name: "requestInit", Doc: "Another program's form of headers", Shape: MapShape, Fields: []Setting{
		{Name: "headers", Doc: "HTTP headers of each request", Shape: ScalarsShape},
	}},
}

var connectionSettings = []Setting{
	{Name: "type", Doc: "Transport; by default stdio if there is a command, websocket for a ws:// or wss:// url, and http otherwise. MCP deprecates sse", Values: transportNames()},
	{Name: "connectTimeoutMs", Doc: "Timeout for starting or connecting, including the handshake, and for getting a token", Shape: DurationShape, Default: milliseconds(DefaultConnectTimeout)},
	{Name: "timeoutMs", Doc: "Timeout of a call without any message from the server", Shape: DurationShape, Default: milliseconds(DefaultTimeout)},
	{Name: "maxCallTimeMs", Doc: "Timeout of a call, including waits and retries; by default none", Shape: DurationShape},
	{Name: "maxConcurrency", Doc: "Largest number of concurrent requests; further calls wait; 0 means no limit", Shape: BoundShape, Default: "0"},
	{Name: "maxMessageBytes", Doc: "Largest response in bytes", Shape: CountShape, Max: 1 << 53, Default: strconv.Itoa(DefaultMaxMessageBytes)},
	{Name: "eager", Doc: "Connect when mcpgraph starts, not at the first call", Shape: BoolShape, Default: "false"},
	{Name: "tools", Doc: "Tools that nodes may call; a list means allow", Shape: MapShape, Fields: filterSettings, Or: []Setting{{Shape: StringsShape}}},
	{Name: "namePrefix", Doc: "Prefix that the server puts before the names of its tools"},
}

var filterSettings = []Setting{
	{Name: "allow", Doc: "Names or globs of allowed tools; by default all", Shape: StringsShape},
	{Name: "deny", Doc: "Names or globs of denied tools; wins over allow", Shape: StringsShape},
}

var policySettings = []Setting{
	{Name: "retry", Doc: "Retry failed calls; by default off", Shape: MapShape, Fields: retrySettings},
	{Name: "retryUnsafe", Doc: "Also retry calls that the server may have executed, of tools that are not marked as idempotent", Shape: BoolShape, Default: "false"},
	{Name: "circuitBreaker", Doc: "Stop calling a tool that keeps failing; by default off", Shape: MapShape, Fields: breakerSettings},
	{Name: "rateLimit", Doc: "Limit the rate of calls; further calls wait; by default off", Shape: MapShape, Fields: rateSettings},
	{Name: "cache", Doc: "Cache results; by default off", Shape: MapShape, Fields: cacheSettings},
	{Name: "requireApproval", Doc: "Ask a person before each call of a tool; a list means tools", Shape: MapShape, Fields: approvalSettings, Or: []Setting{{Shape: StringsShape}}},
}

var approvalSettings = []Setting{
	{Name: "tools", Doc: "Names or globs of the tools that need approval", Shape: StringsShape, Required: true},
	{Name: "once", Doc: "Ask once in a run for all calls of a tool", Shape: BoolShape, Default: "false"},
}

var (
	retryTimings = []Setting{
		{Name: "maxAttempts", Doc: "Largest number of attempts, including the first", Shape: CountShape, Default: strconv.Itoa(defaultMaxAttempts)},
		{Name: "initialDelayMs", Doc: "Delay before the second attempt", Shape: DurationShape, Default: milliseconds(defaultInitialDelay)},
		{Name: "maxDelayMs", Doc: "Longest delay between two attempts", Shape: DurationShape, Default: milliseconds(defaultMaxDelay)},
		{Name: "backoff", Doc: "Factor from one delay to the next", Shape: FactorShape, Default: "2"},
		{Name: "jitter", Doc: "Vary delays at random", Shape: BoolShape, Default: "true"},
	}
	retrySettings = append(slices.Clip(retryTimings), []Setting{
		{Name: "retryOn", Doc: "Further failures to retry: connect, closed, timeout, malformed, HTTP statuses (500, 5xx) or JSON-RPC error codes", Shape: FailuresShape},
		{Name: "skipOn", Doc: "Failures not to retry; wins over retryOn", Shape: FailuresShape},
	}...)
	breakerSettings = []Setting{
		{Name: "failureThreshold", Doc: "Consecutive failures that open the circuit breaker", Shape: CountShape, Default: strconv.Itoa(defaultFailureThreshold)},
		{Name: "successThreshold", Doc: "Consecutive successes that close it again", Shape: CountShape, Default: strconv.Itoa(defaultSuccessThreshold)},
		{Name: "resetTimeoutMs", Doc: "How long it stays open before it lets calls through to test the server", Shape: DurationShape, Default: milliseconds(defaultResetTimeout)},
		{Name: "halfOpenMaxCalls", Doc: "Concurrent calls that test the server", Shape: CountShape, Default: strconv.Itoa(defaultHalfOpenMaxCalls)},
	}
	toolRateSettings = []Setting{
		{Name: "limit", Doc: "Largest number of calls in each period", Shape: CountShape, Required: true},
		{Name: "periodMs", Doc: "Length of the period", Shape: DurationShape, Required: true},
	}
	rateSettings = []Setting{
		{Name: "limit", Doc: "Largest number of calls in each period, of all tools together", Shape: CountShape},
		{Name: "periodMs", Doc: "Length of the period", Shape: DurationShape},
		{Name: "perTool", Doc: "Limits of single tools, in addition to the limit of all tools", Shape: EntriesShape, Fields: toolRateSettings},
	}
	cacheSettings = []Setting{
		{Name: "ttlMs", Doc: "How long a result is reused", Shape: DurationShape, Default: milliseconds(defaultTTL)},
		{Name: "maxEntries", Doc: "Largest number of cached results", Shape: CountShape, Default: strconv.Itoa(defaultMaxEntries)},
		{Name: "tools", Doc: "Names or globs of the tools whose results are cached", Shape: StringsShape, Required: true},
	}
)

// RetryTimings returns the settings that the retry of servers and that of nodes
// have in common. The caller must not change them.
func RetryTimings() []Setting { return retryTimings }

var credentialSettings = []Setting{
	{Name: "auth", Doc: "How mcpgraph authenticates to the server", Shape: MapShape, Fields: authSettings},
	{Name: "forwardHeaders", Doc: "Headers of the caller's request to forward", Shape: ListShape, Fields: forwardHeaderSettings},
	{Name: "forwardMeta", Doc: "_meta keys of the caller's request to forward as headers", Shape: ListShape, Fields: forwardMetaSettings},
}

var (
	sessionSetting = Setting{
		Name: "session", Doc: "Where to keep the session id: in memory, or in a file, so that the session survives a restart",
		Values: []string{StoreMemory}, Default: strconv.Quote(StoreMemory), Or: []Setting{{Shape: MapShape, Fields: sessionSettings}},
	}
	sessionSettings = []Setting{{Name: "file", Doc: "Path of the file", Required: true}}
)

var (
	forwardHeaderSettings = []Setting{
		{Name: "from", Doc: "Header of the caller's request", Required: true},
		{Name: "to", Doc: "Header of the upstream request; by default the same"},
		forwardPrefix, forwardRequired,
		{Name: "unsafePassthrough", Doc: "Forward even the caller's own Authorization header, which MCP forbids", Shape: BoolShape, Default: "false"},
	}
	forwardMetaSettings = []Setting{
		{Name: "from", Doc: "_meta key of the caller's request", Required: true},
		{Name: "to", Doc: "Header of the upstream request", Required: true},
		forwardPrefix, forwardRequired,
	}
	forwardPrefix   = Setting{Name: "prefix", Doc: "Prefix of the forwarded value, such as \"Bearer \""}
	forwardRequired = Setting{Name: "required", Doc: "Fail calls that do not have the value", Shape: BoolShape, Default: "false"}
)

var (
	forOAuth2   = []string{AuthOAuth2}
	forClient   = []string{AuthOAuth2, AuthTokenExchange}
	forExchange = []string{AuthTokenExchange}

	authSettings = []Setting{
		{Name: "type", Doc: "Kind of credential", Required: true, Values: []string{AuthBearer, AuthOAuth2, AuthTokenExchange}},
		{Name: "token", Doc: "The token", For: forBearer, Secret: true},
		{Name: "tokenCommand", Doc: "A program that prints the token", Shape: WordsShape, For: forBearer},
		{Name: "flow", Doc: "How to get a token", For: forOAuth2, RequiredFor: forOAuth2, Values: []string{FlowClientCredentials, FlowRefreshToken, FlowAuthorizationCode}},
		{Name: "refreshToken", Doc: "The refresh token", For: []string{FlowRefreshToken}, RequiredFor: []string{FlowRefreshToken}, Secret: true},
		{Name: "authorizationUrl", Doc: "URL of the authorization endpoint, where users grant access", Shape: SecureURLShape, For: []string{FlowAuthorizationCode}},
		{Name: "redirectPort", Doc: "Local port that receives the redirect from the browser; 0 means any free port", Shape: PortShape, For: []string{FlowAuthorizationCode}, Default: "0"},
		{Name: "store", Doc: "File that stores tokens; by default one in the user's configuration folder", For: forOAuth2},
		{Name: "issuer", Doc: "URL of the authorization server. This or tokenUrl is required with clientSecret, refreshToken or tokenExchange; otherwise the default comes from the server's metadata", Shape: SecureURLShape, For: forClient},
		{Name: "tokenUrl", Doc: "URL of the token endpoint; by default taken from the authorization server's metadata", Shape: SecureURLShape, For: forClient},
		{Name: "clientId", Doc: "Client id at the authorization server", For: forClient, RequiredFor: []string{FlowClientCredentials, FlowRefreshToken}},
		{Name: "clientSecret", Doc: "Client secret at the authorization server", For: forClient, RequiredFor: []string{FlowClientCredentials}, Secret: true},
		{Name: "scopes", Doc: "Scopes to request", Shape: WordsShape, For: forClient},
		{Name: "audience", Doc: "Audience to request, if the authorization server needs one", For: forClient},
		{Name: "resource", Doc: "Resource to request (RFC 8707); by default the URL of the server; an empty string sends none", For: forClient},
		{Name: "from", Doc: "Header of the caller's request with its token; by default Authorization, unless fromMeta is set", For: forExchange},
		{Name: "fromMeta", Doc: "_meta key of the caller's request with its token", For: forExchange},
		{Name: "subjectTokenType", Doc: "Type of the caller's token", For: forExchange, Default: strconv.Quote(AccessTokenType)},
		{Name: "requestedTokenType", Doc: "Type of the token to request", For: forExchange},
	}
)

// foreignSettings are fields of other programs that mcpgraph understands.
var foreignSettings = []Setting{
	{Name: "disabled", Doc: "Ignore the server; a node that calls it is an error", Shape: BoolShape, Default: "false"},
	{Name: "enabled", Doc: "The opposite of disabled", Shape: BoolShape, Default: "true"},
	{Name: "envFile", Doc: "File with environment variables of the program, one NAME=VALUE per line; env wins over it"},
	{Name: "transport", Doc: "Another program's name of type", Values: transportNames()},
	{Name: "serverUrl", Doc: "Another program's name of url", Shape: URLShape},
	{Name: "httpUrl", Doc: "Another program's name of url, for streamable HTTP", Shape: URLShape},
	{Name: "timeout", Doc: "Another program's timeoutMs: in seconds if it is below 1000 or the entry has autoApprove or alwaysAllow, otherwise in milliseconds", Shape: CountShape, Max: maxMilliseconds / 1000},
	{Name: "includeTools", Doc: "Another program's name of tools.allow", Shape: StringsShape},
	{Name: "excludeTools", Doc: "Another program's name of tools.deny", Shape: StringsShape},
	{Name: "disabledTools", Doc: "Another program's name of tools.deny", Shape: StringsShape},
}

func transportNames() []string { return slices.Sorted(maps.Keys(transports)) }
