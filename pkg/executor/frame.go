package executor

import (
	"context"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// frame is one walk through a graph: that of the tool, of a body, or of a
// called tool. What it has is guarded by the mutex of its run but for env, in
// and local, which belong to whoever has the frame's task.
type frame struct {
	run    *Run
	graph  *graph.Graph
	opener *opened // nil for the walk of the tool
	slot   int     // which body of the opener it is
	depth  int     // of called tools; that of the client's call is 1
	input  value.Value
	past   history

	node      *graph.Node // where it stands; nil where it has ended
	state     state
	phase     phase
	caught    bool // a rule of the graph itself was taken
	fromCache bool
	task      uint32 // the generation of the task that is valid
	try       int    // attempts of the execution under way, 0 before the first
	tries     []int  // by rule of retry, how often it was applied
	// start is when the execution under way began; attempts, fromCache and sent
	// are what is known of its calls so far.
	start     instant
	attempts  int
	sent      value.Value
	opened    *opened // by the execution under way
	pending   error   // the failure with which that goes on
	cancelled error   // why the walk is being ended
	last      moved   // what Release has to do
	live      int     // its place among the live bodies of the opener

	env    expr.Env
	in     graph.Input
	random *rand.Rand
	local  local

	// What a Local driver guards: what ends the attempt under way alone, nil where
	// nothing can, and the context of a question.
	interrupt     context.CancelCauseFunc
	interruptTask uint32 // the generation of the task that it is of
	asking        context.Context
}

// state says what a frame waits for.
type state uint8

const (
	ready    state = iota // for somebody who takes its task
	held                  // for the one who has taken it and evaluates
	calling               // for the one who has taken it and calls a tool
	settled               // for the one who has settled its task and releases it
	delayed               // for the next attempt
	sleeping              // for a time
	joining               // for its bodies, or the called tool
	asking                // for a person
	ended
)

// phase says what the task of a frame is.
type phase uint8

const (
	begin    phase = iota // to begin an attempt
	conclude              // to go on with what was waited for
)

// moved is what an execution decided, until it is released.
type moved struct {
	event Event
	edge  int32
	err   error
	until instant
}

func (f *frame) init(r *Run, g *graph.Graph, input value.Value, opener *opened, slot int) {
	f.run, f.graph, f.opener, f.slot, f.depth, f.input, f.node = r, g, opener, slot, 1, input, g.Entry
	f.past.ids = g
	if opener != nil {
		from := opener.frame
		f.depth = from.depth
		if opener.do == graph.Invoke {
			f.depth++
		} else {
			f.past.outer, f.past.outerLen, f.past.input = &from.past, len(from.past.executions), input
			f.env.Vars = opener.vars(from.env.Vars, slot)
			f.past.hasInput = true
		}
	}
	f.env.History, f.env.Now, f.env.Random = f, f.now, f.float
}

// now is the time that expressions see: what the run was told last.
func (f *frame) now() time.Time { return f.run.time().time() }

// float returns the next number of the attempt under way. What it is depends on
// the seed of the run, the execution and the attempt, not on what runs beside.
func (f *frame) float() float64 {
	if f.random == nil {
		f.random = f.source(uint64(f.phase))
	}
	return f.random.Float64()
}

func (f *frame) source(salt uint64) *rand.Rand {
	h := f.run.seed
	mix := func(n uint64) { h = (h ^ n) * 0x9e3779b97f4a7c15; h ^= h >> 29 }
	for g := f; ; g = g.opener.frame {
		mix(uint64(len(g.past.executions)))
		mix(uint64(g.slot))
		if g.opener == nil {
			break
		}
	}
	mix(uint64(f.try))
	mix(salt)
	return rand.New(rand.NewPCG(f.run.seed, h))
}

// id names the frame in its run; see Record.Frame.
func (f *frame) id() string {
	if f.opener == nil {
		return ""
	}
	id := f.opener.frame.id()
	if id != "" {
		id += "/"
	}
	return id + strconv.Itoa(f.opener.execution) + "." + strconv.Itoa(f.slot)
}

// path is the id for people; see Record.Path.
func (f *frame) path() string {
	if f.opener == nil {
		return ""
	}
	path := join(f.opener.frame.path(), f.opener.node.ID)
	switch spread := f.opener.node.Spread; {
	case f.opener.do == graph.Invoke:
		return path + ">"
	case spread.Each:
		return path + "[" + strconv.Itoa(f.slot) + "]"
	default:
		return path + "." + spread.Names[f.slot]
	}
}

// join puts a node's id behind the path of its frame.
func join(path, id string) string {
	if path == "" || path[len(path)-1] == '>' {
		return path + id
	}
	return path + "." + id
}

// Document implements expr.History.
func (f *frame) Document() value.Value {
	return value.FromSource(&document{f.run, &f.past, len(f.past.executions)})
}

// Previous implements expr.History.
func (f *frame) Previous(n int) (value.Value, bool) {
	f.run.mu.RLock()
	defer f.run.mu.RUnlock()
	return f.past.previous(n)
}

// Outputs implements expr.History.
func (f *frame) Outputs(id string) []value.Value {
	f.run.mu.RLock()
	defer f.run.mu.RUnlock()
	return f.past.outputs(id)
}
