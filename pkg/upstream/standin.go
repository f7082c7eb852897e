package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
	"net/http"
	"slices"
	"strconv"
	"time"
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
	if !errors.As(err, &e) || e.Kind == KindCancelled {
		return nil, false
	}
	f := &Failure{Name: e.FailureCode(), Message: e.Message, RetryAfter: e.After}
	if CheckFailureName(f.Name) != nil {
		f.Name = e.FailureName()
	}
	final, ok := kindsByName[f.Name]
	f.Final = ok && e.Kind == finalKind(final) && finalKind(final) != final
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
	k, named := kindsByName[f.Name]
	if f.Final {
		k = finalKind(k)
	}
	switch {
	case k == KindConnect, k == KindUnreachable:
		return s.startError(k)
	case k == KindCallTime:
		return s.timeLimitError(opCall, tool, "to answer")
	case k == KindTooLong:
		return s.requestError(ctx, opCall, tool, nil, 0, &wire.TooLongError{Limit: s.entry.MaxMessageBytes})
	case named:
		return s.requestError(ctx, opCall, tool, nil, 0, k)
	}
	if err := CheckFailureName(f.Name); err != nil {
		return s.newError(opCall, tool, err.Error(), "", KindOther)
	}
	code, _ := strconv.Atoi(f.Name)
	if code < 0 {
		return s.requestError(ctx, opCall, tool, nil, 0, &RPCError{Code: code, Message: cmp.Or(f.Message, "server error")})
	}
	status := &wire.StatusError{Status: code, Header: http.Header{}, Body: f.Message}
	if f.RetryAfter > 0 {
		status.Header.Set("Retry-After", strconv.Itoa(int((f.RetryAfter+time.Second-1)/time.Second)))
	}
	if code == http.StatusUnauthorized {
		return s.requestError(ctx, opCall, tool, nil, 0, &credential.Error{Message: "it wants a credential: " + status.Error(), Err: status})
	}
	return s.requestError(ctx, opCall, tool, nil, 0, status)
}
