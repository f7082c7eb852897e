package upstream

import (
	"context"
	"errors"
	"fmt"
	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/redact"
	"io/fs"
	"net/http"
	"os/exec"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
)

// faults makes the errors of one server, in which no secret is left.
type faults struct {
	entry  *config.Upstream
	redact *redact.Redactor
	life   context.Context // ends with the server
}

// newError makes an Error in which no secret is left. If hint is empty, it is that of the
// kind of the cause.
func (s *faults) newError(op, tool, message, hint string, cause error) *Error {
	e := &Error{Server: s.entry.Name, Tool: tool, Op: op, Message: s.redact.Text(message), Hint: hint, Err: s.redact.Err(cause)}
	e.diagnose(cause)
	if k := kinds[e.Kind]; e.Hint == "" && k.hint != nil && (!k.unknown || e.unknown()) {
		e.Hint = k.hint(s.entry, op)
	}
	return e
}

func (s *faults) closedError(op, tool string) *Error {
	return s.newError(op, tool, KindPoolClosed.Error(), "", KindPoolClosed)
}

// stoppedError is the error of a call whose context ended while it waited.
func (s *faults) stoppedError(ctx context.Context, op, tool, when string) *Error {
	cause := context.Cause(ctx)
	var why string
	switch {
	case errors.Is(cause, KindCallTime):
		return s.timeLimitError(op, tool, when)
	case cause == context.DeadlineExceeded:
		why = "its caller's time was up"
	case cause == context.Canceled:
		why = "its caller cancelled it"
	default:
		why = cause.Error()
		cause = errors.Join(cause, ctx.Err())
	}
	return s.newError(op, tool, "given up "+when+": "+why, "", errors.Join(KindCancelled, cause))
}

func (s *faults) timeLimitError(op, tool, when string) *Error {
	return s.newError(op, tool, fmt.Sprintf("it took longer than %v %s", s.entry.MaxCallTime, when), "", KindCallTime)
}

// startError is the error of a server whose connection could not be opened.
func (s *faults) startError(err error) *Error {
	if s.entry.URL != "" {
		return s.reachError("start", err)
	}
	message, hint := "could not be started: "+err.Error(), connectHint(s.entry, opStart)
	var missing *exec.Error
	switch {
	case errors.Is(err, KindUnreachable):
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
func (s *faults) reachError(op string, err error) *Error {
	message, hint := "could not be reached: "+err.Error(), connectHint(s.entry, op)
	var (
		status *wire.StatusError
		kind   *wire.ContentTypeError
	)
	switch {
	case s.life.Err() != nil:
		return s.closedError(op, "")
	case errors.Is(err, context.DeadlineExceeded):
		message = fmt.Sprintf("did not complete the handshake within %v", s.entry.ConnectTimeout)
		hint += ", or raise " + s.entry.Setting("connectTimeoutMs")
	case errors.As(err, &status) && (status.Status == http.StatusUnauthorized || status.Status == http.StatusForbidden):
		message, hint = "denied access: "+err.Error(), ""
	case errors.As(err, &status) && (status.Status == http.StatusNotFound || status.Status == http.StatusMethodNotAllowed), errors.As(err, &kind):
		message = "does not speak MCP at this address: it answered " + err.Error()
		hint += " and " + s.entry.Setting("type")
	case op == "handshake" && !errors.Is(err, wire.ErrNotWritten):
		message = "the handshake failed: " + err.Error()
	}
	return s.newError(op, "", message, hint, err)
}

// handshakeError is the error of a server that was started but did not
// complete the handshake.
func (s *faults) handshakeError(ctx context.Context, l wire.Link, err error) *Error {
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

// requestError is the error of a request over an open session. Before the request
// the server had written odd things that are not JSON-RPC.
func (s *faults) requestError(ctx context.Context, op, tool string, session *session, odd int, err error) *Error {
	var (
		rpc    *RPCError
		long   *wire.TooLongError
		over   wire.EndedError
		status *wire.StatusError
		cred   *credential.Error
		task   *taskError
	)
	peerLog := &wire.PeerLog{}
	if session != nil {
		peerLog = session.link.PeerLog()
	}
	message, hint, withStderr := err.Error(), "", false
	switch {
	case errors.Is(err, KindTimeout):
		message, withStderr = fmt.Sprintf("timed out: no answer and no progress for %v", s.entry.Timeout), true
	case errors.Is(err, KindCallTime):
		return s.timeLimitError(op, tool, "to answer")
	case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return s.stoppedError(ctx, op, tool, "before it was answered")
	case errors.As(err, &task):
		hint, withStderr = actedHint(s.entry, op), true
	case errors.As(err, &cred):
		message, hint = cred.Message, cred.Hint
	case errors.As(err, &rpc):
		clean := &RPCError{Code: rpc.Code, Message: s.redact.Text(rpc.Message)}
		e := s.newError(op, tool, "it answered an error: "+clean.Error(), "", err)
		e.Err = clean
		return e
	case errors.As(err, &status):
		message = "it answered " + err.Error()
	case errors.As(err, &long):
		message = fmt.Sprintf("the answer is longer than %d bytes", long.Limit)
	case errors.Is(err, wire.ErrMalformed):
		return s.newError(op, tool, "it "+err.Error(), "", err)
	case s.life.Err() != nil:
		return s.closedError(op, tool)
	case errors.As(err, &over):
		message, withStderr = "it "+over.Error()+" before it had answered", true
	}
	e := s.newError(op, tool, message+unexpectedSince(odd, peerLog), hint, err)
	if withStderr {
		e.Stderr = peerLog.Stderr()
	}
	return e
}

func (s *faults) lacksError(op, capability string) *Error {
	return s.newError(op, "", fmt.Sprintf("the server offers no %s (it does not announce the capability %q)", capabilityNames[capability], capability), "", KindLacks)
}

func (s *faults) driftError(tool, differs string) error {
	return s.newError("call", tool, KindDrift.Error()+": "+differs, "", KindDrift)
}

// errorOfRequest returns the error of a request, which names what it was for.
func (s *faults) errorOfRequest(err error, r Request, info *callinfo.Info) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	edited := *e
	clean := s.redact.Text
	if own := info.Secrets; own != nil {
		clean = func(text string) string { return own.Text(s.redact.Text(text)) }
	}
	edited.Prompt, edited.Resource = textline.Prefix(clean(r.Prompt), maxShownName), textline.Prefix(clean(r.Resource), maxShownName)
	return &edited
}
