package engine

import (
	"context"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// CannotAsk returns the failure of a question that cannot be asked.
func CannotAsk(why string) *graph.Failure {
	return &graph.Failure{Name: graph.FailCannotAsk, Message: "nobody can be asked: " + why}
}

var errNobody = CannotAsk("the caller answers no questions (Go programs: WithAsk)")

// asker returns what a driver asks people with.
func (p *Program) asker(info *callinfo.Info, ask AskFunc) func(context.Context, *executor.Run, executor.Question) (value.Value, error) {
	if ask == nil {
		return nobody
	}
	return func(ctx context.Context, _ *executor.Run, q executor.Question) (value.Value, error) {
		return ask(ctx, p.shown(info, q))
	}
}

func nobody(context.Context, *executor.Run, executor.Question) (value.Value, error) {
	return value.Undef, errNobody
}

// shown returns a question as a client may see it: what is asked before a call
// quotes its arguments, and prompts quote what tools returned. Both can have secrets
// of the file.
func (p *Program) shown(info *callinfo.Info, q executor.Question) executor.Question {
	switch {
	case q.Node.Approval != nil:
		// Before they are shortened: no secret may be cut in two.
		return q.WithArguments(p.engine.RedactValue(info, q.Arguments))
	case q.Method == graph.AskModel:
		q.Value = p.engine.RedactValue(info, q.Value)
	}
	return q
}

// Parked is a call that waits for answers. It ends with [Parked.End], or with a
// Resume that does not park it again.
type Parked struct{ *call }

// Program returns what the call runs on.
func (k *Parked) Program() *Program { return k.program }

// Run returns the run.
func (k *Parked) Run() *executor.Run { return k.run }

// Questions returns what the run waits for, as people may see it.
func (k *Parked) Questions(info *callinfo.Info) []runs.Question {
	var questions []runs.Question
	for _, q := range k.run.Questions() {
		questions = append(questions, runs.QuestionOf(k.program.shown(info, q)))
	}
	return questions
}

// ID returns the id of the run.
func (k *Parked) ID() string { return k.id }

// Leave lets a run of the Place wait without this process. [Program.Attach] comes back
// to it.
func (k *Parked) Leave() { k.live.Leave() }

// operator acts on runs that a call of this process has begun.
var operator = runs.Who{Operator: true}

// Hold lets somebody know that the questions of a parked run were answered, or that it was
// cancelled, by others than its caller; see [runs.Live.Hold]. Resume ends that.
func (k *Parked) Hold(changed func()) { k.live.Hold(changed) }

// answerTimeout bounds how long a Place may take for an answer, where no worker is there
// for example. The question then stays open.
const answerTimeout = 30 * time.Second

// Answer answers a question with the result of its request, or with the failure
// that there is none. Answers that come too late are ignored.
func (k *Parked) Answer(id string, answer value.Value, failed error) {
	if place := k.program.opts.Place; place != nil {
		ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
		defer cancel()
		_ = place.Answer(ctx, operator, k.id, []runs.Answer{{Question: id, Value: answer, Err: failed}})
		return
	}
	_ = k.run.Answer(id, answer, failed, time.Now())
}

// Resume goes on with the run for another call of the same client.
func (k *Parked) Resume(ctx context.Context, info *callinfo.Info, o CallOptions) (*Result, error) {
	k.program.NoteSecrets(info)
	k.program.noteArguments(info, k.run.Graph(), k.run.Args())
	k.program.log(info)
	k.note(info)
	k.live.Hold(nil)
	info.RunID = k.id
	return k.drive(ctx, info, o)
}

// End abandons a run whose questions have no answer.
func (k *Parked) End(err error) {
	if place := k.program.opts.Place; place != nil {
		ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
		defer cancel()
		_ = place.Cancel(ctx, operator, k.id)
	}
	k.run.Stop(err)
	k.live.End(time.Now(), err)
}

// apart returns a copy of the arguments of a call that may be parked. They would
// keep the whole message of the client alive.
func apart(ctx context.Context, args value.Value) (value.Value, error) {
	account := memory.AccountOf(ctx)
	if err := account.Grow(int64(args.TextSize())); err != nil {
		return args, err
	}
	args = args.Apart()
	if account != nil {
		args = args.Metered(account)
	}
	return args, nil
}
