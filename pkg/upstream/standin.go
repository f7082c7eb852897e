package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/policy"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Exchange is one exchange of a tool call with its server. A call that its server's
// entry retries has several of them; one that the cache answers has none.
type Exchange struct {
	Info *callinfo.Info // what the call carries about its caller; not nil
	// Server is the name of the entry, and Tool that of the tool as a graph calls it,
	// without namePrefix.
	Server, Tool string
	Args         value.Value // as the graph sends them
}

// Intercept stands between the policies of a server's entry (cache, circuit breaker,
// retry, rate limit, limit of concurrent calls), which act on what it returns, and
// credentials, sessions and the wire. It returns what next returns, or something else
// without calling it. Without a call of next no server is started, no credential is
// fetched, and no tools are listed.
//
// Next makes the exchange. Its errors are *[Error], its replies whole result objects
// of tools/call. Intercept calls it at most once and returns after it has.
//
// An Intercept may return these errors:
//
//   - a *[Failure], which fails the call like the real failure of that name
//   - the error of next
//   - an error of ctx, if that is done
//   - any other error: the call fails with it, and no policy repeats the call or
//     counts it against the server. Rules of a graph see the name that a method
//     FailureName() string of it returns.
//
// It is called by several goroutines at once. It must return soon after ctx is done.
type Intercept func(ctx context.Context, x Exchange, next func(context.Context) (value.Value, error)) (value.Value, error)

// standIn lets Options.Intercept make the exchanges of tool calls. An answer of its own has
// its turn and its slot like a request. Next gives the slot back, since it may open a
// session first, but keeps the turn for its first request.
func (s *server) standIn(next Caller) Caller {
	return func(ctx context.Context, c *Call) (reply Reply, err error) {
		if c.Method != policy.MethodCall {
			return next(ctx, c)
		}
		as, admit := c.As, c.Admit
		release, err := admit(ctx)
		if err != nil {
			return Reply{}, err
		}
		free := sync.OnceFunc(release)
		defer free()
		if s.lockedInput != nil {
			if in := s.lockedInput(s.entry.Name, c.Name); in != nil {
				if err := s.checkArguments(ctx, in, c.Name, c.Args); err != nil {
					return Reply{}, err
				}
			}
		}
		asked := false
		x := Exchange{Info: c.Info, Server: s.entry.Name, Tool: c.Name, Args: c.Args}
		v, err := s.intercept(ctx, x, func(ctx context.Context) (value.Value, error) {
			free()
			asked = true
			had := s.layers.Admits()
			c.Admit = func(ctx context.Context) (func(), error) {
				if had {
					had = false
					return s.layers.Admit(ctx, c, false)
				}
				return admit(ctx)
			}
			var err error
			reply, err = next(withInfo(ctx, c.Info), c)
			return reply.Value, err
		})
		c.As, c.Admit = as, admit
		if err != nil {
			err = s.cleanError(ctx, s.standInError(ctx, c, err), as)
			var answered *Error
			if !asked && errors.As(err, &answered) && (kinds[answered.Kind].fault != ofNobody || answered.FailureCode() != "") {
				reply.Sent = 1
			}
			return Reply{Sent: reply.Sent}, err
		}
		if asked {
			return Reply{Value: v, Sent: reply.Sent}, nil
		}
		if v.Kind() != value.Object {
			return Reply{Sent: 1}, s.requestError(ctx, opCall, c.Name, nil, 0, wire.ErrMalformed)
		}
		if held := memory.AccountOf(ctx); held != nil {
			if err := held.Grow(int64(v.TextSize())); err != nil {
				return Reply{Sent: 1}, s.requestError(ctx, opCall, c.Name, nil, 0, err)
			}
			v = v.Metered(held)
		}
		return Reply{Value: s.cleanReply(ctx, v, as), Sent: 1}, nil
	}
}

// standInError returns the error of a call whose stand-in returned err.
func (s *faults) standInError(ctx context.Context, c *Call, err error) error {
	var failure *Failure
	var already *Error
	switch {
	case errors.As(err, &failure):
		return s.failed(ctx, c.Name, failure)
	case errors.As(err, &already):
		return err
	case ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))):
		return s.stoppedError(ctx, opCall, c.Name, "before it was answered")
	}
	return err
}

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
func (s *faults) failed(ctx context.Context, tool string, f *Failure) error {
	e := s.errorOf(ctx, tool, f)
	e.Tool = tool
	if f.Message != "" {
		e.Message = s.redact.Text(f.Message)
	}
	return e
}

func (s *faults) errorOf(ctx context.Context, tool string, f *Failure) *Error {
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
