package runs

import (
	"errors"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// Run is one run of a [Store]. It is immutable and safe for concurrent use.
type Run struct {
	// ID names the run among those of its Store.
	ID string
	// Tool is the tool that was called.
	Tool string
	// Began and Ended are when the call was; Ended is zero while it is under way.
	Began, Ended time.Time
	// Running is true if the run was under way when the Store was asked for it.
	Running bool
	// Err is why the call failed, or empty if it did not.
	Err string
	// Failure is the same error to be taken apart by [executor.FailureOf], without values
	// and secrets; nil if the call did not fail.
	Failure error
	// Executions is how many executions of nodes are over.
	Executions int
	// Truncated is true where the run was too large to be kept: its arguments
	// and its history are gone.
	Truncated bool

	caller  string
	check   string // of the Claim that its caller has
	version string
	graph   *graph.Graph
	seed    uint64
	args    span
	steps   []step
	text    string
	long    []longString
	bytes   int64 // that all of this takes

	live   *Live // of a run under way, which is packed to be read
	active []executor.Activity
}

// fail notes why the call failed.
func (r *Run) fail(c Entry, err error) {
	if err != nil {
		kept := keepError(err, c.redactor())
		r.Err, r.Failure = kept.text, kept
		r.bytes += kept.size()
	}
}

// truncate takes the values out of a run.
func (r *Run) truncate() {
	r.Truncated, r.args, r.steps, r.text, r.long = true, span{}, nil, "", nil
	r.bytes = int64(runBytes + len(r.caller))
	if kept, ok := r.Failure.(*keptError); ok {
		r.bytes += kept.size()
	}
}

// Replay returns the run as it was at its end, or of one under way as it is now,
// secrets aside: to read its history and to travel through it with
// [executor.Run.ContextAt]. Errors are texts now. A run that is truncated has no
// history. It counts nothing on an account of memory; see [Run.JSON].
func (r *Run) Replay() (*executor.Run, error) {
	r, err := r.read(nil)
	if err != nil {
		return nil, err
	}
	return r.replay()
}

// read returns the run to be read: of one under way, as it is now.
func (r *Run) read(held *memory.Account) (*Run, error) {
	if r.live == nil || r.active != nil {
		return r, nil
	}
	return r.live.pack(held)
}

func (r *Run) replay() (*executor.Run, error) {
	args, err := r.value(r.args)
	if err != nil {
		return nil, err
	}
	var bad error
	run, err := executor.Replay(r.graph, args, r.seed, func(yield func(executor.Record) bool) {
		for i := range r.steps {
			rec, err := r.record(&r.steps[i])
			if bad = err; bad != nil || !yield(rec) {
				return
			}
		}
	})
	return run, errors.Join(err, bad)
}

// size returns about how many bytes of JSON the values of the run are.
func (r *Run) size() int64 {
	n := int64(r.sizeOf(r.args)) + stepBytes*int64(len(r.steps))
	for _, st := range r.steps {
		n += int64(r.sizeOf(st.arguments)+r.sizeOf(st.output)+r.sizeOf(st.reply)) + 2*stepBytes
		if st.more != nil {
			n += int64(r.sizeOf(st.more.results))
		}
	}
	return n
}
