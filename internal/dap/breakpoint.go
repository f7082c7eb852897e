package dap

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	dap "github.com/google/go-dap"

	"github.com/mcpgraph/mcpgraph/pkg/debug"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// maxBreakpoints bounds the breakpoints of one request.
const maxBreakpoints = 500

// maxSources bounds the files whose breakpoints are remembered.
const maxSources = 100

// breakpoints are those that the editor has set, perhaps before it launched anything.
type breakpoints struct {
	sources   []*source
	functions []breakpoint
	failures  debug.FailureMode
	next      int // the number of the next one
}

// source has the breakpoints at the lines of a file.
type source struct {
	dap.Source
	list []breakpoint
}

// breakpoint is one of them: what the editor asked for, and what it is told.
type breakpoint struct {
	debug.Breakpoint
	line  int    // of the file, from 1 on; 0: it stands at a node with a name
	name  string // of the node
	wrong error  // why it can never be; nil: it can
	told  dap.Breakpoint
}

// source returns the breakpoints of a file.
func (b *breakpoints) source(of dap.Source) *source {
	for _, one := range b.sources {
		if one.Path == of.Path || same(one.Path, of.Path) {
			one.Source = of
			return one
		}
	}
	if len(b.sources) >= maxSources {
		b.sources = b.sources[1:]
	}
	one := &source{Source: of}
	b.sources = append(b.sources, one)
	return one
}

// all returns all breakpoints.
func (b *breakpoints) all() []*breakpoint {
	var all []*breakpoint
	for _, one := range b.sources {
		for i := range one.list {
			all = append(all, &one.list[i])
		}
	}
	for i := range b.functions {
		all = append(all, &b.functions[i])
	}
	return all
}

// at returns the numbers of the breakpoints at a node.
func (b *breakpoints) at(t *target, key string) []int {
	var ids []int
	for _, one := range b.all() {
		nodes, err := t.session.Nodes(one.Node)
		if err == nil && one.told.Verified && slices.ContainsFunc(nodes, func(n *graph.Node) bool { return n.Key() == key }) {
			ids = append(ids, one.told.Id)
		}
	}
	return ids
}

// make returns a breakpoint that has no place yet.
func (b *breakpoints) make(when, hit, log string) breakpoint {
	b.next++
	one := breakpoint{Breakpoint: debug.Breakpoint{When: strings.TrimSpace(when), Log: log}, told: dap.Breakpoint{Id: b.next}}
	if hit = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(hit), "==")); hit != "" {
		n, err := strconv.Atoi(hit)
		if err != nil || n < 1 {
			one.wrong = fmt.Errorf("the hit condition %q is not a number from 1 on", hit)
		}
		one.Hits = n
	}
	return one
}

// place finds the node of a breakpoint; its condition is not checked yet. t is nil
// before launch.
func (b *breakpoint) place(t *target, lines int) {
	b.told.Verified, b.told.Message = true, ""
	if b.line > 0 {
		b.told.Line = b.line + lines
	}
	switch {
	case b.wrong != nil:
		b.refuse(b.wrong)
	case t == nil:
		b.refuse(errors.New("nothing was launched yet"))
	case b.line == 0:
		b.Node = b.name
		if nodes, err := t.session.Nodes(b.name); err == nil {
			b.told.Source, b.told.Line = t.source(nodes[0]), nodes[0].Pos.Line+lines
		}
	case !t.is(b.told.Source.Path):
		b.refuse(fmt.Errorf("this file is not debugged; %s is", t.Program))
	default:
		n := t.nodeAt(b.line)
		if n == nil {
			b.refuse(errors.New("no node stands in this line"))
			return
		}
		b.Node, b.told.Line = n.Key(), n.Pos.Line+lines
	}
}

func (b *breakpoint) refuse(err error) {
	var wrong *debug.BreakpointError
	if errors.As(err, &wrong) {
		switch wrong.Field {
		case "node":
			err = wrong.Err
		case "when":
			err = fmt.Errorf("condition: %w", explained(wrong.Err))
		case "log":
			err = fmt.Errorf("log message: %w", explained(wrong.Err))
		}
	}
	b.told.Verified, b.told.Message = false, err.Error()
}

// apply sets the breakpoints of the session. Those that it refuses are told so.
func apply(s *server, t *target) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t == nil || t.NoDebug {
		return nil
	}
	for {
		var list []debug.Breakpoint
		var from []*breakpoint
		for _, one := range s.breakpoints.all() {
			if one.told.Verified {
				list, from = append(list, one.Breakpoint), append(from, one)
			}
		}
		err := t.session.SetBreakpoints(debug.BreakOn{Failure: s.breakpoints.failures}, list...)
		var wrong *debug.BreakpointError
		if !errors.As(err, &wrong) || wrong.Index >= len(from) {
			return err
		}
		from[wrong.Index].refuse(err)
	}
}

// transfer sets the breakpoints in a run that has just begun, and tells the editor
// which of them have another place now.
func transfer(s *server, t *target) {
	s.mu.Lock()
	all := s.breakpoints.all()
	was := make([]dap.Breakpoint, len(all))
	for i, one := range all {
		was[i] = one.told
		one.place(t, s.lines)
	}
	s.mu.Unlock()
	if err := apply(s, t); err != nil {
		s.output("stderr", err.Error()+"\n")
	}
	for i, one := range all {
		if now := one.told; now.Verified != was[i].Verified || now.Line != was[i].Line || now.Message != was[i].Message {
			s.tell("breakpoint", dap.BreakpointEventBody{Reason: "changed", Breakpoint: now})
		}
	}
}

func told(list []breakpoint) []dap.Breakpoint {
	all := make([]dap.Breakpoint, len(list))
	for i, one := range list {
		all[i] = one.told
	}
	return all
}

// setBreakpoints sets those at the lines of a file.
func setBreakpoints(s *server, t *target, a dap.SetBreakpointsArguments) (any, error) {
	if len(a.Breakpoints) == 0 {
		for _, line := range a.Lines {
			a.Breakpoints = append(a.Breakpoints, dap.SourceBreakpoint{Line: line})
		}
	}
	if len(a.Breakpoints) > maxBreakpoints {
		return nil, fmt.Errorf("more than %d breakpoints", maxBreakpoints)
	}
	s.mu.Lock()
	in := s.breakpoints.source(a.Source)
	in.list = nil
	for _, b := range a.Breakpoints {
		one := s.breakpoints.make(b.Condition, b.HitCondition, b.LogMessage)
		one.line, one.told.Source = max(b.Line-s.lines, 1), &a.Source
		one.place(t, s.lines)
		in.list = append(in.list, one)
	}
	s.mu.Unlock()
	err := apply(s, t)
	s.mu.Lock()
	defer s.mu.Unlock()
	return dap.SetBreakpointsResponseBody{Breakpoints: told(in.list)}, err
}

// setFunctionBreakpoints sets those at nodes that are named.
func setFunctionBreakpoints(s *server, t *target, a dap.SetFunctionBreakpointsArguments) (any, error) {
	if len(a.Breakpoints) > maxBreakpoints {
		return nil, fmt.Errorf("more than %d breakpoints", maxBreakpoints)
	}
	s.mu.Lock()
	s.breakpoints.functions = nil
	for _, b := range a.Breakpoints {
		one := s.breakpoints.make(b.Condition, b.HitCondition, "")
		one.name = b.Name
		one.place(t, s.lines)
		s.breakpoints.functions = append(s.breakpoints.functions, one)
	}
	s.mu.Unlock()
	err := apply(s, t)
	s.mu.Lock()
	defer s.mu.Unlock()
	return dap.SetFunctionBreakpointsResponseBody{Breakpoints: told(s.breakpoints.functions)}, err
}

func setExceptionBreakpoints(s *server, t *target, a dap.SetExceptionBreakpointsArguments) (any, error) {
	mode := debug.BreakOnNone
	filters := a.Filters
	for _, o := range a.FilterOptions {
		filters = append(filters, o.FilterId)
	}
	for _, f := range filters {
		switch f {
		case "any":
			mode = debug.BreakOnAny
		case "uncaught":
			mode = cmp.Or(mode, debug.BreakOnUncaught)
		default:
			return nil, fmt.Errorf("unknown filter %q; expected \"any\" or \"uncaught\"", f)
		}
	}
	s.mu.Lock()
	s.breakpoints.failures = mode
	s.mu.Unlock()
	return dap.SetExceptionBreakpointsResponseBody{}, apply(s, t)
}

// breakpointLocations returns the lines at which nodes begin.
func breakpointLocations(s *server, t *target, a *dap.BreakpointLocationsArguments) (any, error) {
	body := dap.BreakpointLocationsResponseBody{Breakpoints: []dap.BreakpointLocation{}}
	if a == nil || !t.is(a.Source.Path) {
		return body, nil
	}
	from, to := a.Line-s.lines, max(a.EndLine, a.Line)-s.lines
	for _, n := range t.nodes {
		if n.Pos.Line >= from && n.Pos.Line <= to {
			body.Breakpoints = append(body.Breakpoints, dap.BreakpointLocation{Line: n.Pos.Line + s.lines, Column: n.Pos.Col + s.columns})
		}
	}
	return body, nil
}

// nodeAt returns the innermost node that stands in a line, or nil.
func (t *target) nodeAt(line int) *graph.Node {
	var found *graph.Node
	for _, n := range t.nodes {
		if line < n.Pos.Line || line > lastLine(n) {
			continue
		}
		if found == nil || lastLine(n)-n.Pos.Line < lastLine(found)-found.Pos.Line {
			found = n
		}
	}
	return found
}

// lastLine returns the last line of a node.
func lastLine(n *graph.Node) int {
	if end := n.End(); end.Col <= 1 && end.Line > n.Pos.Line {
		return end.Line - 1
	}
	return n.End().Line
}

// is reports whether a path is that of the file.
func (t *target) is(path string) bool { return same(path, t.path) }

func same(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	return resolved(a) == resolved(b)
}

func resolved(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return filepath.Clean(path)
}

// source returns the file of a node.
func (t *target) source(n *graph.Node) *dap.Source {
	path := n.Graph.File
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	return &dap.Source{Name: filepath.Base(path), Path: path}
}
