package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const (
	// maxCompletions is the largest number of values in one answer (MCP 2025-11-25,
	// Completion).
	maxCompletions = 100
	// completionTime bounds the search: values that come later help nobody who types.
	completionTime = 200 * time.Millisecond
	// Searches that run at the same time, in all and for each caller. Others find
	// nothing.
	maxSearches, maxSearchesPerCaller = 64, 8
)

// completionSlots counts the searches that run. The zero value is ready.
type completionSlots struct {
	mu      sync.Mutex
	all     int
	callers map[string]int
}

// take reports whether a caller may search now. If so, it calls release afterwards.
func (s *completionSlots) take(caller string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= maxSearches || s.callers[caller] >= maxSearchesPerCaller {
		return false
	}
	if s.callers == nil {
		s.callers = map[string]int{}
	}
	s.all++
	s.callers[caller]++
	return true
}

func (s *completionSlots) release(caller string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.callers[caller]--; s.callers[caller] == 0 {
		delete(s.callers, caller)
	}
}

// errBusyCompleting is returned if too many searches run.
var errBusyCompleting = errors.New("too many completions run at the same time")

// UnknownArgumentError is returned for an argument or variable that a prompt or
// resource does not have.
type UnknownArgumentError struct {
	Graph, Argument string
	Names           []string // that there are
}

// Error names it.
func (e *UnknownArgumentError) Error() string {
	return fmt.Sprintf("%s has no argument %q", graph.Quoted(e.Graph), e.Argument)
}

// Complete returns what to suggest for an argument of a prompt, or a variable of a
// resource template: values that begin with what is typed so far, upper and lower
// case aside, in their order, at most 100. total counts all of them. known has the
// arguments that the person has filled in. There are none if the search takes longer
// than 200 ms; err then says so, and also why an expression failed. Runs of
// completions are not kept. The error is a *server.UnknownToolError or an
// *[UnknownArgumentError] if there is nothing to complete.
func (p *Program) Complete(ctx context.Context, info *callinfo.Info, name, argument, typed string, known value.Value) (values []string, total int, err error) {
	g, err := p.Graph(name)
	if err != nil {
		return nil, 0, err
	}
	if g.Offer == nil || !slices.Contains(g.Input.Properties(), argument) {
		return nil, 0, &UnknownArgumentError{name, argument, g.Input.Properties()}
	}
	c := g.Offer.Completions[argument]
	switch {
	case c == nil:
		return nil, 0, nil
	case c.Graph == nil:
		values, total = matching(c.Values, typed)
		return values, total, nil
	}
	if info == nil {
		info = &callinfo.Info{}
	}
	if !p.engine.completions.take(info.Caller) {
		return nil, 0, errBusyCompleting
	}
	defer p.engine.completions.release(info.Caller)
	p.prepare(info)
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	found, err := p.search(ctx, info, c.Graph, argument, typed, known)
	if err != nil {
		return nil, 0, p.redacted(info, err)
	}
	values, total = matching(found, typed)
	return values, total, nil
}

// search runs the graph of a completion. Its run is not kept.
func (p *Program) search(ctx context.Context, info *callinfo.Info, g *graph.Graph, argument, typed string, known value.Value) ([]string, error) {
	ctx, held, cancel := p.account(ctx)
	defer held.Close()
	defer cancel()
	args := value.NewBuilder(known.Len() + 1)
	for _, e := range known.Entries() {
		args.Set(e.Key, e.Value)
	}
	args.Set(argument, value.FromString(typed))
	in := args.Value()
	if held != nil {
		in = in.Metered(held)
	}
	o := CallOptions{}
	info.RunID = runs.NewID()
	run := p.masking(executor.NewRun(g, in, o.seed()))
	driver := &executor.Local{Info: info, Hooks: p.Hooks(info, true), Log: info.Log, Ask: p.asker(info, nil)}
	if err := driver.Run(ctx, run, p.Port(run, info)); err != nil {
		return nil, executor.Interrupted(ctx, g.Name, err)
	}
	return suggestions(run.Result())
}

// suggestions returns the texts that an expression suggests: a list of texts and
// numbers, one of them, or nothing.
func suggestions(v value.Value) ([]string, error) {
	switch v.Kind() {
	case value.Undefined, value.Null:
		return nil, nil
	case value.Array:
	default:
		v = value.FromArray([]value.Value{v})
	}
	texts := make([]string, 0, v.Len())
	for _, e := range v.Elems() {
		switch e.Kind() {
		case value.String:
			texts = append(texts, e.Str())
		case value.Number, value.Bool:
			texts = append(texts, e.JSON())
		default:
			return nil, &graph.Failure{Name: graph.FailResult, Message: fmt.Sprintf("complete must return a list of texts, found %s in it", graph.Describe(e))}
		}
	}
	return texts, nil
}

// matching returns the first of the values that begin with a text, upper and lower
// case aside, and how many there are.
func matching(values []string, typed string) (found []string, total int) {
	for _, v := range values {
		if !hasFoldedPrefix(v, typed) {
			continue
		}
		if total++; total <= maxCompletions {
			found = append(found, v)
		}
	}
	return found, total
}

// hasFoldedPrefix reports whether s begins with prefix under case folding, by whole
// characters.
func hasFoldedPrefix(s, prefix string) bool {
	for _, r := range prefix {
		first, size := utf8.DecodeRuneInString(s)
		if !strings.EqualFold(string(first), string(r)) {
			return false
		}
		s = s[size:]
	}
	return true
}
