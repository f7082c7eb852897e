package expr

import (
	"context"
	"errors"

	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// CallName is the name of the function that calls a tool of the file.
const CallName = "call"

// callFunction calls a tool of the file. Its first argument is the name of the tool,
// the second one its arguments.
var callFunction = jsonata.Function{Name: CallName, Signature: "<so?:x>", Immediate: true, Call: callTool}

// errNoCalls is returned where nothing performs calls.
var errNoCalls = errors.New("no tools can be called here")

func callTool(c *jsonata.Call, args []value.Value) (value.Value, error) {
	env, ok := c.Data().(*Env)
	if !ok || env == nil || env.Calls == nil {
		return value.Undef, errNoCalls
	}
	given := arg(args, 1)
	if given.IsUndefined() || given.IsNull() {
		given = emptyDocument
	}
	return env.Calls(c.Ctx(), arg(args, 0).Str(), given)
}

// CallsFunc returns the result of a tool of the file, or an error; see [Env].
type CallsFunc func(ctx context.Context, tool string, args value.Value) (value.Value, error)

// CompileWithCalls compiles a JSONata expression that reads an object of arguments
// in the place of a run's document, and can call tools of the file with $call. It has
// no history functions. An error is an *[Error].
func CompileWithCalls(src string, opts ...jsonata.Option) (*Program, error) {
	all := append([]jsonata.Option{jsonata.WithFunctions(callFunction), jsonata.WithObjectInput()}, opts...)
	e, err := jsonata.Compile(src, all...)
	if err != nil {
		return nil, jsonataError(err, src, nil)
	}
	return &Program{json: e, refs: sourceRefs(e, nil), calls: sourceCalls(e), findings: sourceFindings(e, nil)}, nil
}

// Calls lists the calls of tools that a program of [CompileWithCalls] makes, in the
// order of the source. The slice is shared and must not be modified.
func (p *Program) Calls() []ToolCall { return p.calls }

// ToolCall is one call of $call.
type ToolCall struct {
	// Tool is the name of the tool; empty where it is not a literal text.
	Tool string
	// Offset and End span the name in bytes of the source or, where it is no literal
	// text, the call.
	Offset, End int
}

func sourceCalls(e *jsonata.Expr) []ToolCall {
	var calls []ToolCall
	for _, r := range e.Refs() {
		if r.Kind != jsonata.CallRef || r.Func != CallName {
			continue
		}
		c := ToolCall{Offset: r.Offset, End: r.End}
		if len(r.Args) > 0 && r.Args[0].Kind() == value.String && r.Args[0].Str() != "" {
			c.Tool = r.Args[0].Str()
			if at := r.ArgPlaces[0]; at[0] < at[1] {
				c.Offset, c.End = at[0], at[1]
			}
		}
		calls = append(calls, c)
	}
	return calls
}
