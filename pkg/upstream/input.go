package upstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Answer answers a request of a server's, for example elicitation/create: the
// result object for its params. It may be called by several goroutines.
type Answer func(ctx context.Context, server string, params value.Value) (value.Value, error)

// errUnanswered is in the error of a request of a server's that nobody answers.
var errUnanswered = errors.New("this client does not answer")

// answerableRequests are the requests that a server may send, with the capability that
// announces an answer.
var answerableRequests = []struct{ method, capability string }{
	{string(mcp.MethodElicitationCreate), `"elicitation":{"form":{}}`},
	{string(mcp.MethodSamplingCreateMessage), `"sampling":{}`},
	{string(mcp.MethodListRoots), `"roots":{}`},
}

const (
	// maxInputRounds is how often a call is repeated with the input that its
	// server asked for.
	maxInputRounds = 10
	// inputPollDelay is the wait where a server asks for nothing but a repetition.
	inputPollDelay = 500 * time.Millisecond
)

// asksForInput reports whether a result is the question for more input (MCP of
// 2026-07-28, multi round-trip requests).
func asksForInput(reply value.Value) bool { return reply.Get("resultType").Str() == "input_required" }

// input returns the members that answer the questions of reply.
func (t *try) input(ctx context.Context, reply value.Value) ([]byte, error) {
	var extra []byte
	questions := reply.Get("inputRequests").Entries()
	if len(questions) == 0 {
		// Without a question it only asks to come again.
		select {
		case <-time.After(inputPollDelay):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	} else {
		extra = append(extra, `,"inputResponses":{`...)
		for i, q := range questions {
			method := q.Value.Get("method").Str()
			answer, err := t.answerInput(ctx, method, q.Value.Get("params"))
			if err != nil {
				return nil, fmt.Errorf("it asks for input (%s) to go on: %w", method, err)
			}
			if i > 0 {
				extra = append(extra, ',')
			}
			extra = append(value.AppendString(extra, q.Key), ':')
			extra = answer.Append(extra)
		}
		extra = append(extra, '}')
	}
	if state := reply.Get("requestState"); !state.IsUndefined() {
		extra = state.Append(append(extra, `,"requestState":`...))
	}
	return extra, nil
}

// declined is the answer to a question that nobody is there to answer.
var declined = value.FromEntries([]value.Entry{{Key: "action", Value: value.FromString("decline")}})

// answerInput answers one question. Nothing is held meanwhile.
func (t *try) answerInput(ctx context.Context, method string, params value.Value) (value.Value, error) {
	t.ended()
	answer, err := t.Ask(ctx, method, params)
	if errors.Is(err, errUnanswered) && method == string(mcp.MethodElicitationCreate) {
		return declined, nil
	}
	return answer, err
}
