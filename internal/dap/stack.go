package dap

import (
	"errors"
	"fmt"

	dap "github.com/google/go-dap"

	"github.com/mcpgraph/mcpgraph/pkg/debug"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
)

// mainThread is the thread of the tool's own walk.
const mainThread = 1

// maxThreads is how many walks are remembered by their numbers.
const maxThreads = 10_000

// threads are walks by numbers. What runs side by side has threads of its own.
type threads struct {
	byFrame map[string]int
	frames  []string // by number, from mainThread on
}

// id returns the number of a walk.
func (l *threads) id(frame string) int {
	if id, ok := l.byFrame[frame]; ok {
		return id
	}
	if l.byFrame == nil || len(l.frames) >= maxThreads {
		l.byFrame, l.frames = map[string]int{"": mainThread}, []string{""}
		return l.id(frame)
	}
	l.frames = append(l.frames, frame)
	l.byFrame[frame] = len(l.frames)
	return len(l.frames)
}

// frame returns the walk with a number.
func (l *threads) frame(id int) (string, bool) {
	if id < 1 || id > len(l.frames) {
		return "", id == mainThread
	}
	return l.frames[id-1], true
}

// listThreads returns a thread for each walk that waits for no other one.
func listThreads(s *server, t *target) dap.ThreadsResponseBody {
	st := t.session.State()
	s.mu.Lock()
	defer s.mu.Unlock()
	body := dap.ThreadsResponseBody{}
	at := ""
	if st.Pause != nil {
		at = st.Pause.Frame
		body.Threads = append(body.Threads, dap.Thread{Id: s.threads.id(at), Name: st.Pause.Path})
	}
	for _, a := range st.Active {
		if a.State != "joining" && (st.Pause == nil || a.Frame != at) {
			body.Threads = append(body.Threads, dap.Thread{Id: s.threads.id(a.Frame), Name: fmt.Sprintf("%s (%s)", a.Path, a.State)})
		}
	}
	if body.Threads == nil {
		body.Threads = []dap.Thread{{Id: mainThread, Name: t.Tool}}
	}
	return body
}

// stackOf returns the frames of a thread.
func stackOf(s *server, t *target, thread int) ([]debug.StackFrame, error) {
	s.mu.Lock()
	frame, ok := s.threads.frame(thread)
	s.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("there is no thread %d", thread)
	}
	if p := t.session.State().Pause; p != nil && p.Frame == frame {
		return t.session.Stack(), nil
	}
	return t.session.StackOf(frame), nil
}

func stackTrace(s *server, t *target, a dap.StackTraceArguments) (any, error) {
	stack, err := stackOf(s, t, a.ThreadId)
	if err != nil {
		return nil, err
	}
	body := dap.StackTraceResponseBody{StackFrames: []dap.StackFrame{}, TotalFrames: len(stack)}
	from := min(max(a.StartFrame, 0), len(stack))
	to := len(stack)
	if a.Levels > 0 {
		to = min(to, from+a.Levels)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range stack[from:to] {
		end := f.Node.End()
		body.StackFrames = append(body.StackFrames, dap.StackFrame{
			Id: s.refs.add(reference{scope: f.Scope, node: f.Node, what: frameRef}), Name: frameName(f), Source: t.source(f.Node),
			Line: f.Node.Pos.Line + s.lines, Column: f.Node.Pos.Col + s.columns, EndLine: end.Line + s.lines, EndColumn: end.Col + s.columns,
		})
	}
	return body, nil
}

// frameName shows the node and what it calls: "sizes[3].info (mcp files.stat)".
func frameName(f debug.StackFrame) string {
	n := f.Node
	switch {
	case n.Server != "":
		return fmt.Sprintf("%s (%s %s.%s)", f.Path, n.Kind.Name, n.Server, n.Tool)
	case n.Callee != nil:
		return fmt.Sprintf("%s (%s %s)", f.Path, n.Kind.Name, n.Callee.Name)
	}
	return fmt.Sprintf("%s (%s)", f.Path, n.Kind.Name)
}

// scopes are what expressions see in a frame.
func scopes(s *server, t *target, a dap.ScopesArguments) (any, error) {
	f, err := s.refs.frame(s, a.FrameId)
	if err != nil {
		return nil, err
	}
	previous, _ := t.session.Eval(s.ctx, f.scope, "$previousNode()")
	s.mu.Lock()
	defer s.mu.Unlock()
	scope := func(name, hint string, r reference) dap.Scope {
		r.scope = f.scope
		return dap.Scope{Name: name, PresentationHint: hint, VariablesReference: s.refs.add(r)}
	}
	body := dap.ScopesResponseBody{Scopes: []dap.Scope{
		scope("Document", "locals", reference{what: documentRef}),
		scope("Variables", "", reference{what: variablesRef}),
	}}
	if isContainer(previous) {
		body.Scopes = append(body.Scopes, scope("Last output", "returnValue", reference{what: valueRef, value: previous, path: "$previousNode()"}))
	}
	body.Scopes = append(body.Scopes, scope("Arguments", "arguments", reference{what: valueRef, value: t.session.State().Args}))
	return body, nil
}

// exceptionInfo describes the failure at which the run is paused.
func exceptionInfo(t *target) (any, error) {
	p := t.session.State().Pause
	if p == nil || p.Why != debug.AtFailure {
		return nil, errors.New("the run is not paused at a failure")
	}
	id := "failure"
	if rec, ok := t.session.Record(p.Record); ok && rec.Err != nil {
		id = executor.FailureOf(rec.Err).Name
	}
	mode := dap.ExceptionBreakMode("always")
	if on, _ := t.session.Breakpoints(); on.Failure == debug.BreakOnUncaught {
		mode = "unhandled"
	}
	return dap.ExceptionInfoResponseBody{ExceptionId: id, Description: p.Text, BreakMode: mode}, nil
}
