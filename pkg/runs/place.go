package runs

import (
	"context"
	"crypto/subtle"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Place is where runs are: one can start them there, and see them. It is safe for
// concurrent use. Methods return soon after ctx is done.
//
// Errors about a run wrap one of those below. All others mean that the place failed.
type Place interface {
	View
	// Do runs a call until it is over or waits for answers of people alone. With the ID
	// of a run it goes on with that one, or waits for who does. It returns the run as it
	// is then; the error says why there is none. The end of ctx cancels the run, unless
	// the process ends and the place outlives it.
	Do(ctx context.Context, c *Call) (*State, error)
	// Start starts a call, and returns when the run goes on without its caller. With the
	// ID of a run it lets that one go on.
	Start(ctx context.Context, c *Call) (*State, error)
	// Use notes that the caller of a run with a claim answers what it was asked: both are
	// digests, of the questions and of the answers. It is to be called before Answer. The
	// error is ErrUsed if the caller has given other answers to the same questions before.
	Use(ctx context.Context, w Who, id, asked, given string) error
}

// View is a place for those who come to its runs by their ids: they look at them, answer
// what they ask and cancel them. [Memory] is one for the runs of this process.
type View interface {
	// Name names the place for people, such as "Temporal at localhost:7233".
	Name() string
	// Follow returns what happens in a run: its records from an index on, what it asks,
	// and its end, which is the last event.
	Follow(ctx context.Context, w Who, id string, from int) iter.Seq2[Event, error]
	// Look returns a run as it is now. With ErrNoWorker the State has what is known
	// nevertheless.
	Look(ctx context.Context, w Who, id string, d Detail) (*State, error)
	// Answer answers questions of a run, in their order.
	Answer(ctx context.Context, w Who, id string, answers []Answer) error
	// Cancel ends a run. It does not wait for its end.
	Cancel(ctx context.Context, w Who, id string) error
	// List returns runs: those under way, the newest first, then those that ended last.
	List(ctx context.Context, w Who, f Filter) iter.Seq2[Summary, error]
}

// Errors of places.
var (
	// ErrNotFound means that there is no run with an id, or not for who asks.
	ErrNotFound = errors.New("no such run")
	// ErrExists means that there is a run with this id already.
	ErrExists = errors.New("there is a run with this id already")
	// ErrNotAsked means that a run does not ask that, or not any more.
	ErrNotAsked = errors.New("the run does not ask that (any more)")
	// ErrUsed means that the caller of a run has given other answers to the same questions.
	ErrUsed = errors.New("other answers to these questions were given before")
	// ErrOver means that a run has ended already.
	ErrOver = errors.New("the run has ended already")
	// ErrNoWorker means that nobody who has the version of the file that a run needs
	// answers.
	ErrNoWorker = errors.New("no worker for this version of the file answers")
	// ErrUnavailable means that a request did not come to the place. Such an error has a
	// *[graph.Failure] for those who must not learn where the place is.
	ErrUnavailable = errors.New("the place of the runs does not answer")
	// ErrUnreadable is in errors about what the place has and this program cannot read.
	ErrUnreadable = errors.New("cannot be read")
)

// Who asks for a run. Runs of others are as if they were not there.
type Who struct {
	// Caller is the authenticated caller; empty if callers are not told apart.
	Caller string
	// Check is the digest of the secret that a caller got for a run with a [Claim].
	Check string
	// Operator sees every run: the page and the commands.
	Operator bool
}

// Owns reports whether a run belongs to who asks. Check is that of its Claim.
func (w Who) Owns(caller, check string) bool {
	return w.Operator || w.Caller == caller && subtle.ConstantTimeCompare([]byte(w.Check), []byte(check)) == 1
}

// Program is a version of a file, as places need it.
type Program interface {
	// Digest tells the version from others: 64 hexadecimal digits.
	Digest() string
	// Graph returns the tool, prompt or resource with a name.
	Graph(tool string) (*graph.Graph, error)
	// Forwards reports whether servers of the file may be sent a header of the caller.
	Forwards(header string) bool
	// Retain makes the program stay usable until release is called, which may be nil.
	Retain() (release func())

	// Prepare readies what a call carries to go on with a run of these arguments, in which
	// these values are known to be secrets.
	Prepare(info *callinfo.Info, g *graph.Graph, args value.Value, secrets []string)
	// Traced returns info with the trace of ctx, for runs that another process drives.
	Traced(ctx context.Context, info *callinfo.Info) *callinfo.Info
	// Hooks returns what observes the runs of all calls. If another process drives the
	// run, which makes its spans, these are starts and ends alone.
	Hooks(info *callinfo.Info, here bool) []executor.Hooks
	// Port returns the world as a run of this process reaches it.
	Port(r *executor.Run, info *callinfo.Info) executor.Port

	// Secrets returns what takes the secrets out of a run, which shows none among arguments
	// from now on.
	Secrets(r *executor.Run) Secrets
	// Shown returns a question as the caller may see it.
	Shown(info *callinfo.Info, q executor.Question) executor.Question
	// Failure returns the error of a call as clients are sent it.
	Failure(info *callinfo.Info, err error) value.Value
}

// Secrets takes secrets out of what is shown and kept of a run. It is safe for concurrent
// use.
type Secrets interface {
	// Note adds those of a request that drives the run.
	Note(info *callinfo.Info)
	// Redactor returns what takes them out of texts, or nil if there are none. It is
	// called again each time, since a call meets more of them as it goes on.
	Redactor() func(string) string
}

// Call is a call of a tool.
type Call struct {
	// ID is that of a run that goes on; empty: a new one, whose id the place makes.
	ID string
	// Run has the graph, the arguments and the seed of a new run. Do adds what happens to
	// it. If the call goes on with a run, the place sets it where it knows the records.
	Run *executor.Run
	// Program is what the graph is from. A run that goes on may be of another version.
	Program Program
	// URI is what a client asked for if the call is of a resource; empty: that of the
	// resource.
	URI string
	// Info is what the call carries about its caller. The place sets its RunID. Its
	// Listener gets what upstream servers report.
	Info *callinfo.Info
	// Claim lets the caller come back to the run, or proves that it may; nil: it cannot.
	Claim *Claim
	// Refuses has the failures of questions that the caller's client cannot answer, by
	// [graph.QuestionKind]. Start answers with them.
	Refuses map[string]*graph.Failure
	// Ask asks a person; nil: Do returns while the run waits for answers alone.
	Ask func(ctx context.Context, r *executor.Run, q executor.Question) (value.Value, error)
	// Begun is called once the run and its id are known, before anything happens in it. It
	// may be nil.
	Begun func(id string)
	// Hooks observe the run, beside those of the Program. Those of executions that another
	// process makes are NodeRetry and NodeDone alone, for records from an index on: From.
	Hooks []executor.Hooks
	From  int
	// Watched lets Run have its records as they come. Otherwise it may get them at the end.
	Watched bool
	// Slot is what the call holds. Start gives it back while the run waits for people and
	// at its end, or at once if another process drives the run. It may be nil.
	Slot Slot
	// Control changes the driver of this process, and returns the port that it uses; it
	// may be nil.
	Control func(*executor.Local, executor.Port) executor.Port
}

// Slot is the right of a call to be at work.
type Slot interface {
	// Release gives it back. It may be called again.
	Release()
	// Acquire waits until it is there again. The error is the cause with which ctx ended.
	Acquire(ctx context.Context) error
}

// leave gives the slot of the call back.
func (c *Call) leave() {
	if c.Slot != nil {
		c.Slot.Release()
	}
}

// Who is the caller of the call.
func (c *Call) Who() Who {
	w := Who{Caller: c.Info.OrNone().Caller}
	if c.Claim != nil {
		w.Check = c.Claim.Check
	}
	return w
}

// Attach makes a copy of a run that another process drives, for a call that goes on with
// it.
func (c *Call) Attach(at *State) error {
	g, err := c.Program.Graph(at.Tool)
	if err != nil {
		return err
	}
	c.Program.Prepare(c.Info, g, at.Args, at.Secrets)
	c.Run = executor.NewRun(g, at.Args, at.Seed)
	c.begun(at.ID)
	return nil
}

// Named gives a new run its id.
func (c *Call) Named(id string) {
	if c.Info != nil {
		c.Info.RunID = id
	}
	c.begun(id)
}

func (c *Call) begun(id string) {
	if c.Begun != nil {
		c.Begun(id)
	}
}

// Asked returns what a run of the call asks, as its caller may see it.
func (c *Call) Asked() (list []Question) {
	for _, q := range c.Run.Questions() {
		list = append(list, QuestionOf(c.Program.Shown(c.Info, q)))
	}
	return list
}

// observes reports whether somebody wants to know of the run before its end.
func (c *Call) observes() bool {
	return c.Watched || c.Run.Graph().Asks() || slices.ContainsFunc(c.Hooks, func(h executor.Hooks) bool {
		return h.NodeDone != nil || h.NodeRetry != nil
	})
}

// Elsewhere calls the hooks of a call whose run another process drives. Record is to be
// called for each record, and done with the failure of the run at its end; watched is true
// if somebody wants to know of the records before that. The error is that of a start hook.
func (c *Call) Elsewhere(ctx context.Context) (_ context.Context, record func(executor.Record), done func(error), watched bool, err error) {
	var undo []func(error)
	done = func(err error) {
		for _, f := range slices.Backward(undo) {
			f(err)
		}
	}
	hooks := append(c.Program.Hooks(c.Info, false), c.Hooks...)
	for _, h := range hooks {
		if h.RunStart != nil {
			if ctx, err = h.RunStart(ctx, c.Run); err != nil {
				return ctx, nil, done, false, err
			}
		}
		if h.RunDone != nil {
			at := ctx
			undo = append(undo, func(err error) { h.RunDone(at, c.Run, err) })
		}
	}
	record = func(rec executor.Record) {
		for _, h := range hooks {
			switch {
			case rec.Index < c.From:
			case rec.Event == executor.Retried && h.NodeRetry != nil:
				h.NodeRetry(ctx, c.Run, rec)
			case (rec.Event == executor.Done || rec.Event == executor.Cancelled) && h.NodeDone != nil:
				h.NodeDone(ctx, c.Run, rec)
			}
		}
	}
	return ctx, record, done, c.observes(), nil
}

// Claim lets a caller come back to a run.
type Claim struct {
	// Check is the digest of what the caller proves that it was told of the run.
	Check string
	// Created is kept for the caller: when it was told of the run.
	Created time.Time
	// Keep is how long what came of the run is kept for the caller, if the place does not
	// say that itself: after its end, or of a run of Start since then. That one is
	// cancelled if it is not over by then.
	Keep time.Duration
	// Blocks is kept for the caller: the result is a list of content blocks.
	Blocks bool
}

// Use says which answers the caller of a run gave to what it was asked; both are digests.
type Use struct {
	Asked string `json:"asked"`
	Given string `json:"given"`
}

// maxUses is how many uses are kept of a run, the latest ones.
const maxUses = 100

// Used returns the uses with one more, and whether that is, or was, the one of its
// questions.
func Used(all []Use, one Use) ([]Use, bool) {
	if i := slices.IndexFunc(all, func(u Use) bool { return u.Asked == one.Asked }); i >= 0 {
		return all, all[i].Given == one.Given
	}
	return append(all[max(0, len(all)-maxUses+1):], one), true
}

// Detail is how much a [State] has to say.
type Detail uint8

// What a State says. Less is cheaper.
const (
	// Brief is enough to know that there is the run.
	Brief Detail = iota
	// Status adds what it asks, and what came of it.
	Status
	// Whole adds its arguments and seed, and what it does now.
	Whole
)

// Phase is how far a run is.
type Phase string

// The phases of runs. The first two are those under way.
const (
	Running    Phase = "running"
	Waiting    Phase = "waiting" // for answers of people alone
	Completed  Phase = "completed"
	Failed     Phase = "failed"
	Canceled   Phase = "canceled"
	Terminated Phase = "terminated" // by the operator of the place
	TimedOut   Phase = "timed out"
)

// Over reports whether the run has ended.
func (p Phase) Over() bool { return p != Running && p != Waiting && p != "" }

// Summary is a run as lists have it.
type Summary struct {
	ID, Tool, Caller string
	// Version is the digest of the file that it began with; empty if it is not known.
	Version string
	// Parent is the id of the run that waits for this one; empty: none does.
	Parent       string
	Status       Phase
	Began, Ended time.Time // Ended is zero while it is under way
	// Bytes is how much the place keeps of it; 0 if that is not known.
	Bytes int64
}

// State is a run at one moment.
type State struct {
	Summary
	// Created and Blocks are those of its Claim. Updated is when its status last
	// changed. Kept is how long it is kept from Created; 0 if that is not known (yet).
	Created, Updated time.Time
	Kept             time.Duration
	Blocks           bool
	// Ending reports that it is being cancelled, or was: what came of it then does not
	// matter to its caller.
	Ending bool
	// Problem is why it does not go on; empty: it does.
	Problem string
	// Result and Err are what came of it, once it is over.
	Result value.Value `json:",omitzero"`
	Err    error
	// Args and Seed are what it began with, and Count is the index of its next record.
	Args  value.Value `json:",omitzero"`
	Seed  uint64
	Count int
	// Secrets are values among its arguments that must not be shown, as far as they are
	// known: those of the tool, and of calls that are over. Records have them.
	Secrets []string
	// Questions are open, the oldest first. Active are the executions under way, the
	// first 100 of them. Calls are those of upstream tools under way, Children the runs
	// that it waits for.
	Questions []Question
	Active    []executor.Activity
	Calls     []Upstream
	Children  []Child
}

// Failure returns why the run failed, as graphs see it; nil if it did not.
func (s *State) Failure() *graph.Failure {
	if s.Err == nil {
		return nil
	}
	return executor.FailureOf(s.Err)
}

// RunError is the failure of a run that another process drove.
type RunError struct {
	Failure *graph.Failure
	Text    string
}

// Error returns the text as that process had it.
func (e *RunError) Error() string { return e.Text }

// Unwrap returns the failure.
func (e *RunError) Unwrap() error { return e.Failure }

// Question is what a run asks, as its caller may see it.
type Question struct {
	// ID names the question in its run, Path is where its node stands, for people, and
	// Node is the id of its node.
	ID, Path, Node string
	// Method is the request that the question is, such as elicitation/create, and
	// Params are its params.
	Method string
	Params value.Value `json:",omitzero"`
	// Approval is true for what is asked before a call.
	Approval bool
	// Try counts the times that the node has asked this before.
	Try int
	// Until is when the question fails with a timeout; zero: never.
	Until time.Time
}

// QuestionOf returns a question of a run in this process.
func QuestionOf(q executor.Question) Question {
	return Question{ID: q.ID, Path: q.Path, Node: q.Node.ID, Method: q.Method, Params: q.Value, Approval: q.Node.Approval != nil, Try: q.Try, Until: q.Until}
}

// Upstream is a call of an upstream tool under way.
type Upstream struct {
	// ID names the execution and attempt: that of an [executor.Activity] is
	// FRAME:EXECUTION#TRY, with .N behind it after the loss of N workers. Worker is who
	// makes the call; empty: nobody yet.
	ID, Worker string
	// Scheduled is when the call was given to the workers, Began when one of them took
	// it; zero: none has.
	Scheduled, Began time.Time
	// Server is set if only workers of that server make the call. Unserved is true if
	// none has asked for work lately.
	Server   string
	Unserved bool
	// Progress has the params of the latest notifications/progress; undefined: none.
	Progress value.Value `json:",omitzero"`
}

// Child is a run that another run waits for.
type Child struct {
	// ID is that of the run, Path is where the node stands in the other one.
	ID, Tool, Path string
}

// Answer answers a question.
type Answer struct {
	// Question is its ID.
	Question string
	// Value is the result of the request, Err why there is none.
	Value value.Value
	Err   error
}

// Event is something that happened in a run. One of the fields is set.
type Event struct {
	// Record is a record of the run; see [executor.RecordFrom].
	Record value.Value
	// Asked is a question that is new.
	Asked *Question
	// Over is the run after its end.
	Over *State
}

// Filter chooses runs of a list. Zero fields choose all.
type Filter struct {
	Tool   string
	Status Phase
	// Running leaves those out that are over.
	Running bool
	// Before is the id of a run: the list has those that come behind it.
	Before string
	// Limit is about how many runs are wanted, so that no more are read at a time; 0: 50.
	Limit int
}

// Fits reports whether a run is one of those that the filter chooses.
func (f Filter) Fits(s *Summary) bool {
	return (f.Tool == "" || f.Tool == s.Tool) && (f.Status == "" || f.Status == s.Status) && (!f.Running || !s.Status.Over())
}

// ListSome returns the first runs of a list, n at most, and reports whether there are
// others behind them.
func ListSome(ctx context.Context, p View, w Who, f Filter, n int) (list []Summary, more bool, err error) {
	f.Limit = n + 1
	for s, err := range p.List(ctx, w, f) {
		if err != nil {
			return nil, false, err
		}
		if len(list) == n {
			return list, true, nil
		}
		list = append(list, s)
	}
	return list, false, nil
}
