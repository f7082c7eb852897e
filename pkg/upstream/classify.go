package upstream

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/policy"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
)

// The names of config.FailureNames.
const (
	failedConnect   = "connect"
	failedClosed    = "closed"
	failedTimeout   = "timeout"
	failedMalformed = "malformed"
)

// errCallerGaveUp is in the raw cause of an error of a call that its caller gave up.
var errCallerGaveUp = errors.New("cancelled by the caller")

// classify returns what an error of a call means for the policies. Nil is a success.
func classify(err error) policy.Failure {
	raw := rawCause(err)
	f := classifyCause(err, raw)
	if err != nil {
		f.Words = messageOf(err)
	}
	if beforeCall(err) || errors.Is(raw, wire.ErrNotWritten) {
		f.Unknown = false
	}
	return f
}

func classifyCause(err, raw error) policy.Failure {
	var (
		status *wire.StatusError
		rpc    *RPCError
		long   *wire.TooLongError
		lacks  *credential.Error
		kind   *wire.ContentTypeError
		own    *interceptError
		odd    resultError
		task   *taskError
		misfit *argumentsError
	)
	switch {
	case err == nil:
		return policy.Failure{}
	case errors.As(raw, &task):
		return task.failure(err)
	case errors.As(raw, &misfit), errors.As(raw, &own), errors.Is(raw, errCallerGaveUp), errors.Is(raw, errPoolClosed), errors.Is(raw, policy.ErrRateLimited), errors.As(raw, &lacks),
		errors.Is(raw, errDrift), errors.Is(raw, errNotLocked), errors.Is(raw, errLacks),
		errors.Is(raw, errNoStream), errors.Is(raw, errTooMany):
		return policy.Failure{Final: true, Silent: true}
	case errors.Is(raw, errCallTimeLimit):
		return policy.Failure{Final: true, Fault: true, Names: []string{failedTimeout}}
	case errors.Is(raw, errNoContent):
		return policy.Failure{Final: true, Unknown: true}
	case isRefusal(raw):
		return policy.Failure{Final: true}
	case errors.As(raw, &status):
		return ofStatus(status)
	case errors.As(raw, &rpc):
		return ofCode(rpc.Code)
	case errors.As(raw, &long):
		return policy.Failure{Final: true} // it would be as long again
	case isPermanent(raw):
		return policy.Failure{Final: true, Fault: true, Names: []string{failedConnect}}
	case errors.Is(raw, wire.ErrMalformed), errors.As(raw, &kind), errors.As(raw, &odd):
		return policy.Failure{Unknown: true, Fault: true, Names: []string{failedMalformed}}
	case beforeCall(err), notDialed(raw):
		f := policy.Failure{Retried: true, Fault: true, Names: []string{failedConnect}}
		if timedOut(raw) {
			f.Names = append(f.Names, failedTimeout)
		}
		return f
	}
	f := policy.Failure{Retried: true, Fault: true, Unknown: true, Names: []string{failedClosed}}
	if timedOut(raw) {
		f.Names = []string{failedTimeout}
	}
	return f
}

// ofStatus classifies an answer with an HTTP status.
func ofStatus(e *wire.StatusError) policy.Failure {
	code := strconv.Itoa(e.Status)
	f := policy.Failure{Names: []string{code, code[:1] + "xx"}, After: retryAfter(e.Header, time.Now())}
	if e.RPC != nil {
		f.Names = append(f.Names, strconv.Itoa(e.RPC.Code))
	}
	switch e.Status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden,
		http.StatusProxyAuthRequired, http.StatusUnprocessableEntity:
		f.Final = true
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		f.Retried, f.Fault = true, true
	case http.StatusRequestTimeout, http.StatusBadGateway, http.StatusGatewayTimeout:
		// Who gave up waiting for the server does not know what it did.
		f.Retried, f.Fault, f.Unknown = true, true, true
	default:
		f.Fault = e.Status >= http.StatusInternalServerError
	}
	return f
}

// ofCode classifies an error of JSON-RPC (2.0, section 5.1). Most of them are
// answers of a server that works.
func ofCode(code int) policy.Failure {
	f := policy.Failure{Names: []string{strconv.Itoa(code)}}
	switch code {
	case mcp.PARSE_ERROR, mcp.INVALID_REQUEST, mcp.METHOD_NOT_FOUND, mcp.INVALID_PARAMS:
		f.Final = true
	case mcp.INTERNAL_ERROR:
		f.Fault = true
	}
	return f
}

// isPermanent reports whether a server cannot be reached before someone has
// changed something.
func isPermanent(err error) bool {
	var version mcp.UnsupportedProtocolVersionError
	var certificate *tls.CertificateVerificationError
	return errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) ||
		errors.Is(err, errTransport) || errors.As(err, &version) || errors.As(err, &certificate)
}

// beforeCall reports whether a call failed because no session could be opened
// over which to send it.
func beforeCall(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.Op == "start" || e.Op == "handshake")
}

// notDialed reports whether there was no connection over which a request could
// have been sent.
func notDialed(raw error) bool {
	var op *net.OpError
	return errors.As(raw, &op) && op.Op == "dial"
}

// timedOut reports whether time was up, be it ours or the system's.
func timedOut(err error) bool {
	var t interface{ Timeout() bool }
	return errors.Is(err, errNoProgress) || errors.As(err, &t) && t.Timeout()
}

// retryAfter reads how long a server wants to be left alone: seconds or a date
// (RFC 9110, 10.2.3).
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	const longest = 1 << 31 // seconds; a Duration holds that
	if seconds, err := strconv.ParseUint(text, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(seconds, longest)) * time.Second
	}
	if date, err := http.ParseTime(text); err == nil {
		return max(0, date.Sub(now))
	}
	return 0
}
