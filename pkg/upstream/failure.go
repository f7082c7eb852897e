package upstream

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os/exec"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
)

var (
	// errCallTimeLimit is the cause of a context that ended at maxCallTimeMs.
	errCallTimeLimit = errors.New("maxCallTimeMs has passed")
	// errTransport is the error of an entry whose transport is not spoken.
	errTransport = errors.New("there is no such transport")
	// errPoolClosed is the error of what is asked after Close.
	errPoolClosed = errors.New("the connection to it was closed for good")
)

// newError makes an Error in which no secret is left.
func (s *server) newError(op, tool, message, hint string, err error) *Error {
	return &Error{
		Server: s.entry.Name, Tool: tool, Op: op,
		Message: s.redact.Text(message), Hint: hint, Err: s.redact.Err(err), raw: err,
	}
}

func (s *server) closedError(op, tool string) *Error {
	return s.newError(op, tool, errPoolClosed.Error(), "", errPoolClosed)
}

// stoppedError is the error of a call whose context ended while it waited.
func (s *server) stoppedError(ctx context.Context, op, tool, when string) *Error {
	cause := context.Cause(ctx)
	var why string
	switch {
	case errors.Is(cause, errCallTimeLimit):
		return s.timeLimitError(op, tool, when)
	case cause == context.DeadlineExceeded:
		why = "its caller's time was up"
	case cause == context.Canceled:
		why = "its caller cancelled it"
	default:
		why = cause.Error()
		cause = errors.Join(cause, ctx.Err())
	}
	e := s.newError(op, tool, "given up "+when+": "+why, "", cause)
	e.raw = errors.Join(errCallerGaveUp, cause)
	return e
}

func (s *server) timeLimitError(op, tool, when string) *Error {
	e := s.newError(op, tool, fmt.Sprintf("it took longer than %v %s", s.entry.MaxCallTime, when),
		"raise "+s.entry.Setting("maxCallTimeMs")+" if it needs more", context.DeadlineExceeded)
	e.raw = errCallTimeLimit
	return e
}

// startError is the error of a server whose connection could not be opened.
func (s *server) startError(err error) *Error {
	if s.entry.URL != "" {
		return s.reachError("start", err)
	}
	message, hint := "could not be started: "+err.Error(), ""
	if s.entry.Command != "" {
		hint = "check " + s.entry.Setting("command")
	}
	var missing *exec.Error
	switch {
	case errors.Is(err, errTransport):
		message = fmt.Sprintf("transport %q: %v", s.entry.Transport, err)
		hint = "give the server a command or a url"
	case errors.As(err, &missing):
		message = fmt.Sprintf("could not be started: there is no program %q on the PATH", missing.Name)
		hint = "install it, or give its full path in " + s.entry.Setting("command")
	case s.entry.Cwd != "" && errors.Is(err, fs.ErrNotExist):
		hint += " and " + s.entry.Setting("cwd")
	}
	return s.newError("start", "", message, hint, err)
}

// reachError is the error of a server with a URL that did not answer well to
// the first that it was asked.
func (s *server) reachError(op string, err error) *Error {
	message, hint := "could not be reached: "+err.Error(), "check "+s.entry.Setting("url")
	var (
		status *wire.StatusError
		kind   *wire.ContentTypeError
		raw    = err
	)
	switch {
	case s.life.Err() != nil:
		return s.closedError(op, "")
	case errors.Is(err, context.DeadlineExceeded):
		message = fmt.Sprintf("did not complete the handshake within %v", s.entry.ConnectTimeout)
		hint += ", or raise " + s.entry.Setting("connectTimeoutMs")
		err = context.DeadlineExceeded
	case errors.As(err, &status) && (status.Status == http.StatusUnauthorized || status.Status == http.StatusForbidden):
		message = "denied access: " + err.Error()
		hint = "check " + s.entry.Setting("headers") + " and " + s.entry.Setting("auth")
	case errors.As(err, &status) && (status.Status == http.StatusNotFound || status.Status == http.StatusMethodNotAllowed), errors.As(err, &kind):
		message = "does not speak MCP at this address: it answered " + err.Error()
		hint += " and " + s.entry.Setting("type")
	case op == "handshake" && !errors.Is(err, wire.ErrNotWritten):
		message = "the handshake failed: " + err.Error()
	}
	e := s.newError(op, "", message, hint, err)
	e.raw = raw
	return e
}

// handshakeError is the error of a server that was started but did not
// complete the handshake.
func (s *server) handshakeError(ctx context.Context, l wire.Link, err error) *Error {
	message, hint := "the handshake failed: "+err.Error(), ""
	var version mcp.UnsupportedProtocolVersionError
	var over wire.EndedError
	switch {
	case errors.As(err, &version):
		message = fmt.Sprintf("it speaks revision %q of MCP; known are %v", version.Version, append(slices.Clone(mcp.ValidProtocolVersions), firstRevision))
		hint = "update the server"
	case s.entry.URL != "":
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return s.reachError("handshake", err)
	case s.life.Err() != nil:
		return s.closedError("handshake", "")
	case ctx.Err() != nil:
		message = fmt.Sprintf("it did not complete the handshake within %v", s.entry.ConnectTimeout)
		hint = "check that " + s.entry.Setting("command") + " starts an MCP server over stdio, or raise " + s.entry.Setting("connectTimeoutMs")
		err = context.DeadlineExceeded
	case errors.As(err, &over):
		message = "it " + over.Error() + " before the handshake was complete"
		hint = "check " + s.entry.Setting("command") + " and " + s.entry.Setting("args")
	}
	e := s.newError("handshake", "", message+unexpectedSince(0, l.PeerLog()), hint, err)
	e.Stderr = l.PeerLog().Stderr()
	return e
}

// unexpectedSince returns, in words, what the server wrote that is not JSON-RPC since it had
// written n such things.
func unexpectedSince(n int, peerLog *wire.PeerLog) string {
	if count, latest := peerLog.Unexpected(); count > n {
		return "; it wrote something that is not JSON-RPC: " + latest
	}
	return ""
}

// retryHint returns how to have a call retried if its effect on the server is
// unknown.
func (s *server) retryHint() string {
	const acted = "it may have acted on the call; "
	switch {
	case s.entry.Retry == nil:
		return acted + s.entry.Setting("retry") + " tries again tools that it marks idempotentHint or readOnlyHint, others with retryUnsafe: true"
	case s.entry.RetryUnsafe:
		return "" // it was tried again
	}
	return acted + "tools that it does not mark idempotentHint or readOnlyHint are tried again only with " + s.entry.Setting("retryUnsafe") + ": true"
}

// renewedHint returns why a call was not repeated with another credential.
func (s *server) renewedHint() string {
	return "its credential was renewed, but the call was not repeated, because the tool may have acted on it: call it again if it may run twice. Tools that the server marks readOnlyHint or idempotentHint are repeated, others with " +
		s.entry.Setting("retryUnsafe") + ": true"
}

// requestError is the error of a request over an open session. Before the request
// the server had written odd things that are not JSON-RPC.
func (s *server) requestError(ctx context.Context, op, tool string, session *session, odd int, err error) *Error {
	message, hint := err.Error(), ""
	var (
		rpc    *RPCError
		long   *wire.TooLongError
		over   wire.EndedError
		status *wire.StatusError
		cred   *credential.Error
		task   *taskError
		stderr []string
		raw    = err
	)
	peerLog := &wire.PeerLog{}
	if session != nil {
		peerLog = session.link.PeerLog()
	}
	switch {
	case errors.Is(err, errNoProgress):
		message = fmt.Sprintf("timed out: no answer and no progress for %v", s.entry.Timeout)
		hint = "raise " + s.entry.Setting("timeoutMs") + " if it needs more"
		err, stderr = context.DeadlineExceeded, peerLog.Stderr()
	case errors.Is(err, errCallTimeLimit):
		return s.timeLimitError(op, tool, "to answer")
	case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return s.stoppedError(ctx, op, tool, "before it was answered")
	case errors.As(err, &task):
		e := s.newError(op, tool, message+unexpectedSince(odd, peerLog), s.retryHint(), err)
		e.raw, e.Stderr = raw, peerLog.Stderr()
		return e
	case errors.As(err, &cred):
		message, hint = cred.Message, cred.Hint
	case errors.As(err, &rpc):
		clean := &RPCError{Code: rpc.Code, Message: s.redact.Text(rpc.Message)}
		if errors.As(err, &status) && op == "call" && ofStatus(status).Unknown {
			hint = s.retryHint()
		}
		e := s.newError(op, tool, "it answered an error: "+clean.Error(), hint, clean)
		e.raw = raw
		return e
	case errors.As(err, &status):
		message = "it answered " + err.Error()
		if status.Status == http.StatusUnauthorized || status.Status == http.StatusForbidden {
			hint = "check " + s.entry.Setting("headers") + " and " + s.entry.Setting("auth")
		}
	case errors.As(err, &long):
		message = fmt.Sprintf("the answer is longer than %d bytes", long.Limit)
		hint = "ask for less, or raise " + s.entry.Setting("maxMessageBytes")
	case errors.Is(err, wire.ErrMalformed):
		return s.newError(op, tool, "it "+err.Error(), "", err)
	case s.life.Err() != nil:
		return s.closedError(op, tool)
	case errors.As(err, &over):
		message = "it " + over.Error() + " before it had answered"
		stderr = peerLog.Stderr()
	}
	if op == "call" && (errors.Is(err, wire.ErrLost) || status != nil && ofStatus(status).Unknown) {
		hint = s.retryHint()
	}
	e := s.newError(op, tool, message+unexpectedSince(odd, peerLog), hint, err)
	e.Stderr, e.raw = stderr, raw
	return e
}
