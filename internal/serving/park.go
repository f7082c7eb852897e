package serving

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/internal/parked"
	"github.com/mcpgraph/mcpgraph/internal/tasks"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// round is what one of the calls of a client that make up a run has beside its request.
type round struct {
	given  answers // that came with the first one
	secret string  // with which the client comes back to a run of a Place
}

// finish returns the answer to a call. A run that is parked is kept, and the client
// is asked to call again.
func (s *Servers) finish(ctx context.Context, p *engine.Program, r *server.Request, o engine.CallOptions, t round, result *engine.Result, err error) (value.Value, error) {
	for errors.Is(err, executor.ErrParked) {
		var required error
		if required = s.park(ctx, p, r, result.Parked, t); required != nil {
			return value.Undef, required
		}
		result, err = result.Parked.Resume(ctx, &r.Info, o)
	}
	if err != nil {
		return value.Undef, s.failed(p, &r.Info, err)
	}
	return result.Value, nil
}

// answers are answers by the name of the question, each for one use.
type answers map[string]value.Value

func newAnswers(responses value.Value) answers {
	if responses.Len() == 0 {
		return nil
	}
	given := answers{}
	for _, e := range responses.Entries() {
		given[e.Key] = e.Value
	}
	return given
}

// take returns the answer to a question, if there is one that can be its answer.
// Nobody approves a call whose arguments are not known yet.
func (a answers) take(name string, q runs.Question) (value.Value, bool) {
	v, ok := a[name]
	if !ok || q.Approval || graph.CheckAnswer(q.Method, v) != nil {
		return value.Undef, false
	}
	delete(a, name)
	return v, true
}

// maxRequests bounds the questions of one answer, in bytes. Further ones are asked
// once these are answered.
const maxRequests = 4 << 20

// park keeps a run and returns what asks the client for its answers. It returns nil
// if a question was answered or cannot be asked: the run then goes on.
func (s *Servers) park(ctx context.Context, p *engine.Program, r *server.Request, k *engine.Parked, t round) error {
	questions := k.Questions(&r.Info)
	names := namesOf(questions)
	settled := refuse(ctx, r, k, questions)
	for i, q := range questions {
		if answer, ok := t.given.take(names[i], q); ok {
			k.Answer(q.ID, answer, nil)
			settled = true
		}
	}
	if settled {
		return nil
	}
	if s.remote != nil {
		return s.remote.park(k, questions, t.secret)
	}
	requests, asked, expires := requestsOf(questions, names)
	release := p.Retain()
	if release == nil {
		release = func() {}
	}
	waiting := parked.Run{
		Run: k.Run(), Caller: r.Caller, Tool: r.Tool, Requests: requests, Expires: expires,
		Call: &parkedCall{k, asked, release},
		Expired: func() {
			err := k.Run().Stopped() // it was cancelled
			if err == nil {
				err = errors.New("nobody answered in time")
			}
			k.End(err)
			release()
		},
	}
	k.Hold(func() {
		if k.Run().Stopped() != nil {
			s.parked.Abandon(k.Run())
		}
	})
	state, err := s.parked.Add(waiting)
	if err != nil {
		release()
		for _, q := range questions {
			k.Answer(q.ID, value.Undef, err)
		}
		return nil
	}
	if k.Run().Stopped() != nil { // meanwhile
		s.parked.Abandon(k.Run())
	}
	return &server.InputRequiredError{Requests: waiting.Requests, State: state}
}

// refuse answers the questions for which the client lacks a capability, and reports
// whether there were any.
func refuse(ctx context.Context, r *server.Request, k *engine.Parked, questions []runs.Question) (settled bool) {
	for _, q := range questions {
		if missing := r.Needs(q.Method, q.Params); missing != nil {
			k.Answer(q.ID, value.Undef, asFailure(ctx, missing))
			settled = true
		}
	}
	return settled
}

// requestsOf returns the requests that ask the questions, as clients get them, the
// questions by name, and the time at which nobody can answer any more.
func requestsOf(questions []runs.Question, names []string) (requests value.Value, asked map[string]runs.Question, expires time.Time) {
	b, size := value.NewBuilder(len(questions)), 0
	asked = map[string]runs.Question{}
	for i, q := range questions {
		if size += q.Params.TextSize(); size > maxRequests && len(asked) > 0 {
			break
		}
		request := value.NewBuilder(2)
		request.Set("method", value.FromString(q.Method))
		request.Set("params", q.Params)
		b.Set(names[i], request.Value())
		asked[names[i]] = q
		if q.Until.After(expires) {
			expires = q.Until
		}
	}
	return b.Value(), asked, expires
}

// namesOf returns the names of questions as the client sees them: the id of the node
// or, where a node asks several questions, what tells them apart.
func namesOf(questions []runs.Question) []string {
	times := map[string]int{}
	for _, q := range questions {
		times[q.Node]++
		times[q.ID]++
	}
	names := make([]string, len(questions))
	for i, q := range questions {
		if names[i] = q.ID; times[q.Node] == 1 {
			names[i] = q.Node
		}
	}
	return names
}

// uniqueNamesOf returns names of questions that no other question of the run has: who
// can answer twice must not answer the next question.
func uniqueNamesOf(questions []runs.Question) []string {
	names := make([]string, len(questions))
	for i, q := range questions {
		if names[i] = q.Node + q.ID; !strings.HasPrefix(q.ID, ":") {
			names[i] = q.Node + "@" + q.ID
		}
	}
	return names
}

// parkedCall is a call that is parked, what the client was asked, by name, and what
// ends its hold on its program.
type parkedCall struct {
	*engine.Parked
	asked   map[string]runs.Question
	release func()
}

// responses returns the answers of a call, undefined if it has none. They outlive the
// request, whose memory is given back.
func responses(r *server.Request) (value.Value, error) {
	v := r.Responses()
	if v.IsUndefined() {
		return v, nil
	}
	if err := tasks.CheckSize(v); err != nil {
		return value.Undef, err
	}
	return v.Apart(), nil
}

// resume goes on with the run that the call names.
func (s *Servers) resume(ctx context.Context, r *server.Request, state string) (v value.Value, err error) {
	given, err := responses(r)
	if err != nil {
		return value.Undef, err
	}
	turn, before, err := s.parked.Take(state, r.Caller, r.Tool, r.Args, given, ctx.Done())
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
	for _, answer := range given.Entries() {
		answerQuestion(k.Parked, k.asked, answer.Key, answer.Value)
	}
	p := k.Program()
	if r.WantsTask() {
		return value.Undef, s.startTask(ctx, p, r, k.Parked)
	}
	o := engine.CallOptions{Hooks: reports(p, r), URI: r.URI, Park: true}
	result, err := k.Resume(ctx, &r.Info, o)
	return s.finish(ctx, p, r, o, round{}, result, err)
}

// answerQuestion answers the question with this name, if it was asked.
func answerQuestion(k *engine.Parked, asked map[string]runs.Question, name string, answer value.Value) {
	q, ok := asked[name]
	if !ok {
		return
	}
	answer, wrong := checked(q, answer)
	k.Answer(q.ID, answer, wrong)
}

// checked returns an answer, or the failure of one that has not the form of an answer.
func checked(q runs.Question, answer value.Value) (value.Value, error) {
	if wrong := graph.CheckAnswer(q.Method, answer); wrong != nil {
		return value.Undef, wrong
	}
	return answer, nil
}
