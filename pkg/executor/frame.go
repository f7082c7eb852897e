package executor

import (
	"log/slog"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// frame is one walk through a graph: that of the tool, of a body, or of a
// called tool. What it has is guarded by the mutex of its run but for env, in
// and local, which belong to the goroutine that has the frame's task.
type frame struct {
	run    *Run
	graph  *graph.Graph
	opener *opened // nil for the walk of the tool
	past   history

	node   *graph.Node // where it stands; nil where it has ended
	slot   int32       // which body of the opener it is
	live   int32       // its place among the live bodies of the opener
	task   uint32      // the generation of the task that is valid
	try    int32       // attempts of the execution under way, 0 before the first
	depth  int32       // of called tools; that of the client's call is 1
	state  state
	phase  phase
	caught bool // a rule of the graph itself was taken
	// approved reports whether a person has approved the call of the tool.
	approved bool
	// start is when the execution under way began; extra is what is known of its
	// calls so far, or nil if it has made none.
	start     instant
	extra     *extra
	attempts  *attempts // of the execution under way, nil if none has failed
	opened    *opened   // by the execution under way
	pending   error     // the failure with which that goes on
	cancelled error     // why the walk is being ended
	last      *entry    // what Release has to follow

	env    expr.Env
	in     graph.Input // in.Args is what the walk was given
	random *rand.Rand
	local  local
}

// state is what a frame waits for.
type state uint8

const (
	ready    state = iota // for somebody who takes its task
	held                  // for the one who has taken it and evaluates
	calling               // for the one who has taken it and calls a tool
	settled               // for the one who has settled its task and releases it
	delayed               // for the next attempt
	sleeping              // for a time
	joining               // for its bodies, or the called tool
	detached              // for a run of its own
	asking                // for a person
	ended
)

// phase is the kind of task of a frame.
type phase uint8

const (
	begin    phase = iota // to begin an attempt
	conclude              // to go on with what was waited for
	approved              // to call the tool that a person has approved
)

func (f *frame) init(r *Run, g *graph.Graph, input value.Value, opener *opened, slot int) {
	f.run, f.graph, f.opener, f.slot, f.depth, f.node = r, g, opener, int32(slot), 1, g.Entry
	f.in.Args, f.in.Env, f.env.History = input, &f.env, f
	f.env.Now, f.env.Random = f.now, f.float
	if opener == nil {
		return
	}
	from := opener.frame
	f.depth = from.depth
	if opener.do == graph.Invoke || opener.do == graph.Detach {
		f.depth++
	} else {
		f.env.Vars = opener.vars(from.env.Vars, slot)
	}
}

// extend returns the extra of the execution under way, to write.
func (f *frame) extend() *extra {
	if f.extra == nil {
		f.extra = &extra{}
	}
	return f.extra
}

// called counts upstream calls of the execution under way.
func (f *frame) called(attempts int, fromCache bool) {
	if attempts != 0 || fromCache {
		x := f.extend()
		x.attempts += attempts
		x.fromCache = x.fromCache || fromCache
	}
}

// now is the time that expressions see: the time that the driver set last.
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
	return f.opener.bodyID(int(f.slot))
}

// path is the id for people; see Record.Path.
func (f *frame) path() string {
	if f.opener == nil {
		return ""
	}
	path := join(f.opener.frame.path(), f.opener.node.ID)
	switch spread := f.opener.node.Spread; {
	case f.opener.do == graph.Invoke, f.opener.do == graph.Detach:
		return path + ">"
	case spread.Each:
		return path + "[" + strconv.Itoa(int(f.slot)) + "]"
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
	return value.FromSource(&document{f, int32(len(f.past.executions)), f.run.replacements.Load()})
}

// Previous implements expr.History.
func (f *frame) Previous(n int) (value.Value, bool) {
	f.run.mu.Lock()
	defer f.run.mu.Unlock()
	return f.previous(n)
}

// Outputs implements expr.History.
func (f *frame) Outputs(id string) []value.Value {
	f.run.mu.Lock()
	defer f.run.mu.Unlock()
	return f.outputs(id)
}

func (f *frame) result() value.Value {
	if n := len(f.past.executions); n > 0 {
		return resultOf(f.past.executions[n-1].output)
	}
	return value.NullValue
}

// failed describes why a walk was ended at its node. Errors that protect the
// process cannot be handled by rules.
func (f *frame) failed(err error) error {
	if interrupted(err) {
		return err
	}
	return newNodeError(f, err)
}

func (f *frame) nodePath() string {
	if f.opener == nil {
		return f.node.ID
	}
	return join(f.path(), f.node.ID)
}

// log writes what an expression logs, where a driver has a log.
func (f *frame) log(v value.Value) {
	f.logger().InfoContext(f.local.ctx, "log", "tool", f.run.graph.Name, "node", f.node.ID, "value", v.JSON())
}

// logger returns the log of the driver; one that drops everything without one.
func (f *frame) logger() *slog.Logger {
	f.run.mu.Lock()
	defer f.run.mu.Unlock()
	if d, ok := f.run.driver.(*driving); ok && d.Log != nil {
		return d.Log
	}
	return slog.New(slog.DiscardHandler)
}
