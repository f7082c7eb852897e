package serving

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// claims are the runs that callers come back to: tasks, and calls that wait for answers.
// Nothing of them is kept here: the place has them.
//
// Their caller names them by the id of the run and a secret, whose digest is kept with
// the run: ids are written to logs. The name of a call that waits for answers also has a
// digest of what it asks, so that answers never answer what is asked later.
type claims struct {
	servers *Servers
	place   runs.Place
	begun   atomic.Bool // a task was

	mu       sync.Mutex
	requests map[string]int // under way, by caller
	all      int
	freed    chan struct{} // closed when one of them has ended; nil if nobody waits
}

// Bounds of the requests about runs that are under way, since each asks the place.
const (
	maxRequestsInAll     = 128
	maxRequestsPerCaller = 16
	// requestTimeout bounds one of them, turnTimeout how long one waits until it may
	// begin.
	requestTimeout = 15 * time.Second
	turnTimeout    = 2 * time.Second
)

// KeepState and KeepTask are how long what came of a call is kept for its caller: of one
// that was answered with requestState, so that it can be repeated with the same answers,
// and of a task.
const (
	KeepState = time.Minute
	KeepTask  = time.Hour
)

// errState refuses a state. It does not say why: who tries states learns nothing.
var errState = &server.InvalidParamsError{Message: "requestState is unknown, expired, already used or of another call; call the tool again without it"}

// newClaim returns what lets the caller of a request come back to its run with a secret.
func newClaim(r *server.Request, secret string, keep time.Duration) *runs.Claim {
	return &runs.Claim{Check: digestOf(secret), Created: time.Now(), Keep: keep, Blocks: r.Blocks()}
}

// refusedBy returns the failures of questions that the client of a task cannot answer.
func refusedBy(r *server.Request) (refuses map[string]*graph.Failure) {
	none := value.FromEntries(nil)
	byURL := value.FromEntries([]value.Entry{{Key: "mode", Value: value.FromString(server.URLMode)}})
	for _, q := range []struct {
		method string
		params value.Value
	}{{graph.AskPerson, none}, {graph.AskPerson, byURL}, {graph.AskModel, none}, {graph.AskRoots, none}} {
		if missing := (*server.MissingCapabilityError)(nil); errors.As(r.Needs(q.method, q.params), &missing) {
			if refuses == nil {
				refuses = map[string]*graph.Failure{}
			}
			refuses[graph.QuestionKind(q.method, q.params)] = cannotAsk(missing)
		}
	}
	return refuses
}

func digestOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// maxName is how long a name is at most, in bytes.
const maxName = 256

func nameOf(id, secret string) string { return id + "." + secret }

// state returns the run that the caller has a name of, and its id. The error is
// server.ErrUnknownTask if there is none.
func (t *claims) state(ctx context.Context, info *callinfo.Info, name string, detail runs.Detail) (*runs.State, string, error) {
	id, secret, ok := strings.Cut(name, ".")
	if !ok || id == "" || secret == "" || len(name) > maxName {
		return nil, "", server.ErrUnknownTask
	}
	s, err := t.place.Look(ctx, who(info, secret), id, detail)
	if errors.Is(err, runs.ErrNotFound) {
		return nil, "", server.ErrUnknownTask
	}
	if errors.Is(err, runs.ErrNoWorker) && s != nil {
		s.Problem, err = runs.ErrNoWorker.Error(), nil
	}
	if err == nil {
		info.RunID = id
	}
	return s, id, err
}

// who is the caller of a request that has a secret.
func who(info *callinfo.Info, secret string) runs.Who {
	return runs.Who{Caller: info.Caller, Check: digestOf(secret)}
}

// enter counts a request of a caller until leave is called. It waits while there are too
// many others.
func (t *claims) enter(ctx context.Context, caller string) (_ context.Context, leave func(), err error) {
	late := time.NewTimer(turnTimeout)
	defer late.Stop()
	for {
		freed, ok := t.take(caller)
		if ok {
			break
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return ctx, nil, context.Cause(ctx)
		case <-late.C:
			return ctx, nil, &graph.Failure{Name: graph.FailBusy, Message: "too many requests about tasks are under way"}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	return ctx, func() {
		cancel()
		t.free(caller)
	}, nil
}

// take counts a request. If there are too many it reports false, and returns what is
// closed when one ends.
func (t *claims) take(caller string) (freed <-chan struct{}, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all < maxRequestsInAll && t.requests[caller] < maxRequestsPerCaller {
		t.all++
		t.requests[caller]++
		return nil, true
	}
	if t.freed == nil {
		t.freed = make(chan struct{})
	}
	return t.freed, false
}

func (t *claims) free(caller string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all--
	if t.requests[caller]--; t.requests[caller] == 0 {
		delete(t.requests, caller)
	}
	if t.freed != nil {
		close(t.freed)
		t.freed = nil
	}
}

// answer hands in the answers to what a run asks, by the names of the questions.
func (t *claims) answer(ctx context.Context, w runs.Who, id string, questions []runs.Question, names []string, given value.Value) error {
	for i, q := range questions {
		answer := given.Get(names[i])
		if answer.IsUndefined() {
			continue
		}
		answer, wrong := checked(q, answer)
		switch err := t.place.Answer(ctx, w, id, []runs.Answer{{Question: q.ID, Value: answer, Err: wrong}}); {
		case isSettled(err): // somebody was faster
		case errors.Is(err, runs.ErrNoWorker):
			return errors.Join(&graph.Failure{Name: graph.FailBusy, Message: runs.ErrNoWorker.Error()}, err)
		case err != nil:
			return err
		}
	}
	return nil
}

// isSettled reports whether an answer came too late, since somebody was faster.
func isSettled(err error) bool {
	return errors.Is(err, runs.ErrNotAsked) || errors.Is(err, runs.ErrNotFound) || errors.Is(err, runs.ErrOver)
}

// failed returns the error with which a run ended, as clients get it.
func (t *claims) failed(info *callinfo.Info, s *runs.State) error {
	switch {
	case s.Err == nil:
		return nil
	case errors.Is(s.Err, runs.ErrPanicked):
		return &server.PanicError{}
	}
	p := t.servers.engine.Use()
	defer p.Release()
	return t.servers.failed(p, info, s.Err)
}

// unreached returns the error that answers a call whose run the Place cannot reach. Only
// the message of a *graph.Failure is for clients: others can name machines of the operator.
func (t *claims) unreached(ctx context.Context, p *engine.Program, r *server.Request, err error) error {
	if ctx.Err() != nil {
		return t.servers.failed(p, &r.Info, err)
	}
	t.servers.engine.Log().WarnContext(ctx, "a run cannot be reached", "run", r.RunID, "error", err)
	failure := (*graph.Failure)(nil)
	if !errors.As(err, &failure) {
		failure = &graph.Failure{Name: graph.FailConnect, Message: "the run cannot be reached now: try again later"}
	}
	return t.servers.failed(p, &r.Info, failure)
}

// finish returns the answer to a call. If its run waits for answers that have not come,
// the client is asked to call again.
func (t *claims) finish(ctx context.Context, p *engine.Program, r *server.Request, o engine.CallOptions, given answers, secret string, result *engine.Result, err error) (value.Value, error) {
	for errors.Is(err, executor.ErrParked) {
		s := result.State
		settled, bad := t.settle(ctx, r, s, given)
		if bad != nil {
			return value.Undef, t.unreached(ctx, p, r, bad)
		}
		if !settled {
			return value.Undef, inputRequired(s.ID, secret, s.Questions)
		}
		if result.Run != nil {
			o.From = result.Run.NextIndex()
		}
		result, err = p.Resume(ctx, &r.Info, s.ID, o)
	}
	if err != nil {
		return value.Undef, t.servers.failed(p, &r.Info, err)
	}
	return result.Value, nil
}

// answerTimeout bounds how long a place may take for an answer, where no worker is there
// for example.
const answerTimeout = 30 * time.Second

// settle answers the questions for which the client lacks a capability, or whose answers
// came with the call, and reports whether there were any.
func (t *claims) settle(ctx context.Context, r *server.Request, s *runs.State, given answers) (settled bool, err error) {
	names := namesOf(s.Questions)
	for i, q := range s.Questions {
		a := runs.Answer{Question: q.ID}
		if missing := r.Needs(q.Method, q.Params); missing != nil {
			a.Err = asFailure(ctx, missing)
		} else if v, ok := given.take(names[i], q); ok {
			a.Value = v
		} else {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, answerTimeout)
		err := t.place.Answer(limited, operator, s.ID, []runs.Answer{a})
		cancel()
		if err != nil && !isSettled(err) {
			return false, err
		}
		settled = true
	}
	return settled, nil
}

// operator acts on the run of a call of this process.
var operator = runs.Who{Operator: true}

// inputRequired asks the client of a call what its run asks.
func inputRequired(id, secret string, questions []runs.Question) error {
	return &server.InputRequiredError{Requests: requestsOf(questions, namesOf(questions)), State: stateOf(id, secret, digestOfQuestions(questions))}
}

// stateOf returns the requestState of a call whose run asks what has this digest.
func stateOf(id, secret, asked string) string {
	return nameOf(id, secret) + "." + asked + "." + digestOf(id + " " + secret + " " + asked)[:digits]
}

// readState is the inverse of stateOf. It returns no name for what is no state.
func readState(state string) (name, asked string) {
	parts := strings.Split(state, ".")
	if len(state) > maxName || len(parts) != 4 || stateOf(parts[0], parts[1], parts[2]) != state {
		return "", ""
	}
	return nameOf(parts[0], parts[1]), parts[2]
}

// digits is how much of a digest a state has.
const digits = 16

// resume goes on with the run that the call names. The same call again gets the same
// result, and answers nothing; the call with other answers is refused.
func (t *claims) resume(ctx context.Context, p *engine.Program, r *server.Request, state string) (value.Value, error) {
	given, err := responses(r)
	if err != nil {
		return value.Undef, err
	}
	name, asked := readState(state)
	s, id, err := t.reached(ctx, &r.Info, name, runs.Whole)
	switch {
	case errors.Is(err, server.ErrUnknownTask):
		return value.Undef, errState
	case err != nil:
		return value.Undef, t.unreached(ctx, p, r, err)
	case s.Tool != r.Tool, s.Ending, !s.Args.IsUndefined() && !value.Equal(s.Args, r.Args):
		return value.Undef, errState
	}
	_, secret, _ := strings.Cut(name, ".")
	switch err := t.answered(ctx, who(&r.Info, secret), s, asked, given); {
	case errors.Is(err, runs.ErrUsed), errors.Is(err, runs.ErrNotFound):
		return value.Undef, errState
	case err != nil:
		return value.Undef, t.unreached(ctx, p, r, err)
	}
	if r.WantsTask() {
		return value.Undef, t.start(ctx, p, r, id, secret)
	}
	o := engine.CallOptions{Hooks: reports(p, r), From: s.Count, URI: r.URI, Park: true, Claim: newClaim(r, secret, KeepState)}
	result, err := p.Resume(ctx, &r.Info, id, o)
	switch {
	case errors.Is(err, runs.ErrNotFound): // meanwhile
		return value.Undef, errState
	case err != nil && result.State == nil:
		return value.Undef, t.unreached(ctx, p, r, err)
	}
	return t.finish(ctx, p, r, o, nil, secret, result, err)
}

// answered hands in the answers of a call to what its state asked.
func (t *claims) answered(ctx context.Context, w runs.Who, s *runs.State, asked string, given value.Value) error {
	open, names := digestOfQuestions(s.Questions) == asked, namesOf(s.Questions)
	if given.Len() == 0 || open && !slices.ContainsFunc(names, given.Has) {
		return nil
	}
	err := t.place.Use(ctx, w, s.ID, asked, digestOfAnswers(given))
	if err == nil && open {
		err = t.answer(ctx, w, s.ID, s.Questions, names, given)
	}
	return err
}

// waitAgain is after how long a run that no worker has is asked for again.
const waitAgain = 2 * time.Second

// reached is state, and waits for a worker.
func (t *claims) reached(ctx context.Context, info *callinfo.Info, name string, detail runs.Detail) (*runs.State, string, error) {
	for {
		s, id, err := t.state(ctx, info, name, detail)
		if err != nil || s.Problem == "" {
			return s, id, err
		}
		select {
		case <-ctx.Done():
			return nil, "", context.Cause(ctx)
		case <-time.After(waitAgain):
		}
	}
}
