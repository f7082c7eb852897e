package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/policy"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
)

// Failure is a failure of an exchange by its name, as [Intercept] returns it. It
// fails the call with the *[Error] that the real failure has: policies, retries of
// nodes and catch rules take it for that one.
type Failure struct {
	// Name is one of those that [FailureNames] returns, an HTTP status ("503"), or a
	// code of JSON-RPC ("-32001").
	Name string
	// Message is what happened, in the words of [Error.Message]. If it is empty,
	// there is a message for each name.
	Message string
	// RetryAfter is how long the server asks to be left alone. It is used with an
	// HTTP status, in whole seconds.
	RetryAfter time.Duration
	// Final says of "connect" that the server cannot be reached before someone has
	// changed something, and of "timeout" that all of maxCallTimeMs has passed.
	Final bool
}

// Error returns the name and the message.
func (f *Failure) Error() string {
	if f.Message == "" {
		return f.Name
	}
	return f.Name + ": " + f.Message
}

// FailureNames returns the names of failures that have one, statuses and codes apart:
// those of retryOn, and those that only rules of a graph know.
func FailureNames() []string {
	return append(config.FailureNames(), failedUnauthorized, failedBusy, failedProtocol, failedDrift, failedNotLocked, failedArguments)
}

// CheckFailureName returns an error with a suggestion if no failure has this name.
// Classes of statuses, such as 5xx, are no names.
func CheckFailureName(name string) error {
	if slices.Contains(FailureNames(), name) {
		return nil
	}
	if n, err := strconv.Atoi(name); err == nil && strconv.Itoa(n) == name && (n >= 400 && n <= 599 || n < 0) {
		return nil
	}
	hint := "expected " + diag.List(FailureNames()) + ", an HTTP status from 400 to 599, or a JSON-RPC error code such as -32001"
	if near, ok := diag.Nearest(name, FailureNames()); ok {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return fmt.Errorf("no failure has the name %q; %s", name, hint)
}

// FailureOf returns the failure by its name that err is, and reports false if err is
// nil, is no *[Error], or says that the caller gave up.
func FailureOf(err error) (*Failure, bool) {
	var e *Error
	if !errors.As(err, &e) || e.FailureName() == failedCancelled {
		return nil, false
	}
	f := &Failure{Name: e.FailureCode(), Message: e.Message, RetryAfter: e.RetryAfter()}
	if CheckFailureName(f.Name) != nil {
		f.Name = e.FailureName()
	}
	f.Final = (f.Name == failedConnect || f.Name == failedTimeout) && classify(e).Final
	return f, true
}

// failed returns the error of a call that failed like f.
func (s *server) failed(ctx context.Context, tool string, f *Failure) error {
	e := s.errorOf(ctx, tool, f)
	e.Tool = tool
	if f.Message != "" {
		e.Message = s.redact.Text(f.Message)
	}
	return e
}

func (s *server) errorOf(ctx context.Context, tool string, f *Failure) *Error {
	request := func(raw error) *Error { return s.requestError(ctx, "call", tool, nil, 0, raw) }
	switch f.Name {
	case failedConnect:
		if f.Final {
			return s.startError(errTransport)
		}
		return s.startError(syscall.ECONNREFUSED)
	case failedClosed:
		return request(fmt.Errorf("%w: %w", wire.ErrLost, wire.EndedError("closed the connection")))
	case failedTimeout:
		if f.Final {
			return s.timeLimitError("call", tool, "to answer")
		}
		return request(errNoProgress)
	case failedMalformed:
		return request(wire.ErrMalformed)
	case failedUnauthorized:
		return request(&credential.Error{Message: "the call does not carry the credential that it needs"})
	case failedBusy:
		return s.newError("call", tool, policy.ErrRateLimited.Error(), "", policy.ErrRateLimited)
	case failedDrift:
		return s.newError("call", tool, errDrift.Error(), "", errDrift)
	case failedArguments:
		e := &argumentsError{}
		return s.newError("call", tool, e.Error(), "", e)
	case failedNotLocked:
		return s.newError("call", tool, errNotLocked.Error(), "", errNotLocked)
	case failedProtocol:
		return request(&wire.TooLongError{Limit: s.entry.MaxMessageBytes})
	}
	if err := CheckFailureName(f.Name); err != nil {
		return s.newError("call", tool, err.Error(), "", &interceptError{err})
	}
	code, _ := strconv.Atoi(f.Name)
	if code < 0 {
		return request(&RPCError{Code: code, Message: cmp.Or(f.Message, "server error")})
	}
	status := &wire.StatusError{Status: code, Header: http.Header{}, Body: f.Message}
	if f.RetryAfter > 0 {
		status.Header.Set("Retry-After", strconv.Itoa(int((f.RetryAfter+time.Second-1)/time.Second)))
	}
	if code == http.StatusUnauthorized {
		return request(&credential.Error{Message: "it wants a credential: " + status.Error(), Err: status})
	}
	return request(status)
}
