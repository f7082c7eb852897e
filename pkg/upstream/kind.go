package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os/exec"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
)

// Kind is the sort of a failure. It is an error itself, so that what fails can wrap its
// kind. What a kind means for rules, retries and circuit breakers is in one table.
type Kind uint8

// The kinds of failures. Several may have one name in rules of a graph.
const (
	// KindAnswer is an error that a working server answered.
	KindAnswer      Kind = iota
	KindRejected         // an answer that the request is wrong: HTTP 400, 407, 422, JSON-RPC -32600 to -32602, -32700
	KindUnavailable      // HTTP 429 or 503: the server did not act
	KindGateway          // HTTP 408, 502 or 504: who waited for the server gave up
	KindServerError      // any other HTTP 5xx, JSON-RPC -32603
	KindTooLong          // the answer is longer than maxMessageBytes
	KindEmpty            // a result without anything in it

	KindConnect        // there was no connection
	KindConnectTimeout // there was none in time
	KindUnreachable    // there is none before somebody changes something
	KindClosed         // the connection ended before the answer
	KindPoolClosed     // we ended it for good
	KindTimeout        // no sign of life for timeoutMs
	KindCallTime       // maxCallTimeMs is over
	KindMalformed      // the answer is none of the protocol

	KindUnauthorized // the call has not got the credential that it needs
	KindDenied       // the server refused the credential
	KindRateLimited  // the rate limit leaves no turn in time
	KindCircuitOpen  // the circuit breaker is open
	KindDrift        // the tool differs from the lock file
	KindNotLocked    // the tool is not in the lock file
	KindArguments    // the arguments do not fit the tool
	KindLacks        // the server does not offer it
	KindRefused      // we do not ask for that
	KindTaskLost     // the server does not know the task of the call any more
	KindTaskEnded    // the server ended the task of the call without a result
	KindCancelled    // the caller gave up
	KindOther        // it says nothing about the server
)

// fault is who a failure counts against.
type fault uint8

const (
	ofCall   fault = iota // the call: the server works
	ofServer              // the server: its circuit breaker counts it
	ofNobody              // it tells nothing about the server
)

// The names of failures in rules of a graph. The first four are those of retryOn.
const (
	failedConnect      = "connect"
	failedClosed       = "closed"
	failedTimeout      = "timeout"
	failedMalformed    = "malformed"
	failedUnauthorized = "unauthorized"
	failedBusy         = "busy"
	failedProtocol     = "protocol"
	failedDrift        = "drift"
	failedNotLocked    = "notLocked"
	failedArguments    = "arguments"
	failedCancelled    = "cancelled"
)

// kinds says what each kind means.
var kinds = [...]struct {
	name    string
	fault   fault
	final   bool                                       // it is never tried again
	retried bool                                       // it is tried again unless the entry says otherwise
	unknown bool                                       // the server may have acted on the request
	means   error                                      // the error of the standard library that it is; may be nil
	words   string                                     // what happened
	hint    func(u *config.Upstream, op string) string // what to do about it; may be nil
}{
	KindAnswer:      {name: failedProtocol, words: "it answered an error"},
	KindRejected:    {name: failedProtocol, final: true, words: "it refused the request"},
	KindUnavailable: {name: failedProtocol, fault: ofServer, retried: true, words: "it is not available"},
	KindGateway:     {name: failedProtocol, fault: ofServer, retried: true, unknown: true, words: "a gateway gave up", hint: actedHint},
	KindServerError: {name: failedProtocol, fault: ofServer, words: "it failed"},
	KindTooLong: {name: failedProtocol, final: true, words: "the answer is too long", hint: func(u *config.Upstream, _ string) string {
		return "ask for less, or raise " + u.Setting("maxMessageBytes")
	}},
	KindEmpty: {name: failedProtocol, final: true, unknown: true, words: "it answered a result without content and structuredContent"},

	KindConnect:        {name: failedConnect, fault: ofServer, retried: true, words: "connection refused", hint: connectHint},
	KindConnectTimeout: {name: failedConnect, fault: ofServer, retried: true, means: context.DeadlineExceeded, words: "no connection in time", hint: connectHint},
	KindUnreachable:    {name: failedConnect, fault: ofServer, final: true, words: "there is no such transport", hint: connectHint},
	KindClosed:         {name: failedClosed, fault: ofServer, retried: true, unknown: true, words: "it closed the connection before it had answered", hint: actedHint},
	KindPoolClosed:     {name: failedClosed, fault: ofNobody, final: true, words: "the connection to it was closed for good"},
	KindTimeout: {name: failedTimeout, fault: ofServer, retried: true, unknown: true, means: context.DeadlineExceeded, words: "no answer and no progress", hint: func(u *config.Upstream, _ string) string {
		return "raise " + u.Setting("timeoutMs") + " if it needs more"
	}},
	KindCallTime: {name: failedTimeout, fault: ofServer, final: true, means: context.DeadlineExceeded, words: "maxCallTimeMs has passed", hint: func(u *config.Upstream, _ string) string {
		return "raise " + u.Setting("maxCallTimeMs") + " if it needs more"
	}},
	KindMalformed: {name: failedMalformed, fault: ofServer, unknown: true, words: "it wrote something that is not JSON-RPC"},

	KindUnauthorized: {name: failedUnauthorized, fault: ofNobody, final: true, words: "the call does not carry the credential that it needs"},
	KindDenied: {name: failedUnauthorized, final: true, words: "it refused the credential", hint: func(u *config.Upstream, _ string) string {
		return "check " + u.Setting("headers") + " and " + u.Setting("auth")
	}},
	KindRateLimited: {name: failedBusy, fault: ofNobody, final: true, words: "rate limit exceeded", hint: func(u *config.Upstream, _ string) string {
		return "call it less often, or raise " + u.Setting("rateLimit") + " or " + u.Setting("timeoutMs")
	}},
	KindCircuitOpen: {name: failedBusy, fault: ofNobody, final: true, words: "the circuit breaker is open"},
	KindDrift: {name: failedDrift, fault: ofNobody, final: true, words: "the tool differs from the lock file", hint: func(u *config.Upstream, _ string) string {
		return "review the change, then lock the server again with `mcpgraph lock --server " + u.Name + " CONFIG`"
	}},
	KindNotLocked: {name: failedNotLocked, fault: ofNobody, final: true, words: "the tool is not in the lock file", hint: func(u *config.Upstream, _ string) string {
		return "lock the server again with `mcpgraph lock --server " + u.Name + " CONFIG`"
	}},
	KindArguments: {name: failedArguments, fault: ofNobody, final: true, words: "the arguments do not fit the tool's inputSchema"},
	KindLacks:     {name: failedProtocol, fault: ofNobody, final: true, words: "the server does not offer it"},
	KindRefused:   {name: failedProtocol, fault: ofNobody, final: true, words: "there are too many"},
	KindTaskLost:  {name: failedClosed, fault: ofServer, retried: true, unknown: true, words: "the server does not know the task any more", hint: actedHint},
	KindTaskEnded: {name: failedProtocol, final: true, unknown: true, words: "the server ended the task", hint: actedHint},
	KindCancelled: {name: failedCancelled, fault: ofNobody, final: true, words: "cancelled by the caller"},
	KindOther:     {name: failedProtocol, fault: ofNobody, final: true, words: "it was not asked"},
}

// Error returns what happened, in words.
func (k Kind) Error() string { return kinds[k].words }

// Unwrap returns the error of the standard library that the kind is, if there is one.
func (k Kind) Unwrap() error { return kinds[k].means }

// Name returns the name by which rules of a graph know the kind.
func (k Kind) Name() string { return kinds[k].name }

func (k Kind) failureKind() Kind { return k }

// connectHint says what to check of a server that cannot be reached.
func connectHint(u *config.Upstream, _ string) string {
	switch {
	case u.URL != "":
		return "check " + u.Setting("url")
	case u.Command != "":
		return "check " + u.Setting("command")
	}
	return ""
}

// actedHint returns how to have a call retried if its effect on the server is unknown.
func actedHint(u *config.Upstream, op string) string {
	const acted = "it may have acted on the call; "
	switch {
	case op != opCall:
		return ""
	case u.Retry == nil:
		return acted + u.Setting("retry") + " tries again tools that it marks idempotentHint or readOnlyHint, others with retryUnsafe: true"
	case u.RetryUnsafe:
		return "" // it was tried again
	}
	return acted + "tools that it does not mark idempotentHint or readOnlyHint are tried again only with " + u.Setting("retryUnsafe") + ": true"
}

// kindError is an error of a kind with words of its own.
type kindError struct {
	Kind
	text string
}

func (e *kindError) Error() string { return e.text }

// Unwrap returns the kind.
func (e *kindError) Unwrap() error { return e.Kind }

// ownKind is an error of this package that knows its kind.
type ownKind interface {
	error
	failureKind() Kind
}

// kindOf returns the kind of an error: its own, or that of what a link or the system
// says. If nothing was sent because no session could be opened, opening is set.
func kindOf(err error, opening bool) Kind {
	var (
		own    ownKind
		lacks  *credential.Error
		status *wire.StatusError
		rpc    *RPCError
		long   *wire.TooLongError
		media  *wire.ContentTypeError
		dial   *net.OpError
		short  *memory.Error
	)
	switch {
	case errors.As(err, &own):
		if k := own.failureKind(); k != KindTimeout || !opening {
			return k
		}
		return KindConnectTimeout
	case errors.As(err, &lacks):
		return KindUnauthorized
	case errors.As(err, &short):
		return KindOther
	case isRefusal(err):
		return KindDenied
	case errors.As(err, &status):
		return kindOfStatus(status.Status)
	case errors.As(err, &rpc):
		return kindOfCode(rpc.Code)
	case errors.As(err, &long):
		return KindTooLong // it would be as long again
	case isPermanent(err):
		return KindUnreachable
	case errors.Is(err, wire.ErrMalformed), errors.As(err, &media):
		return KindMalformed
	case opening, errors.As(err, &dial) && dial.Op == "dial":
		if timedOut(err) {
			return KindConnectTimeout
		}
		return KindConnect
	case timedOut(err):
		return KindTimeout
	}
	return KindClosed
}

func kindOfStatus(status int) Kind {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return KindDenied
	case http.StatusBadRequest, http.StatusProxyAuthRequired, http.StatusUnprocessableEntity:
		return KindRejected
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return KindUnavailable
	case http.StatusRequestTimeout, http.StatusBadGateway, http.StatusGatewayTimeout:
		return KindGateway
	}
	if status >= http.StatusInternalServerError {
		return KindServerError
	}
	return KindAnswer
}

// kindOfCode returns the kind of an error of JSON-RPC (2.0, section 5.1). Most of them
// are answers of a server that works.
func kindOfCode(code int) Kind {
	switch code {
	case mcp.PARSE_ERROR, mcp.INVALID_REQUEST, mcp.METHOD_NOT_FOUND, mcp.INVALID_PARAMS:
		return KindRejected
	case mcp.INTERNAL_ERROR:
		return KindServerError
	}
	return KindAnswer
}

// isPermanent reports whether a server cannot be reached before someone has
// changed something.
func isPermanent(err error) bool {
	var version mcp.UnsupportedProtocolVersionError
	var certificate *tls.CertificateVerificationError
	return errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) ||
		errors.As(err, &version) || errors.As(err, &certificate)
}

// timedOut reports whether time was up, be it ours or the system's.
func timedOut(err error) bool {
	var t interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &t) && t.Timeout()
}

// kindsByName are the kinds of failures by their names, for those that stand for servers.
var kindsByName = map[string]Kind{
	failedConnect: KindConnect, failedClosed: KindClosed, failedTimeout: KindTimeout, failedMalformed: KindMalformed,
	failedUnauthorized: KindUnauthorized, failedBusy: KindRateLimited, failedProtocol: KindTooLong,
	failedDrift: KindDrift, failedNotLocked: KindNotLocked, failedArguments: KindArguments,
}

// finalKind returns the kind of the same name that is never tried again.
func finalKind(k Kind) Kind {
	switch k {
	case KindConnect:
		return KindUnreachable
	case KindTimeout:
		return KindCallTime
	}
	return k
}

// FailureNames returns the names of failures that have one, statuses and codes apart:
// those of retryOn, and those that only rules of a graph know.
func FailureNames() []string {
	return slices.Concat(config.FailureNames(), []string{failedUnauthorized, failedBusy, failedProtocol, failedDrift, failedNotLocked, failedArguments})
}
