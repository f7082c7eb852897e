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

// breakpoints are those that the editor has set.
type breakpoints struct {
	lines, functions []breakpoint
	failures         debug.FailureMode
	next             int // the number of the next one
}

// breakpoint is one of them, as the editor is told of it.
type breakpoint struct {
	debug.Breakpoint
	told dap.Breakpoint
}

// at returns the numbers of the breakpoints at a node.
func (b *breakpoints) at(t *target, key string) []int {
	var ids []int
	for _, one := range slices.Concat(b.lines, b.functions) {
		nodes, err := t.session.Nodes(one.Node)
		if err == nil && one.told.Verified && slices.ContainsFunc(nodes, func(n *graph.Node) bool { return n.Key() == key }) {
			ids = append(ids, one.told.Id)
		}
	}
	return ids
}

// make returns a breakpoint; its condition is not checked yet.
func (b *breakpoints) make(node, when, hit, log string) breakpoint {
	b.next++
	one := breakpoint{debug.Breakpoint{Node: node, When: strings.TrimSpace(when), Log: log}, dap.Breakpoint{Id: b.next, Verified: true}}
	if hit = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(hit), "==")); hit != "" {
		n, err := strconv.Atoi(hit)
		if err != nil || n < 1 {
			one.refuse(fmt.Errorf("the hit condition %q is not a number from 1 on", hit))
		}
		one.Hits = n
	}
	return one
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
func (s *server) apply(t *target) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.NoDebug {
		return nil
	}
	for {
		var list []debug.Breakpoint
		var from []*breakpoint
		for _, group := range [][]breakpoint{s.breakpoints.lines, s.breakpoints.functions} {
			for i := range group {
				if group[i].told.Verified {
					list, from = append(list, group[i].Breakpoint), append(from, &group[i])
				}
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

func told(list []breakpoint) []dap.Breakpoint {
	all := make([]dap.Breakpoint, len(list))
	for i, one := range list {
		all[i] = one.told
	}
	return all
}

// setBreakpoints sets those at lines of the file.
func (s *server) setBreakpoints(t *target, a dap.SetBreakpointsArguments) (any, error) {
	if len(a.Breakpoints) == 0 {
		for _, line := range a.Lines {
			a.Breakpoints = append(a.Breakpoints, dap.SourceBreakpoint{Line: line})
		}
	}
	if len(a.Breakpoints) > maxBreakpoints {
		return nil, fmt.Errorf("more than %d breakpoints", maxBreakpoints)
	}
	ours := t.is(a.Source.Path)
	var list []breakpoint
	s.mu.Lock()
	for _, b := range a.Breakpoints {
		n := t.nodeAt(b.Line - s.lines)
		key := ""
		if n != nil {
			key = n.Key()
		}
		one := s.breakpoints.make(key, b.Condition, b.HitCondition, b.LogMessage)
		one.told.Line, one.told.Source = b.Line, &a.Source
		switch {
		case !ours:
			one.refuse(fmt.Errorf("this file is not debugged; %s is", t.Program))
		case n == nil:
			one.refuse(errors.New("no node stands in this line"))
		default:
			one.told.Line = n.Pos.Line + s.lines
		}
		list = append(list, one)
	}
	if !ours { // those of the file that is debugged stay
		s.mu.Unlock()
		return dap.SetBreakpointsResponseBody{Breakpoints: told(list)}, nil
	}
	s.breakpoints.lines = list
	s.mu.Unlock()
	err := s.apply(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	return dap.SetBreakpointsResponseBody{Breakpoints: told(s.breakpoints.lines)}, err
}

// setFunctionBreakpoints sets those at nodes that are named.
func (s *server) setFunctionBreakpoints(t *target, a dap.SetFunctionBreakpointsArguments) (any, error) {
	if len(a.Breakpoints) > maxBreakpoints {
		return nil, fmt.Errorf("more than %d breakpoints", maxBreakpoints)
	}
	s.mu.Lock()
	s.breakpoints.functions = nil
	for _, b := range a.Breakpoints {
		one := s.breakpoints.make(b.Name, b.Condition, b.HitCondition, "")
		if nodes, err := t.session.Nodes(b.Name); err == nil {
			one.told.Source, one.told.Line = t.source(nodes[0]), nodes[0].Pos.Line+s.lines
		}
		s.breakpoints.functions = append(s.breakpoints.functions, one)
	}
	s.mu.Unlock()
	err := s.apply(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	return dap.SetFunctionBreakpointsResponseBody{Breakpoints: told(s.breakpoints.functions)}, err
}

func (s *server) setExceptionBreakpoints(t *target, a dap.SetExceptionBreakpointsArguments) (any, error) {
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
	return dap.SetExceptionBreakpointsResponseBody{}, s.apply(t)
}

// breakpointLocations returns the lines at which nodes begin.
func (s *server) breakpointLocations(t *target, a *dap.BreakpointLocationsArguments) (any, error) {
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
