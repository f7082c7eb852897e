package runner

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// maxSteps bounds the executions of a run that its walk keeps.
const maxSteps = 100_000

// walk is the way of a run through its graph and what its nodes yielded.
type walk struct {
	set *graph.Set

	mu       sync.Mutex
	frames   map[string]*frame // by executor.Record.Frame
	steps    int
	cut      bool // there were more than maxSteps
	covered  covered
	outputs  map[string]value.Value // latest ones by node of the tool's own walk
	inner    map[string]value.Value // of bodies and called tools
	attempts map[string]int
	ids      []string // of attempts, in the order of coming
}

// frame is the walk of the tool, of a body or of a called tool.
type frame struct{ steps []*step }

// step is one execution of a node.
type step struct {
	node   *graph.Node
	bodies map[int]*frame
	via    string // where its edge stands in the node
	failed string // the name of its failure; empty: it did not fail
	ended  bool
}

func newWalk(set *graph.Set) *walk {
	return &walk{
		set: set, frames: map[string]*frame{"": {}}, covered: newCovered(),
		outputs: map[string]value.Value{}, inner: map[string]value.Value{}, attempts: map[string]int{},
	}
}

func (w *walk) hooks() executor.Hooks {
	return executor.Hooks{
		NodeStart: func(ctx context.Context, _ *executor.Run, t executor.Task) (context.Context, error) {
			w.start(t)
			return ctx, nil
		},
		NodeRetry: func(_ context.Context, _ *executor.Run, r executor.Record) { w.retry(&r) },
		NodeDone:  func(_ context.Context, _ *executor.Run, r executor.Record) { w.done(&r) },
	}
}

// start notes that an execution began.
func (w *walk) start(t executor.Task) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := t.Node()
	w.covered.nodes[n] = true
	if w.steps >= maxSteps {
		w.cut = true
		return
	}
	w.steps++
	id := t.ID()
	at := w.frame(id[:strings.LastIndexByte(id, ':')])
	if at == nil {
		return
	}
	for len(at.steps) <= t.Execution() {
		at.steps = append(at.steps, nil)
	}
	at.steps[t.Execution()] = &step{node: n}
}

// frame returns a frame by its name, such as "4.0/2.17", or nil if what is around it is
// not kept.
func (w *walk) frame(name string) *frame {
	if f := w.frames[name]; f != nil {
		return f
	}
	slash := strings.LastIndexByte(name, '/')
	execution, body, ok := strings.Cut(name[slash+1:], ".")
	i, err := strconv.Atoi(execution)
	k, err2 := strconv.Atoi(body)
	if !ok || err != nil || err2 != nil {
		return nil
	}
	around := w.frame(name[:max(slash, 0)])
	if around == nil || i >= len(around.steps) || around.steps[i] == nil {
		return nil
	}
	f := &frame{}
	if around.steps[i].bodies == nil {
		around.steps[i].bodies = map[int]*frame{}
	}
	around.steps[i].bodies[k] = f
	w.frames[name] = f
	return f
}

// done notes how an execution ended.
func (w *walk) done(r *executor.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	tries := r.Try
	if r.Server != "" {
		tries = r.Attempts
	}
	if _, known := w.attempts[r.Node]; !known {
		w.ids = append(w.ids, r.Node)
	}
	w.attempts[r.Node] += tries
	if r.Event == executor.Done && r.Err == nil {
		latest := w.inner
		if r.Frame == "" {
			latest = w.outputs
		}
		latest[r.Node] = r.Output
	}
	at := w.frames[r.Frame]
	if at == nil || r.Execution >= len(at.steps) || at.steps[r.Execution] == nil {
		return
	}
	s := at.steps[r.Execution]
	s.ended, s.via = true, r.Via
	if r.Edge >= 0 {
		w.covered.edges[edge{s.node, r.Edge}] = true
	}
	if r.Err != nil {
		s.failed = executor.FailureOf(r.Err).Name
	}
}

// retry forgets the bodies of an attempt that failed: the next one has others.
func (w *walk) retry(r *executor.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.frames[r.Frame]
	if at == nil || r.Execution >= len(at.steps) || at.steps[r.Execution] == nil || at.steps[r.Execution].bodies == nil {
		return
	}
	at.steps[r.Execution].bodies = nil
	prefix := strconv.Itoa(r.Execution) + "."
	if r.Frame != "" {
		prefix = r.Frame + "/" + prefix
	}
	for name := range w.frames {
		if strings.HasPrefix(name, prefix) {
			delete(w.frames, name)
		}
	}
}

// path returns the walk as tests expect it.
func (w *walk) path() value.Value { return w.frames[""].path() }

func (f *frame) path() value.Value {
	list := make([]value.Value, 0, len(f.steps))
	for _, s := range f.steps {
		if s != nil {
			list = append(list, s.value())
		}
	}
	return value.FromArray(list)
}

func (s *step) value() value.Value {
	id := value.FromString(s.node.ID)
	switch {
	case s.bodies == nil:
		return id
	case s.node.Callee != nil:
		return value.ObjectOf(s.node.ID, value.ObjectOf(s.node.Callee.Name, s.bodies[0].path()))
	case s.node.Spread != nil && !s.node.Spread.Each:
		b := value.NewBuilder(len(s.bodies))
		for i, name := range s.node.Spread.Names {
			if body := s.bodies[i]; body != nil {
				b.Set(name, body.path())
			}
		}
		return value.ObjectOf(s.node.ID, b.Value())
	}
	last := 0
	for i := range s.bodies {
		last = max(last, i)
	}
	items := make([]value.Value, last+1)
	for i := range items {
		items[i] = value.FromArray(nil)
		if body := s.bodies[i]; body != nil {
			items[i] = body.path()
		}
	}
	return value.ObjectOf(s.node.ID, value.FromArray(items))
}

// outputsValue returns the latest outputs by node; those of the tool's own walk win.
func (w *walk) outputsValue() value.Value {
	b := value.NewBuilder(len(w.ids))
	for _, id := range w.ids {
		v, ok := w.outputs[id]
		if !ok {
			v, ok = w.inner[id]
		}
		if ok && !v.IsUndefined() {
			b.Set(id, v)
		}
	}
	return b.Value()
}

func (w *walk) attemptsValue() value.Value {
	b := value.NewBuilder(len(w.ids))
	for _, id := range w.ids {
		b.Set(id, value.FromInt(int64(w.attempts[id])))
	}
	return b.Value()
}

// maxBodies is how many bodies of a node are shown; of more, only those that failed.
const maxBodies = 5

// maxLines bounds the lines of a walk that are shown.
const maxLines = 60

// lines returns the walk for people: a line for each execution, the last ones if there
// are too many.
func (w *walk) lines() []string {
	var all []string
	skipped := 0
	var add func(f *frame, indent string)
	add = func(f *frame, indent string) {
		for _, s := range f.steps {
			if s == nil {
				continue
			}
			if len(all) >= 2*maxLines {
				skipped += len(all) - maxLines
				all = slices.Delete(all, 0, len(all)-maxLines)
			}
			all = append(all, indent+s.line())
			shown := slices.Sorted(maps.Keys(s.bodies))
			if s.node.Callee == nil && len(shown) > maxBodies {
				all = append(all, fmt.Sprintf("%s  [%d bodies]", indent, len(shown)))
				shown = slices.DeleteFunc(shown, func(i int) bool { return s.bodies[i].fine() })
				shown = shown[:min(len(shown), maxBodies)]
			}
			for _, i := range shown {
				title := fmt.Sprintf("%s  [%d]", indent, i)
				if spread := s.node.Spread; s.node.Callee != nil {
					title = indent + "  " + s.node.Callee.Name + ">"
				} else if spread != nil && !spread.Each {
					title = indent + "  " + spread.Names[i]
				}
				all = append(all, title)
				add(s.bodies[i], indent+"    ")
			}
		}
	}
	add(w.frames[""], "")
	if over := len(all) - maxLines; over > 0 {
		skipped += over
		all = all[over:]
	}
	if skipped > 0 {
		all = slices.Insert(all, 0, fmt.Sprintf("… %d lines before", skipped))
	}
	return all
}

// fine reports whether all nodes of the walk ended well.
func (f *frame) fine() bool {
	return !slices.ContainsFunc(f.steps, func(s *step) bool { return s != nil && (s.failed != "" || !s.ended) })
}

func (s *step) line() string {
	line := s.node.ID
	if s.node.Server != "" {
		line += " (" + s.node.Server + "." + s.node.Tool + ")"
	}
	if s.failed != "" {
		line += " failed: " + s.failed
	} else if !s.ended {
		line += " did not end"
	}
	if s.via != "" && s.via != "next" {
		line += " → " + s.via
	}
	return line
}
