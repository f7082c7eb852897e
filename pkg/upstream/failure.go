package upstream

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os/exec"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// statusError is the error of a request that was answered with an HTTP status
// of 400 or more.
type statusError struct {
	Status int
	Header http.Header // of the response
	Body   string      // its start
	rpc    *RPCError   // the JSON-RPC error in the body; nil where there is none
}

// Error returns the status and what the body says.
func (e *statusError) Error() string {
	text := fmt.Sprintf("HTTP %d %s", e.Status, http.StatusText(e.Status))
	if after := e.Header.Get("Retry-After"); after != "" {
		text += " (Retry-After: " + strings.TrimSuffix(strings.TrimPrefix(quote([]byte(after)), `"`), `"`) + ")"
	}
	switch {
	case e.rpc != nil:
		text += ": " + e.rpc.Error()
	case e.Body != "":
		text += ": " + quote([]byte(e.Body))
	}
	return text
}

// Unwrap returns the JSON-RPC error of the body.
func (e *statusError) Unwrap() error {
	if e.rpc == nil {
		return nil
	}
	return e.rpc
}

// errLost is in the error of a request that may have been written and whose
// answer will not come, because its connection ended.
var errLost = errors.New("the connection ended before the answer")

// both returns an error that is a and b and reads as one sentence.
func both(a, b error) error { return fmt.Errorf("%w: %w", a, b) }

var (
	// errTooSlow is the cause of a context that ended at maxCallTimeMs.
	errTooSlow = errors.New("maxCallTimeMs has passed")
	// errTransport is the error of an entry whose transport is not spoken.
	errTransport = errors.New("there is no such transport")
	// errShut is the error of what is asked after Close.
	errShut = errors.New("the connection to it was closed for good")
)

// failure makes an Error in which no secret is left.
func (s *server) failure(op, tool, message, hint string, err error) *Error {
	return &Error{
		Server: s.entry.Name, Tool: tool, Op: op,
		Message: s.redact.text(message), Hint: hint, Err: s.redact.err(err), raw: err,
	}
}

func (s *server) shut(op, tool string) *Error {
	return s.failure(op, tool, errShut.Error(), "", errShut)
}

// setting names a setting of the entry.
func (s *server) setting(name string) string {
	return fmt.Sprintf("mcpServers.%s.%s", s.entry.Name, name)
}

// stopped is the error of a call whose context ended while it waited.
func (s *server) stopped(ctx context.Context, op, tool, when string) *Error {
	cause := context.Cause(ctx)
	var why string
	switch {
	case errors.Is(cause, errTooSlow):
		return s.tooSlow(op, tool, when)
	case cause == context.DeadlineExceeded:
		why = "its caller's time was up"
	case cause == context.Canceled:
		why = "its caller cancelled it"
	default:
		why = cause.Error()
		cause = errors.Join(cause, ctx.Err())
	}
	e := s.failure(op, tool, "given up "+when+": "+why, "", cause)
	e.raw = errors.Join(errGivenUp, cause)
	return e
}

func (s *server) tooSlow(op, tool, when string) *Error {
	e := s.failure(op, tool, fmt.Sprintf("it took longer than %v %s", s.entry.MaxCallTime, when),
		"raise "+s.setting("maxCallTimeMs")+" if it needs more", context.DeadlineExceeded)
	e.raw = errTooSlow
	return e
}

// notStarted is the error of a server whose connection could not be opened.
func (s *server) notStarted(err error) *Error {
	if s.entry.URL != "" {
		return s.notReached("start", err)
	}
	message, hint := "could not be started: "+err.Error(), ""
	if s.entry.Command != "" {
		hint = "check " + s.setting("command")
	}
	var missing *exec.Error
	switch {
	case errors.Is(err, errTransport):
		message = fmt.Sprintf("transport %q: %v", s.entry.Transport, err)
		hint = "give the server a command or a url"
	case errors.As(err, &missing):
		message = fmt.Sprintf("could not be started: there is no program %q on the PATH", missing.Name)
		hint = "install it, or give its full path in " + s.setting("command")
	case s.entry.Cwd != "" && errors.Is(err, fs.ErrNotExist):
		hint += " and " + s.setting("cwd")
	}
	return s.failure("start", "", message, hint, err)
}

// notReached is the error of a server with a URL that did not answer well to
// the first that it was asked.
func (s *server) notReached(op string, err error) *Error {
	message, hint := "could not be reached: "+err.Error(), "check "+s.setting("url")
	var (
		status *statusError
		kind   *contentTypeError
		raw    = err
	)
	switch {
	case s.life.Err() != nil:
		return s.shut(op, "")
	case errors.Is(err, context.DeadlineExceeded):
		message = fmt.Sprintf("did not complete the handshake within %v", s.entry.ConnectTimeout)
		hint += ", or raise " + s.setting("connectTimeoutMs")
		err = context.DeadlineExceeded
	case errors.As(err, &status) && (status.Status == http.StatusUnauthorized || status.Status == http.StatusForbidden):
		message = "refused us: " + err.Error()
		hint = "check " + s.setting("headers") + " and " + s.setting("auth")
	case errors.As(err, &status) && (status.Status == http.StatusNotFound || status.Status == http.StatusMethodNotAllowed), errors.As(err, &kind):
		message = "does not speak MCP at this address: it answered " + err.Error()
		hint += " and " + s.setting("type")
	case op == "handshake" && !errors.Is(err, errNotWritten):
		message = "the handshake failed: " + err.Error()
	}
	e := s.failure(op, "", message, hint, err)
	e.raw = raw
	return e
}

// notInitialized is the error of a server that was started but did not
// complete the handshake.
func (s *server) notInitialized(ctx context.Context, l link, err error) *Error {
	message, hint := "the handshake failed: "+err.Error(), ""
	var version mcp.UnsupportedProtocolVersionError
	var over overError
	switch {
	case errors.As(err, &version):
		message = fmt.Sprintf("it speaks revision %q of MCP; known are %v", version.Version, mcp.ValidProtocolVersions)
		hint = "update the server"
	case s.entry.URL != "":
		return s.notReached("handshake", during(ctx, err))
	case s.life.Err() != nil:
		return s.shut("handshake", "")
	case ctx.Err() != nil:
		message = fmt.Sprintf("it did not complete the handshake within %v", s.entry.ConnectTimeout)
		hint = "check that " + s.setting("command") + " starts an MCP server over stdio, or raise " + s.setting("connectTimeoutMs")
		err = context.DeadlineExceeded
	case errors.As(err, &over):
		message = "it " + over.Error() + " before the handshake was complete"
		hint = "check " + s.setting("command") + " and " + s.setting("args")
	}
	e := s.failure("handshake", "", message+oddSince(0, l.seen()), hint, err)
	e.Stderr = l.seen().last()
	return e
}

// oddSince says what the server wrote that is not JSON-RPC since it had
// written n such things.
func oddSince(n int, d *diary) string {
	if count, latest := d.oddities(); count > n {
		return "; it wrote something that is not JSON-RPC: " + latest
	}
	return ""
}

// againHint says how a call would be tried again of which nobody knows what the
// server did.
func (s *server) againHint() string {
	const acted = "it may have acted on the call; "
	switch {
	case s.entry.Retry == nil:
		return acted + s.setting("retry") + " tries again tools that it marks idempotentHint or readOnlyHint, others with retryUnsafe: true"
	case s.entry.RetryUnsafe:
		return "" // it was tried again
	}
	return acted + "tools that it does not mark idempotentHint or readOnlyHint are tried again only with " + s.setting("retryUnsafe") + ": true"
}

// renewedHint says why a call was not repeated with another credential.
func (s *server) renewedHint() string {
	return "its credential was renewed, but the call was not repeated, because the tool may have acted on it: call it again if it may run twice. Tools that the server marks readOnlyHint or idempotentHint are repeated, others with " +
		s.setting("retryUnsafe") + ": true"
}

// failed is the error of a request over an open session. Before the request
// the server had written odd things that are not JSON-RPC.
func (s *server) failed(ctx context.Context, op, tool string, session *session, odd int, err error) *Error {
	message, hint := err.Error(), ""
	var (
		rpc    *RPCError
		long   *tooLongError
		over   overError
		status *statusError
		cred   *credentialError
		stderr []string
		raw    = err
	)
	d := &diary{}
	if session != nil {
		d = session.link.seen()
	}
	switch {
	case errors.Is(err, errSilent):
		message = fmt.Sprintf("timed out: no answer and no progress for %v", s.entry.Timeout)
		hint = "raise " + s.setting("timeoutMs") + " if it needs more"
		err, stderr = context.DeadlineExceeded, d.last()
	case errors.Is(err, errTooSlow):
		return s.tooSlow(op, tool, "to answer")
	case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return s.stopped(ctx, op, tool, "before it was answered")
	case errors.As(err, &cred):
		message, hint = cred.message, cred.hint
	case errors.As(err, &rpc):
		clean := &RPCError{Code: rpc.Code, Message: s.redact.text(rpc.Message)}
		if errors.As(err, &status) && op == "call" && ofStatus(status).unknown {
			hint = s.againHint()
		}
		e := s.failure(op, tool, "it answered an error: "+clean.Error(), hint, clean)
		e.raw = raw
		return e
	case errors.As(err, &status):
		message = "it answered " + err.Error()
		if status.Status == http.StatusUnauthorized || status.Status == http.StatusForbidden {
			hint = "check " + s.setting("headers") + " and " + s.setting("auth")
		}
	case errors.As(err, &long):
		message = fmt.Sprintf("the answer is longer than %d bytes", long.limit)
		hint = "ask for less, or raise " + s.setting("maxMessageBytes")
	case errors.Is(err, errBroken):
		return s.failure(op, tool, "it "+err.Error(), "", err)
	case s.life.Err() != nil:
		return s.shut(op, tool)
	case errors.As(err, &over):
		message = "it " + over.Error() + " before it had answered"
		stderr = d.last()
	}
	if op == "call" && (errors.Is(err, errLost) || status != nil && ofStatus(status).unknown) {
		hint = s.againHint()
	}
	e := s.failure(op, tool, message+oddSince(odd, d), hint, err)
	e.Stderr, e.raw = stderr, raw
	return e
}
