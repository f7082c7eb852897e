// Package parked keeps runs that wait for answers of people between two calls of
// a client that has no session (MCP 2026-07-28, Multi Round-Trip Requests).
//
// The client gets a state, and goes on with the run by calling again with it. A
// state is good for one call: it names a run of this process, is signed, ends
// with the time of the questions, and is bound to the caller, the tool, its
// arguments and the questions.
package parked

import (
	"container/list"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Bounds of a Store.
const (
	MaxRuns      = 1000 // that are parked
	MaxPerCaller = 100  // that are parked for one caller
	// RepeatFor is how long a call that was answered can be repeated with the same
	// answers: the result is the same, and nothing is done again.
	RepeatFor = time.Minute
	// maxResults is how many results are kept for that. Of more, the oldest of the
	// caller that has the most is forgotten.
	maxResults = 1000
)

// ErrState refuses a state. It does not say why: who tries states learns nothing.
var ErrState = errors.New("requestState is unknown, expired, already used or of another call; call the tool again without it")

// Run is a run that is parked.
type Run struct {
	*executor.Run
	// Caller is the authenticated caller; empty where callers are not told apart.
	Caller string
	// Tool is the tool that was called.
	Tool string
	// Requests are the open questions as the client gets them; see
	// [github.com/mcpgraph/mcpgraph/pkg/server.InputRequiredError].
	Requests value.Value
	// Expires is when nobody can answer any more.
	Expires time.Time
	// Call is what goes on with the run; it belongs to who parked it.
	Call any
	// Expired is called once if that comes, or the Store is closed, first. It may
	// be nil.
	Expired func()
}

// Result is the answer to a call.
type Result struct {
	Value value.Value
	Err   error
}

// Store keeps parked runs. It is safe for concurrent use.
type Store struct {
	key    [32]byte
	budget *memory.Budget // may be nil

	mu        sync.Mutex
	closed    bool
	entries   map[id]*entry
	parked    int
	perCaller map[string]int // of those that are parked
	results   list.List      // of *entry, those that were answered, the oldest first
	resultsOf map[string]int // how many of them each caller has
}

type id [16]byte

// entry is a state that was given out.
type entry struct {
	Run
	id      id
	mac     []byte
	args    value.Value     // of the call
	account *memory.Account // of what it holds
	timer   *time.Timer

	// Set once the state was used.
	used      bool
	responses value.Value
	done      chan struct{} // closed once result is there
	result    Result
	kept      *list.Element // of Store.results
}

// New returns an empty Store. What it keeps draws on budget, which may be nil.
func New(budget *memory.Budget) *Store {
	s := &Store{budget: budget, entries: map[id]*entry{}, perCaller: map[string]int{}, resultsOf: map[string]int{}}
	_, _ = rand.Read(s.key[:])
	return s
}

// Add parks a run and returns the state that the client needs to go on. If too
// many runs are parked, or there is no memory for one more, the error is a
// *graph.Failure named "busy"; Expired is then not called.
func (s *Store) Add(r Run) (state string, err error) {
	e := &entry{Run: r, args: r.Args(), account: s.budget.Account(r.Caller), done: make(chan struct{})}
	if err := e.account.Grow(sizeOf(r)); err != nil {
		e.account.Close()
		return "", busy(err.Error())
	}
	_, _ = rand.Read(e.id[:])
	e.mac = s.sign(e)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		err = busy("the server is shutting down")
	case s.parked >= MaxRuns:
		err = busy(fmt.Sprintf("%d runs already wait for answers", s.parked))
	case s.perCaller[r.Caller] >= MaxPerCaller:
		err = busy(fmt.Sprintf("%d runs of this caller already wait for answers", MaxPerCaller))
	}
	if err != nil {
		e.account.Close()
		return "", err
	}
	s.entries[e.id] = e
	s.parked++
	s.perCaller[r.Caller]++
	e.timer = time.AfterFunc(time.Until(r.Expires), func() { s.expire(e) })
	return e.state(), nil
}

func busy(why string) error {
	return &graph.Failure{Name: graph.FailBusy, Message: "the run cannot wait for an answer: " + why}
}

const (
	// runBytes is roughly what a parked run takes beside its values.
	runBytes = 16 << 10
	// resultBytes is roughly what a kept result takes beside its values.
	resultBytes = 1 << 10
	// maxSize is where the size of one value stops to be counted.
	maxSize = 1 << 40
)

// sizeOf returns roughly how many bytes a parked run holds.
func sizeOf(r Run) int64 {
	size := runBytes + r.Args().Footprint(maxSize) + r.Requests.Footprint(maxSize)
	for rec := range r.Records(0) {
		size += 256 + rec.Output.Footprint(maxSize) + rec.Reply.Footprint(maxSize)
		for _, v := range rec.Results {
			size += v.Footprint(maxSize)
		}
	}
	return size
}

// state returns what the client sends back: the id, the end and the signature.
func (e *entry) state() string {
	raw := append(append(make([]byte, 0, stateBytes), e.id[:]...), e.expiry()...)
	return stateEncoding.EncodeToString(append(raw, e.mac...))
}

const stateBytes = len(id{}) + 8 + sha256.Size

// stateEncoding is strict, so that a state has one form only.
var stateEncoding = base64.RawURLEncoding.Strict()

func (e *entry) expiry() []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(e.Expires.UnixNano()))
}

// sign returns the signature of a state.
func (s *Store) sign(e *entry) []byte {
	mac := hmac.New(sha256.New, s.key[:])
	mac.Write(e.id[:])
	mac.Write(e.expiry())
	for _, part := range []string{e.Caller, e.Tool, e.args.JSON(), e.Requests.JSON()} {
		mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		mac.Write([]byte(part))
	}
	return mac.Sum(nil)
}

// A Turn is a call that goes on with a parked run.
type Turn struct {
	Run
	// Responses are the answers of the client.
	Responses value.Value

	store *Store
	entry *entry
}

// Take hands out the run of a state, which can then not be used again. The caller
// must call Finish. If the same call was made before with the same answers, Take
// waits for its end and returns its Result instead. The error is ErrState, or that
// of done, which ends the waiting.
func (s *Store) Take(state, caller, tool string, args, responses value.Value, done <-chan struct{}) (*Turn, *Result, error) {
	raw, err := stateEncoding.DecodeString(state)
	// The decoder skips line breaks, so the length of the text counts too.
	if err != nil || len(raw) != stateBytes || len(state) != stateEncoding.EncodedLen(stateBytes) {
		return nil, nil, ErrState
	}
	s.mu.Lock()
	e := s.entries[id(raw[:len(id{})])]
	switch {
	case e == nil, !hmac.Equal(raw[len(id{}):], append(e.expiry(), e.mac...)),
		e.Caller != caller, e.Tool != tool, !value.Equal(e.args, args):
		s.mu.Unlock()
		return nil, nil, ErrState
	case e.used:
		same := value.Equal(e.responses, responses)
		s.mu.Unlock()
		if !same {
			return nil, nil, ErrState
		}
		select {
		case <-e.done:
			return nil, &e.result, nil
		case <-done:
			return nil, nil, ErrState
		}
	case !time.Now().Before(e.Expires):
		s.mu.Unlock()
		return nil, nil, ErrState
	}
	defer s.mu.Unlock()
	e.timer.Stop()
	e.used, e.responses = true, responses
	s.leave(e)
	return &Turn{Run: e.Run, Responses: responses, store: s, entry: e}, nil, nil
}

// leave takes a run off those that are parked; s.mu is held.
func (s *Store) leave(e *entry) {
	s.parked--
	if s.perCaller[e.Caller]--; s.perCaller[e.Caller] == 0 {
		delete(s.perCaller, e.Caller)
	}
}

// Finish says how the call was answered. The result is kept for [RepeatFor], if
// there is memory for it.
func (t *Turn) Finish(r Result) {
	s, e := t.store, t.entry
	r.Value = r.Value.Apart() // without what else the replies had that it is from
	s.mu.Lock()
	defer s.mu.Unlock()
	e.result = r
	close(e.done)
	e.account.Reset(0)
	e.Run = Run{Caller: e.Caller, Tool: e.Tool, Expires: e.Expires} // the run itself is not needed any more
	size := resultBytes + r.Value.Footprint(maxSize) + e.responses.Footprint(maxSize) + e.args.Footprint(maxSize)
	if s.closed || e.account.Grow(size) != nil {
		s.forget(e)
		return
	}
	e.kept = s.results.PushBack(e)
	s.resultsOf[e.Caller]++
	e.timer = time.AfterFunc(RepeatFor, func() { s.drop(e) })
	if s.results.Len() > maxResults {
		oldest := s.oldestOfMost()
		oldest.timer.Stop()
		s.forget(oldest)
	}
}

// oldestOfMost returns the oldest result of the caller that has the most; s.mu is held.
func (s *Store) oldestOfMost() *entry {
	caller, most := "", 0
	for name, n := range s.resultsOf {
		if n > most {
			caller, most = name, n
		}
	}
	for at := s.results.Front(); ; at = at.Next() {
		if e := at.Value.(*entry); e.Caller == caller {
			return e
		}
	}
}

// forget removes an entry; s.mu is held.
func (s *Store) forget(e *entry) {
	delete(s.entries, e.id)
	if e.kept != nil {
		s.results.Remove(e.kept)
		e.kept = nil
		if s.resultsOf[e.Caller]--; s.resultsOf[e.Caller] == 0 {
			delete(s.resultsOf, e.Caller)
		}
	}
	e.account.Close()
}

// drop forgets a result.
func (s *Store) drop(e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entries[e.id] == e {
		s.forget(e)
	}
}

// expire ends a run that nobody answered in time.
func (s *Store) expire(e *entry) {
	s.mu.Lock()
	over := s.entries[e.id] == e && !e.used
	if over {
		s.leave(e)
		s.forget(e)
	}
	s.mu.Unlock()
	if over && e.Expired != nil {
		e.Expired()
	}
}

// Abandon ends a run that is parked, as if its time were over.
func (s *Store) Abandon(r *executor.Run) {
	s.mu.Lock()
	var found *entry
	for _, e := range s.entries {
		if e.Run.Run == r && !e.used {
			found = e
		}
	}
	s.mu.Unlock()
	if found != nil {
		found.timer.Stop()
		s.expire(found)
	}
}

// Len returns how many runs are parked.
func (s *Store) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.parked
}

// Close ends all runs that are parked; none can be parked any more.
func (s *Store) Close() {
	s.mu.Lock()
	s.closed = true
	var waiting []*entry
	for _, e := range s.entries {
		if e.timer != nil {
			e.timer.Stop()
		}
		switch {
		case !e.used:
			waiting = append(waiting, e)
		case e.kept != nil:
			s.forget(e)
		}
	}
	s.mu.Unlock()
	for _, e := range waiting {
		s.expire(e)
	}
}
