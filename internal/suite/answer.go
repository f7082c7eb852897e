package suite

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Evaluation is what expressions of a test file are evaluated with.
type Evaluation struct {
	// Processor is asked now and then while an expression computes; it may be nil.
	Processor jsonata.Processor
	// Random returns numbers in [0, 1); nil means those of the machine.
	Random func() float64
}

// maxMemory bounds what an expression of a test file holds, in bytes.
const maxMemory = 256 << 20

func (o Evaluation) options(vars ...value.Entry) *jsonata.Options {
	return &jsonata.Options{Vars: vars, Processor: o.Processor, Random: o.Random, Limits: jsonata.Limits{Memory: maxMemory}}
}

// Fit is how well a mock fits a call; a higher one fits better.
type Fit int

// The fits of mocks.
const (
	OtherServer Fit = iota
	OtherTool
	OtherArguments
	FitsCall
)

// Fits returns how well the mock fits a call. If only the arguments are others, reason
// is what differs.
func (m *Mock) Fits(ctx context.Context, o Evaluation, server, tool string, args value.Value) (fit Fit, reason string) {
	switch {
	case !m.server.matches(server):
		return OtherServer, ""
	case !m.tool.matches(tool):
		return OtherTool, ""
	case m.Arguments == nil:
		return FitsCall, ""
	}
	c := comparer{ctx: ctx, options: o}
	if equal, expected, found := c.compare(m.Arguments, args, byKey); !equal {
		return OtherArguments, difference(expected, found, c.reasons)
	}
	return FitsCall, ""
}

// Name returns what the mock answers, for messages.
func (m *Mock) Name() string { return m.server.text + "." + m.tool.text }

// difference describes in what arguments differ from those of a mock.
func difference(expected, found value.Value, reasons []string) string {
	var parts []string
	for _, e := range expected.Entries() {
		switch got := found.Get(e.Key); {
		case got.IsUndefined() && !e.Value.IsUndefined():
			parts = append(parts, fmt.Sprintf("%s is missing, expected %s", e.Key, e.Value.Preview(maxShown)))
		case !value.Equal(e.Value, got):
			parts = append(parts, fmt.Sprintf("%s is %s, expected %s", e.Key, got.Preview(maxShown), e.Value.Preview(maxShown)))
		}
	}
	if len(parts) == 0 {
		parts = reasons
	}
	return strings.Join(parts, "; ")
}

// Answer returns the result of tools/call that the reply gives to a call with these
// arguments. The error is an *upstream.Failure, or says why the expression of the reply
// gives none.
func (r *Reply) Answer(ctx context.Context, o Evaluation, args value.Value) (value.Value, error) {
	switch {
	case r.Failure != "":
		return value.Undef, &upstream.Failure{Name: r.Failure}
	case r.expr == nil:
		return r.Result, nil
	}
	v, err := r.expr.Eval(ctx, args, o.options(value.Entry{Key: argumentsVariable, Value: args}))
	if err != nil {
		return value.Undef, fmt.Errorf("the expression of the reply failed: %w", err)
	}
	return replyFrom(v)
}

// replyFrom returns the result that a reply computed by an expression means.
func replyFrom(v value.Value) (value.Value, error) {
	if v.Kind() == value.Object && v.Len() == 1 {
		only := v.Entries()[0]
		switch only.Key {
		case "failure":
			if err := upstream.CheckFailureName(textOf(only.Value)); err != nil {
				return value.Undef, err
			}
			return value.Undef, &upstream.Failure{Name: textOf(only.Value)}
		case "text", "json", "structured", "content", "result", "error":
			result, wrong := resultOf(only.Key, only.Value)
			if wrong != "" {
				return value.Undef, fmt.Errorf("the expression of the reply yields {%s: …} with something else than %s: %s", only.Key, wrong, only.Value.Preview(maxShown))
			}
			return result, nil
		}
	}
	if v.IsUndefined() {
		return value.Undef, errors.New("the expression of the reply yields nothing; expected an object such as {\"text\": …}")
	}
	return value.Undef, fmt.Errorf("the expression of the reply yields %s; expected an object with one of text, json, structured, content, result, error or failure", v.Preview(maxShown))
}
