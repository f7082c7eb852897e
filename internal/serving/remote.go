package serving

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/internal/parked"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// remoteRuns are the runs of a Place that callers come back to: tasks, and calls that
// wait for answers. Nothing of them is kept in this process, so any other one that has
// the Place answers for them as well.
//
// Their caller names them by the id of the run and a secret, whose digest is kept with
// the run: ids are written to logs. The name of a call that waits for answers also has a
// digest of what it asks, so that answers never answer what is asked later.
type remoteRuns struct {
	servers *Servers
	place   runs.Place

	mu       sync.Mutex
	requests map[string]int // under way, by caller
	all      int
	freed    chan struct{} // closed when one of them has ended; nil if nobody waits
}

// Bounds of the requests about runs of a Place that are under way, since each asks it.
const (
	maxRequestsInAll     = 128
	maxRequestsPerCaller = 16
	// requestTimeout bounds one of them, turnTimeout how long one waits until it may
	// begin.
	requestTimeout = 15 * time.Second
	turnTimeout    = 2 * time.Second
)

// newClaim returns what lets the caller of a request come back to its run, the failures of
// questions that its client cannot answer, and the secret that it needs.
func newClaim(r *server.Request) (c *runs.Claim, refuses map[string]*graph.Failure, secret string) {
	secret = rand.Text()
	c = &runs.Claim{Check: digestOf(secret), Created: time.Now(), Blocks: r.Blocks()}
	if !r.WantsTask() {
		return c, nil, secret // each call says what its client can answer
	}
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
	return c, refuses, secret
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
func (t *remoteRuns) state(ctx context.Context, info *callinfo.Info, name string, detail runs.Detail) (*runs.State, string, error) {
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
func (t *remoteRuns) enter(ctx context.Context, caller string) (_ context.Context, leave func(), err error) {
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
func (t *remoteRuns) take(caller string) (freed <-chan struct{}, ok bool) {
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

func (t *remoteRuns) free(caller string) {
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
func (t *remoteRuns) answer(ctx context.Context, w runs.Who, id string, questions []runs.Question, names []string, given value.Value) error {
	for i, q := range questions {
		answer := given.Get(names[i])
		if answer.IsUndefined() {
			continue
		}
		answer, wrong := checked(q, answer)
		switch err := t.place.Answer(ctx, w, id, []runs.Answer{{Question: q.ID, Value: answer, Err: wrong}}); {
		case errors.Is(err, runs.ErrNotAsked), errors.Is(err, runs.ErrNotFound): // somebody was faster
		case errors.Is(err, runs.ErrNoWorker):
			return errors.Join(&graph.Failure{Name: graph.FailBusy, Message: runs.ErrNoWorker.Error()}, err)
		case err != nil:
			return err
		}
	}
	return nil
}

// failed returns the error with which a run ended, as clients get it.
func (t *remoteRuns) failed(info *callinfo.Info, s *runs.State) error {
	if s.Err == nil {
		return nil
	}
	p := t.servers.engine.Use()
	defer p.Release()
	return t.servers.failed(p, info, s.Err)
}

// unreached returns the error that answers a call whose run the Place cannot reach. Only
// the message of a *graph.Failure is for clients: others can name machines of the operator.
func (t *remoteRuns) unreached(ctx context.Context, p *engine.Program, r *server.Request, err error) error {
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

// park lets a run wait for answers, and returns what asks the client for them.
func (t *remoteRuns) park(k *engine.Parked, questions []runs.Question, secret string) error {
	k.Leave()
	return inputRequired(k.ID(), secret, questions)
}

// inputRequired asks the client of a call what its run asks.
func inputRequired(id, secret string, questions []runs.Question) error {
	requests, _, _ := requestsOf(questions, namesOf(questions))
	return &server.InputRequiredError{Requests: requests, State: stateOf(id, secret, digestOfQuestions(questions))}
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

// digestOfQuestions returns what tells questions from all others of their run.
func digestOfQuestions(questions []runs.Question) string {
	var ids strings.Builder
	for _, q := range questions {
		ids.WriteString(q.ID + " ")
	}
	return digestOf(ids.String())[:digits]
}

// digestOfAnswers returns what tells answers from others; the order of members does not
// count.
func digestOfAnswers(given value.Value) string { return digestOf(sorted(given).JSON()) }

func sorted(v value.Value) value.Value {
	switch v.Kind() {
	case value.Object:
		entries := slices.Clone(v.Entries())
		slices.SortFunc(entries, func(a, b value.Entry) int { return strings.Compare(a.Key, b.Key) })
		for i := range entries {
			entries[i].Value = sorted(entries[i].Value)
		}
		return value.FromEntries(entries)
	case value.Array:
		list := slices.Clone(v.Elems())
		for i := range list {
			list[i] = sorted(list[i])
		}
		return value.FromArray(list)
	}
	return v
}

// resume goes on with the run that the call names. The same call again waits for the
// same run, and answers nothing; the call with other answers is refused.
func (t *remoteRuns) resume(ctx context.Context, p *engine.Program, r *server.Request, state string) (value.Value, error) {
	given, err := responses(r)
	if err != nil {
		return value.Undef, err
	}
	name, asked := readState(state)
	s, id, err := t.reached(ctx, &r.Info, name, runs.Whole)
	if errors.Is(err, server.ErrUnknownTask) || err == nil && (s.Tool != r.Tool || s.Ending || !s.Args.IsUndefined() && !value.Equal(s.Args, r.Args)) {
		return value.Undef, &server.InvalidParamsError{Message: parked.ErrState.Error()}
	}
	_, secret, _ := strings.Cut(name, ".")
	if err == nil && given.Len() > 0 {
		err = t.place.Use(ctx, who(&r.Info, secret), id, asked, digestOfAnswers(given))
	}
	if errors.Is(err, runs.ErrUsed) {
		return value.Undef, &server.InvalidParamsError{Message: parked.ErrState.Error()}
	}
	if err == nil && digestOfQuestions(s.Questions) == asked {
		err = t.answer(ctx, who(&r.Info, secret), id, s.Questions, namesOf(s.Questions), given)
	}
	if err != nil {
		return value.Undef, t.unreached(ctx, p, r, err)
	}
	if r.WantsTask() {
		s.Questions = nil // the next state has those that are left
		return value.Undef, &server.TaskError{Task: t.task(&r.Info, name, s)}
	}
	if s.Status.Over() || s.Version != p.Digest() {
		return t.await(ctx, p, r, name)
	}
	k, err := p.Attach(&r.Info, s)
	if err != nil {
		return value.Undef, t.servers.failed(p, &r.Info, err)
	}
	o := engine.CallOptions{Hooks: reports(p, r), URI: r.URI, Park: true}
	result, err := k.Resume(ctx, &r.Info, o)
	return t.servers.finish(ctx, p, r, o, round{secret: secret}, result, err)
}

// How often a run is asked for its state.
const awaitFirst, awaitLast = 100 * time.Millisecond, 2 * time.Second

// reached is state, and waits for a worker.
func (t *remoteRuns) reached(ctx context.Context, info *callinfo.Info, name string, detail runs.Detail) (*runs.State, string, error) {
	for {
		s, id, err := t.state(ctx, info, name, detail)
		if err != nil || s.Problem == "" {
			return s, id, err
		}
		select {
		case <-ctx.Done():
			return nil, "", context.Cause(ctx)
		case <-time.After(awaitLast):
		}
	}
}

// await waits for the end of a run that is over or of another version of the file, or
// for what it asks next. It reports no progress.
func (t *remoteRuns) await(ctx context.Context, p *engine.Program, r *server.Request, name string) (value.Value, error) {
	for wait := awaitFirst; ; wait = min(2*wait, awaitLast) {
		s, id, err := t.reached(ctx, &r.Info, name, runs.Status)
		switch {
		case errors.Is(err, server.ErrUnknownTask):
			return value.Undef, &server.InvalidParamsError{Message: parked.ErrState.Error()}
		case err != nil:
			return value.Undef, t.unreached(ctx, p, r, err)
		case s.Status.Over() && s.Err != nil:
			return value.Undef, t.failed(&r.Info, s)
		case s.Status.Over():
			return p.Shown(r.Tool, s.Result, r.Args, r.URI)
		case len(s.Questions) > 0:
			_, secret, _ := strings.Cut(name, ".")
			return value.Undef, inputRequired(id, secret, s.Questions)
		}
		select {
		case <-ctx.Done():
			return value.Undef, context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}
