package jsonata

import (
	"context"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// checkEvery is the number of steps between two looks at the context.
const checkEvery = 2048

// evaluator is the state of one evaluation. Nothing of it is shared.
type evaluator struct {
	ctx    context.Context
	done   <-chan struct{}
	opts   Options
	limits Limits
	root   value.Value

	levels int   // of depth that are left
	fuel   int   // steps until the next look at the context
	steps  int64 // steps left after that

	stack  []value.Value // arguments of the calls in progress
	places []int32       // of items that are sorted or grouped
	frames []*frame      // frames to be used again

	// A call in tail position is left here for the loop that runs the
	// function around it.
	tail      *closure
	tailFrame *frame
	// context is what stood for $ where the function that runs was called. A
	// call in its tail position is taken to stand there.
	context value.Value

	// Where the call of a function stands that evaluates source text.
	site site

	metered int64 // bytes since the heap was last looked at
	made    int64 // bytes before that
	look    int64 // bytes until the heap is looked at again
	heap    int64 // bytes of heap that are not this evaluation's, once known
	built   int   // arrays and objects made by constructors

	idle     *matches  // a walk through matches to be used again
	known    *pictures // of the expression
	pictures pictures

	clock    time.Time
	clockSet bool
}

// site is the place of a call: what $eval sees.
type site struct {
	scope *scope
	frame *frame
	input value.Value
}

// frame holds the variables of one function call, or of one turn of a block
// that functions are made in.
type frame struct {
	up    *frame
	cells []cell
	extra map[string]value.Value // bound by source given to $eval
}

// cell is one variable; not set means that an outer one of its name is seen.
type cell struct {
	v   value.Value
	set bool
}

// evaluators are those that have ended, kept for their memory.
var evaluators = sync.Pool{New: func() any { return new(evaluator) }}

func newEvaluator(ctx context.Context, opts *Options) *evaluator {
	ev := evaluators.Get().(*evaluator)
	ev.ctx, ev.done = ctx, ctx.Done()
	if opts != nil {
		ev.opts = *opts
	}
	ev.limits = ev.opts.Limits.withDefaults()
	ev.steps, ev.levels = ev.limits.Steps, ev.limits.Depth
	ev.look = min(ev.limits.Memory/4, lookEvery)
	if ev.opts.Memory != nil {
		ev.look = chunk
	}
	ev.refuel()
	return ev
}

// free releases the evaluator after an evaluation that succeeded: its stack and
// its frames are empty. One that failed is left to the collector.
func (ev *evaluator) free() {
	stack, places, frames := ev.stack[:0], ev.places[:0], ev.frames
	if cap(stack) > 2*keptStack {
		stack = nil
	}
	if cap(places) > 2*keptNumbers {
		places = nil
	}
	if len(frames) > keptFrames {
		frames = nil
	}
	*ev = evaluator{stack: stack, places: places, frames: frames, idle: ev.idle}
	evaluators.Put(ev)
}

func (ev *evaluator) refuel() {
	ev.fuel = int(min(ev.steps, checkEvery))
	ev.steps -= int64(ev.fuel)
}

// enter counts one step and one level of depth; leave takes the level back.
// After an error the levels do not matter any more.
func (ev *evaluator) enter(off int) *Error {
	ev.levels--
	ev.fuel--
	if ev.levels|ev.fuel < 0 {
		return ev.pause(off)
	}
	return nil
}

func (ev *evaluator) leave() { ev.levels++ }

// spend counts n steps of work that needs no depth.
func (ev *evaluator) spend(n int) *Error {
	ev.fuel -= n
	if ev.fuel < 0 {
		return ev.pause(-1)
	}
	return nil
}

// pause looks at what bounds the evaluation.
func (ev *evaluator) pause(off int) *Error {
	if ev.levels < 0 {
		return stopped(off, "it is nested too deeply, which endless recursion can cause")
	}
	if ev.fuel >= 0 {
		return nil
	}
	ev.steps += int64(ev.fuel)
	ev.fuel = 0
	if ev.steps <= 0 {
		return stopped(off, "it took too many steps")
	}
	ev.refuel()
	if ev.metered > ev.look {
		if err := ev.weigh(0); err != nil {
			return err
		}
	}
	if ev.opts.Processor != nil {
		ev.opts.Processor.Yield(ev.ctx)
	}
	return ev.cancelled(off)
}

// cancelled reports that the context of the evaluation has ended.
func (ev *evaluator) cancelled(off int) *Error {
	if ev.done == nil {
		return nil
	}
	select {
	case <-ev.done:
		cause := context.Cause(ev.ctx)
		err := stopped(off, "its time is over")
		if cause != context.DeadlineExceeded {
			err = stopped(off, cause.Error())
		}
		err.Err = cause
		return err
	default:
		return nil
	}
}

func stopped(off int, why string) *Error {
	return newError("U1001", off, details{text: why})
}

// now returns the time of the evaluation, the same however often it is asked.
func (ev *evaluator) now() time.Time {
	if !ev.clockSet {
		ev.clockSet = true
		if ev.opts.Now != nil {
			ev.clock = ev.opts.Now()
		} else {
			ev.clock = time.Now()
		}
	}
	return ev.clock
}

// newFrame returns a frame with unset cells.
func (ev *evaluator) newFrame(info *frameInfo, up *frame) *frame {
	if n := len(ev.frames); n > 0 && info.pooled {
		if f := ev.frames[n-1]; cap(f.cells) >= info.size {
			ev.frames = ev.frames[:n-1]
			f.cells = f.cells[:info.size]
			f.up = up
			return f
		}
	}
	return ev.makeFrame(info, up)
}

// smallFrame is a frame with its cells.
type smallFrame struct {
	frame
	room [4]cell
}

func (ev *evaluator) makeFrame(info *frameInfo, up *frame) *frame {
	ev.metered += int64(64 + variableBytes*info.size)
	if ev.metered > ev.look {
		// The next step looks at it.
		ev.steps += int64(ev.fuel)
		ev.fuel = 0
	}
	if info.size <= len(smallFrame{}.room) {
		f := &smallFrame{frame: frame{up: up}}
		f.cells = f.room[:info.size]
		return &f.frame
	}
	return &frame{up: up, cells: make([]cell, info.size)}
}

// release frees a frame that nothing refers to any more.
func (ev *evaluator) release(info *frameInfo, f *frame) {
	if info.pooled {
		clear(f.cells)
		f.up = nil
		ev.frames = append(ev.frames, f)
	}
}
