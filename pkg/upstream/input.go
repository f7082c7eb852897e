package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
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

// capabilitiesJSON returns our capabilities as JSON: those that we have answers for, and
// more.
func (s *server) capabilitiesJSON(more string) string {
	out := more
	for _, a := range answerableRequests {
		if s.answers[a.method] != nil {
			if out != "" {
				out += ","
			}
			out += a.capability
		}
	}
	return "{" + out + "}"
}

// answer answers a request of the server's. What of the params is decoded counts on the
// account of ctx. Nobody changes them afterwards.
func (s *server) answer(ctx context.Context, method string, params json.RawMessage) (value.Value, error) {
	f := s.answers[method]
	if f == nil {
		return value.Value{}, fmt.Errorf("%w %s", errUnanswered, method)
	}
	v := value.Undef
	if len(params) > 0 {
		var err error
		if v, err = value.ParseLazyBytes(params); err != nil {
			return value.Value{}, err
		}
		if held := memory.AccountOf(ctx); held != nil {
			v = v.Metered(held)
		}
	}
	return f(ctx, s.entry.Name, v)
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

// withInput answers what the server asks for and repeats the call, until the
// result is one. repeat makes the request with further members of its params.
func (s *session) withInput(ctx context.Context, reply value.Value, repeat func(extra []byte) (value.Value, error)) (value.Value, error) {
	for range maxInputRounds {
		extra, err := s.input(ctx, reply)
		if err != nil {
			return value.Value{}, err
		}
		if reply, err = repeat(extra); err != nil || !asksForInput(reply) {
			return reply, err
		}
	}
	return value.Value{}, fmt.Errorf("it asked for more input after %d rounds", maxInputRounds)
}

// input returns the members that answer the questions of reply.
func (s *session) input(ctx context.Context, reply value.Value) ([]byte, error) {
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
			answer, err := s.answerInput(ctx, method, q.Value.Get("params"))
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

func (s *session) answerInput(ctx context.Context, method string, params value.Value) (value.Value, error) {
	var raw json.RawMessage
	if !params.IsUndefined() {
		raw = params.Append(nil)
	}
	answer, err := s.server.answer(ctx, method, raw)
	if errors.Is(err, errUnanswered) && method == string(mcp.MethodElicitationCreate) {
		return declined, nil
	}
	return answer, err
}
