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
)

// failure is what an error of a call means for retry and circuit breaker.
type failure struct {
	names   []string      // as retryOn and skipOn have them
	final   bool          // it is never tried again
	retried bool          // it is tried again unless the entry says otherwise
	unknown bool          // the server may have done what it was asked for
	fault   bool          // it counts against the server, for the circuit breaker
	silent  bool          // it tells nothing of the server
	after   time.Duration // how long the server wants to be left alone; 0: it does not say
}

// The names of config.FailureNames.
const (
	failedConnect   = "connect"
	failedClosed    = "closed"
	failedTimeout   = "timeout"
	failedMalformed = "malformed"
)

// errGivenUp is in the raw cause of an error of a call that its caller gave up.
var errGivenUp = errors.New("given up by the caller")

// classify says what an error of a call means. Nil is a success.
func classify(err error) failure {
	raw := rawCause(err)
	f := classifyCause(err, raw)
	if beforeCall(err) || errors.Is(raw, errNotWritten) {
		f.unknown = false
	}
	return f
}

func classifyCause(err, raw error) failure {
	var (
		status *statusError
		rpc    *RPCError
		long   *tooLongError
		lacks  *credentialError
		kind   *contentTypeError
	)
	switch {
	case err == nil:
		return failure{}
	case errors.Is(raw, errGivenUp), errors.Is(raw, errShut), errors.Is(raw, errNoRoom), errors.As(raw, &lacks):
		return failure{final: true, silent: true}
	case errors.Is(raw, errTooSlow):
		return failure{final: true, fault: true, names: []string{failedTimeout}}
	case refusal(raw):
		return failure{final: true}
	case errors.As(raw, &status):
		return ofStatus(status)
	case errors.As(raw, &rpc):
		return ofCode(rpc.Code)
	case errors.As(raw, &long):
		return failure{final: true} // it would be as long again
	case permanent(raw):
		return failure{final: true, fault: true, names: []string{failedConnect}}
	case errors.Is(raw, errBroken), errors.As(raw, &kind):
		return failure{unknown: true, fault: true, names: []string{failedMalformed}}
	case beforeCall(err), notDialed(raw):
		f := failure{retried: true, fault: true, names: []string{failedConnect}}
		if timedOut(raw) {
			f.names = append(f.names, failedTimeout)
		}
		return f
	}
	f := failure{retried: true, fault: true, unknown: true, names: []string{failedClosed}}
	if timedOut(raw) {
		f.names = []string{failedTimeout}
	}
	return f
}

// ofStatus classifies an answer with an HTTP status.
func ofStatus(e *statusError) failure {
	code := strconv.Itoa(e.Status)
	f := failure{names: []string{code, code[:1] + "xx"}, after: retryAfter(e.Header, time.Now())}
	if e.rpc != nil {
		f.names = append(f.names, strconv.Itoa(e.rpc.Code))
	}
	switch e.Status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden,
		http.StatusProxyAuthRequired, http.StatusUnprocessableEntity:
		f.final = true
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		f.retried, f.fault = true, true
	case http.StatusRequestTimeout, http.StatusBadGateway, http.StatusGatewayTimeout:
		// Who gave up waiting for the server does not know what it did.
		f.retried, f.fault, f.unknown = true, true, true
	default:
		f.fault = e.Status >= http.StatusInternalServerError
	}
	return f
}

// ofCode classifies an error of JSON-RPC (2.0, section 5.1). Most of them are
// answers of a server that works.
func ofCode(code int) failure {
	f := failure{names: []string{strconv.Itoa(code)}}
	switch code {
	case mcp.PARSE_ERROR, mcp.INVALID_REQUEST, mcp.METHOD_NOT_FOUND, mcp.INVALID_PARAMS:
		f.final = true
	case mcp.INTERNAL_ERROR:
		f.fault = true
	}
	return f
}

// permanent reports whether a server cannot be reached before someone has
// changed something.
func permanent(err error) bool {
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
	return errors.Is(err, errSilent) || errors.As(err, &t) && t.Timeout()
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

// wordsOf returns what happened, without the names of server and tool.
func wordsOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}

// amended returns a call's error with more words at the end of what happened.
func amended(err error, words string) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	own := *e
	own.Message = strings.TrimSuffix(own.Message, ".") + words
	return &own
}
