package serving

import (
	"context"
	"errors"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/internal/parked"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// call runs a tool for a client. Questions of the run reach its user as the
// revision of MCP has it: in a session as requests to the client while the call
// goes on, without one as the answer to the call, which the client then repeats
// with the answers.
func (s *Servers) call(ctx context.Context, p *engine.Program, r *server.Request) (value.Value, error) {
	asks := r.CanElicit(server.FormMode) || r.CanElicit(server.URLMode)
	o := engine.CallOptions{Hooks: reports(p, r)}
	state, goesOn := r.State()
	switch {
	case goesOn:
		return s.resume(ctx, r, state)
	case r.Stateless():
		o.Park = asks
	case asks:
		o.Ask = Elicit(r)
	}
	result, err := p.Call(ctx, &r.Info, r.Tool, r.Args, o)
	return s.finish(ctx, p, r, o, result, err)
}

// Elicit returns what asks the user of a client in a session.
func Elicit(r *server.Request) engine.AskFunc {
	return func(ctx context.Context, q executor.Question) (value.Value, error) {
		params := q.Value
		if mode(params) == server.URLMode {
			params = withID(params, r.RunID+"/"+q.ID)
		}
		defer keepWaiting(r.Reporter(), q)()
		answer, err := r.Elicit(ctx, params)
		return answer, asFailure(ctx, err)
	}
}

// mode returns the mode of elicitation that a question needs.
func mode(params value.Value) string {
	if m := params.Get("mode").Str(); m != "" {
		return m
	}
	return server.FormMode
}

// withID adds what names a visit (MCP 2025-11-25, Elicitation, URL mode).
func withID(params value.Value, id string) value.Value {
	b := value.NewBuilder(params.Len() + 1)
	for _, e := range params.Entries() {
		b.Set(e.Key, e.Value)
	}
	b.Set("elicitationId", value.FromString(id))
	return b.Value()
}

// waitingInterval is how often a client hears that its call waits for its user:
// clients end calls that are silent.
const waitingInterval = 15 * time.Second

// keepWaiting reports progress until stop is called.
func keepWaiting(r *server.Reporter, q executor.Question) (stop func()) {
	if !r.WantsProgress() {
		return func() {}
	}
	began, ended := time.Now(), make(chan struct{})
	go func() {
		ticker := time.NewTicker(waitingInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				return
			case <-ticker.C:
				r.Progress("question "+q.ID, time.Since(began).Seconds(), max(time.Until(q.Until), 0).Seconds()+time.Since(began).Seconds(), "waiting for an answer")
			}
		}
	}()
	return func() { close(ended) }
}

// asFailure returns the failure of a question that was not answered.
func asFailure(ctx context.Context, err error) error {
	switch {
	case err == nil, ctx.Err() != nil:
		return err
	case errors.Is(err, server.ErrBadAnswer):
		return &graph.Failure{Name: graph.FailAnswer, Message: err.Error()}
	}
	return &graph.Failure{Name: graph.FailCannotAsk, Message: err.Error()}
}

// finish returns the answer to a call. A run that is parked is kept, and the
// client is asked to call again.
func (s *Servers) finish(ctx context.Context, p *engine.Program, r *server.Request, o engine.CallOptions, result *engine.Result, err error) (value.Value, error) {
	for errors.Is(err, executor.ErrParked) {
		var required error
		if required = s.park(p, r, result.Parked); required != nil {
			return value.Undef, required
		}
		result, err = result.Parked.Resume(ctx, &r.Info, o)
	}
	if err != nil {
		return value.Undef, &server.CallError{Failure: p.Failure(&r.Info, err), Err: err}
	}
	return result.Value, nil
}

// park keeps a run and returns what asks the client for its answers. It returns nil
// if a question cannot be asked: that has failed now, and the run goes on.
func (s *Servers) park(p *engine.Program, r *server.Request, k *engine.Parked) error {
	questions := k.Questions(&r.Info)
	asked := true
	fail := func(q executor.Question, err error) {
		k.Answer(q.ID, value.Undef, err)
		asked = false
	}
	requests, expires := value.NewBuilder(len(questions)), time.Time{}
	for _, q := range questions {
		if !r.CanElicit(mode(q.Value)) {
			fail(q, engine.CannotAsk(server.ErrCannotAsk.Error()))
			continue
		}
		request := value.NewBuilder(2)
		request.Set("method", value.FromString("elicitation/create"))
		request.Set("params", q.Value)
		requests.Set(q.ID, request.Value())
		if q.Until.After(expires) {
			expires = q.Until
		}
	}
	if !asked {
		return nil
	}
	release := p.Retain()
	if release == nil {
		release = func() {}
	}
	waiting := parked.Run{
		Run: k.Run(), Caller: r.Caller, Tool: r.Tool, Requests: requests.Value(), Expires: expires,
		Call: &parkedCall{k, release},
		Expired: func() {
			k.End(errors.New("nobody answered in time"))
			release()
		},
	}
	state, err := s.parked.Add(waiting)
	if err != nil {
		release()
		for _, q := range questions {
			fail(q, err)
		}
		return nil
	}
	return &server.InputRequiredError{Requests: waiting.Requests, State: state}
}

// parkedCall is a call that is parked, and what ends its hold on its program.
type parkedCall struct {
	*engine.Parked
	release func()
}

// maxResponses bounds the answers of one call, in bytes.
const maxResponses = 1 << 20

// resume goes on with the run that the call names.
func (s *Servers) resume(ctx context.Context, r *server.Request, state string) (v value.Value, err error) {
	responses := r.Responses()
	if !responses.IsUndefined() {
		if responses.LongerThan(maxResponses) {
			return value.Undef, &server.InvalidParamsError{Message: "inputResponses are longer than 1 MiB"}
		}
		// They outlive the request, whose memory is given back.
		if responses, err = value.Parse(responses.JSON()); err != nil {
			return value.Undef, &server.InvalidParamsError{Message: "inputResponses: " + err.Error()}
		}
	}
	turn, before, err := s.parked.Take(state, r.Caller, r.Tool, r.Args, responses, ctx.Done())
	switch {
	case err != nil:
		return value.Undef, &server.InvalidParamsError{Message: err.Error()}
	case before != nil:
		return before.Value, before.Err
	}
	err = errors.New("internal error") // unless nothing panics
	defer func() { turn.Finish(parked.Result{Value: v, Err: err}) }()
	k := turn.Call.(*parkedCall)
	defer k.release()
	k.Run().Advance(time.Now()) // answers that come too late do not count
	for _, answer := range responses.Entries() {
		if wrong := server.CheckElicitation(answer.Value); wrong != nil {
			k.Answer(answer.Key, value.Undef, asFailure(ctx, wrong))
			continue
		}
		k.Answer(answer.Key, answer.Value, nil)
	}
	p := k.Program()
	o := engine.CallOptions{Hooks: reports(p, r), Park: true}
	result, err := k.Resume(ctx, &r.Info, o)
	return s.finish(ctx, p, r, o, result, err)
}
