package server

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Bounds of completions. A client asks while its user types: what comes late is of no
// use.
const (
	maxCompletions = 100 // values (MCP 2025-11-25, Completion)
	completionTime = 200 * time.Millisecond
)

// Completion are the values that an argument can have.
type Completion struct {
	Values []string
	Total  int  // how many there are; 0 if that is not known
	More   bool // there are more than Values
}

// CompleteFunc returns the values of an argument that begin as typed, or otherwise fit
// it. known is an object with the values of other arguments. ctx ends soon, and what
// is returned afterwards is ignored. After ErrNotFound and an *[InvalidParamsError] the
// client gets a JSON-RPC error, after other errors an empty list.
type CompleteFunc func(ctx context.Context, r *Request, argument, typed string, known value.Value) (Completion, error)

// completion are the params of completion/complete.
type completion struct {
	kind, name      string // of the ref
	argument, typed string
	known           value.Value
}

// Kinds of references (MCP 2025-11-25, CompleteRequest).
const (
	promptRef   = "ref/prompt"
	resourceRef = "ref/resource"
)

// readCompletion reads the params of completion/complete into r.
func readCompletion(r *Request) *rpcError {
	ref, rpcErr := r.param("ref", value.Object)
	if rpcErr != nil {
		return rpcErr
	}
	argument, rpcErr := r.param("argument", value.Object)
	if rpcErr != nil {
		return rpcErr
	}
	given, rpcErr := r.param("context", value.Object)
	if rpcErr != nil {
		return rpcErr
	}
	c := &completion{kind: ref.Get("type").Str(), known: value.FromEntries(nil)}
	key := "name"
	switch c.kind {
	case promptRef:
	case resourceRef:
		key = "uri"
	default:
		return rpcErrorf(mcp.INVALID_PARAMS, "%s: ref.type must be %q or %q", r.Method, promptRef, resourceRef)
	}
	for _, of := range []struct {
		v    value.Value
		name string
		into *string
	}{{ref.Get(key), "ref." + key, &c.name}, {argument.Get("name"), "argument.name", &c.argument}, {argument.Get("value"), "argument.value", &c.typed}} {
		if of.v.Kind() != value.String {
			return rpcErrorf(mcp.INVALID_PARAMS, "%s: %s must be a string, found %s", r.Method, of.name, graph.Describe(of.v))
		}
		*of.into = of.v.Str()
	}
	switch known := given.Get("arguments"); known.Kind() {
	case value.Object:
		c.known = known
	case value.Undefined, value.Null:
	default:
		return rpcErrorf(mcp.INVALID_PARAMS, "%s: context.arguments must be an object, found %s", r.Method, graph.Describe(known))
	}
	if c.kind == promptRef {
		r.Tool = promptTarget + c.name
	} else {
		r.URI = c.name
	}
	r.completion = c
	return nil
}

// checkCompletion refuses completions of what does not exist or what the caller may
// not use.
func checkCompletion(p *snapshot, r *Request) *rpcError {
	if !p.completes() {
		return rpcErrorf(mcp.METHOD_NOT_FOUND, "%s: this server has no completions", r.Method)
	}
	c := r.completion
	var o *offer
	if c.kind == promptRef {
		var rpcErr *rpcError
		if o, rpcErr = p.findPrompt(r, c.name); rpcErr != nil {
			return rpcErr
		}
	} else if o = p.findTemplate(r, c.name); o == nil {
		e := rpcErrorf(mcp.INVALID_PARAMS, "%s: unknown resource template %q", r.Method, c.name)
		e.reason = "not_found"
		return e
	}
	r.offer, r.Tool = o, o.target
	if rpcErr := p.scopes.check(r, o); rpcErr != nil {
		return rpcErr
	}
	if rpcErr := o.checkArgument(r, c.argument); rpcErr != nil {
		return rpcErr
	}
	return checkStrings(r, o, "context.arguments", c.known)
}

// checkArgument refuses an argument that the offer does not have.
func (o *offer) checkArgument(r *Request, name string) *rpcError {
	if o.arguments == nil || slices.Contains(o.arguments, name) {
		return nil
	}
	return rpcErrorf(mcp.INVALID_PARAMS, "%s: %s has no argument %q", r.Method, o.label, name)
}

// errTooSlow is the cancellation cause of a completion that takes too long.
var errTooSlow = errors.New("the completion took too long")

// complete answers completion/complete. What takes too long, fails or finds no slot has no
// values: clients ask again with each key that their user presses, and cannot show errors.
func complete(ctx context.Context, r *reply) ([]byte, *rpcError) {
	var found Completion
	if r.offer.complete != nil {
		short, cancel := context.WithTimeoutCause(ctx, completionTime, errTooSlow)
		defer cancel()
		c, of := r.completion, *r.offer
		of.call = func(ctx context.Context, r *Request) (_ value.Value, err error) {
			found, err = of.complete(ctx, r, c.argument, c.typed, c.known)
			return value.Undef, err
		}
		r.offer = &of
		switch _, err := r.run(short); {
		case context.Cause(short) == errTooSlow && ctx.Err() == nil:
			found, r.reason = Completion{}, ""
		case errors.Is(err, ErrNotFound), errors.As(err, new(*InvalidParamsError)):
			return r.fail(ctx, err)
		case err != nil:
			found, r.failed, r.failure = Completion{}, true, err.Error()
			r.logger().DebugContext(ctx, "a completion failed", "of", r.Tool, "argument", clip(c.argument), "error", r.failure)
		}
	}
	return r.message(found.appendMember(nil), false), nil
}

func (c Completion) appendMember(dst []byte) []byte {
	total := max(c.Total, len(c.Values))
	shown := c.Values[:min(len(c.Values), maxCompletions)]
	dst = append(dst, `"completion":{"values":[`...)
	for i, v := range shown {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = value.AppendString(dst, v)
	}
	more := c.More || total > len(shown)
	dst = append(dst, ']')
	if c.Total > 0 || !c.More {
		dst = value.FromInt(int64(total)).Append(append(dst, `,"total":`...))
	}
	dst = value.FromBool(more).Append(append(dst, `,"hasMore":`...))
	return append(dst, '}')
}
