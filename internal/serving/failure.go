package serving

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"

	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// failKind is the name of the type of fail nodes, whose message and data the author wrote
// for callers.
const failKind = "fail"

// publicMessages are what callers over HTTP are told of failures whose own messages can
// have data of other servers, or names of this machine, by the names of the failures.
// Other messages are for callers: of tools that failed, of limits, of fail nodes and of
// questions.
var publicMessages = map[string]string{
	graph.FailConnect:    "an upstream server cannot be reached",
	graph.FailClosed:     "the connection to an upstream server ended",
	graph.FailTimeout:    "it took too long",
	graph.FailMalformed:  "an upstream server sent something malformed",
	graph.FailDenied:     "an upstream server refused the credentials",
	graph.FailBusy:       "an upstream server is too busy; try again later",
	graph.FailProtocol:   "an upstream server refused the request",
	graph.FailDrift:      "an upstream tool differs from the one that was reviewed",
	graph.FailNotLocked:  "an upstream tool was not reviewed",
	graph.FailOutput:     "the reply of an upstream tool lacks what the node needs",
	graph.FailExpression: "an expression failed",
	graph.FailNoRoute:    "no condition holds",
	graph.FailArguments:  "the arguments do not fit the called tool",
	graph.FailResult:     "the result does not fit its schema",
	graph.FailTooMany:    "too many repetitions failed",
	graph.FailUnknown:    "the call was interrupted, and may have had an effect",
	graph.FailTooLarge:   "a value is too large",
	graph.FailInternal:   "internal error",
}

// failed returns the error that answers a call which failed with err. Callers over HTTP
// get no more than its name, its node and a message, unless the options say otherwise.
// The log has the rest, under an id that they get.
func (s *Servers) failed(p *engine.Program, info *callinfo.Info, err error) error {
	full := &server.CallError{Failure: p.Failure(info, err), Err: withMissing(err)}
	if info.Header == nil || s.opts.ErrorDetails {
		return full
	}
	f := executor.FailureOf(err)
	if _, own := err.(*graph.Failure); f.Node == "" && (own || f.Name == graph.FailArguments) {
		return full // about the request itself
	}
	message, hidden := publicMessages[f.Name]
	if !hidden || isForCallers(f, err) {
		message = full.Failure.Get("message").Str()
	}
	b := value.NewBuilder(6)
	b.Set("name", value.FromString(f.Name))
	b.Set("message", value.FromString(message))
	text := f.Name + ": " + message
	if f.Node != "" {
		b.Set("node", value.FromString(f.Node))
		text = fmt.Sprintf("%s in node %q: %s", f.Name, f.Node, message)
	}
	if code := full.Failure.Get("code"); !code.IsUndefined() {
		b.Set("code", code)
	}
	if f.Type == failKind {
		text = message
		if data := full.Failure.Get("data"); !data.IsUndefined() {
			b.Set("data", data)
		}
	} else {
		id := cmp.Or(info.RunID, runs.NewID())
		b.Set("id", value.FromString(id))
		text += fmt.Sprintf(" (error %s)", id)
		log := info.Log
		if log == nil {
			log = s.engine.Log()
		}
		log.Info("a call failed", slog.String("id", id), slog.String("error", p.Redact(info, err.Error())))
	}
	return &server.CallError{Failure: b.Value(), Err: &publicError{text, full.Err}}
}

// isForCallers reports whether the message of a failure was written for callers, though
// others of its name are not: by a fail node, by $error or $assert in an expression, or
// by mcpgraph itself about too many calls.
func isForCallers(f *graph.Failure, err error) bool {
	switch {
	case f.Type == failKind, f.Code == "D3137", f.Code == "D3141":
		return true
	case f.Name != graph.FailBusy || errors.As(err, new(*upstream.Error)):
		return false
	}
	kept := (*graph.Failure)(nil) // that of an upstream server, as a record of a run keeps it
	return !errors.As(err, &kept) || kept.Server == ""
}

// publicError is an error under another text.
type publicError struct {
	text string
	err  error
}

// Error returns the text.
func (e *publicError) Error() string { return e.text }

// Unwrap returns the error.
func (e *publicError) Unwrap() error { return e.err }
