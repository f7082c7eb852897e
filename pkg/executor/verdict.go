package executor

import (
	"context"
	"slices"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// verdict is what follows from the outcome of a task.
type verdict struct {
	retry  bool
	delay  time.Duration
	output value.Value
	edge   int
}

var noVerdict = verdict{edge: graph.NoEdge}

// judge decides what follows from a failure: another attempt, a handler, or the
// end of the walk. It evaluates expressions, so only the goroutine that has the
// task calls it.
func (f *frame) judge(ctx context.Context, err error) verdict {
	n := f.node
	if len(n.Policy.Retry) == 0 && len(n.Policy.Catch) == 0 && len(f.graph.Catch) == 0 {
		return noVerdict
	}
	failed := FailureOf(err)
	if failed.Reserved() || isDeliberate(n, err) {
		return noVerdict
	}
	if i := f.rule(failed); i >= 0 {
		if delay, ok := f.delay(i, err); ok {
			return verdict{retry: true, delay: delay}
		}
	}
	if edge, ok := f.handler(ctx, n.Policy.Catch, failed); ok {
		return verdict{output: caught(failed), edge: edge}
	}
	if !f.caught {
		if edge, ok := f.handler(ctx, f.graph.Catch, failed); ok {
			return verdict{output: caught(failed), edge: len(n.Edges) + edge}
		}
	}
	return noVerdict
}

// rule returns the rule of retry that is for a failure, or -1 if none is.
func (f *frame) rule(failed *graph.Failure) int {
	for i := range f.node.Policy.Retry {
		if f.node.Policy.Retry[i].Matches(failed) {
			return i
		}
	}
	return -1
}

// delay returns how long the next attempt by a rule waits, and reports whether
// there is one.
func (f *frame) delay(rule int, err error) (time.Duration, bool) {
	r, tried := &f.node.Policy.Retry[rule], f.tried(rule)
	if tried+1 >= r.MaxAttempts {
		return 0, false
	}
	delay := float64(r.InitialDelay)
	for range tried {
		if delay *= max(r.Backoff, 1); delay >= float64(r.MaxDelay) {
			break
		}
	}
	delay = min(delay, float64(r.MaxDelay))
	if r.Jitter {
		delay *= 0.5 + f.source(saltDelay).Float64()/2
	}
	if asked := retryAfter(err); asked > r.MaxDelay {
		return 0, false
	} else if asked > time.Duration(delay) {
		return asked, true
	}
	return time.Duration(delay), true
}

// tried returns how often a rule of retry was applied.
func (f *frame) tried(rule int) int {
	if a := f.attempts; a != nil && rule < len(a.tries) {
		return a.tries[rule]
	}
	return 0
}

// saltDelay keeps the randomness of delays apart from that of expressions.
const saltDelay = 1 << 32

// handler returns the edge of the first rule that catches a failure.
func (f *frame) handler(ctx context.Context, rules []graph.CatchRule, failed *graph.Failure) (int, bool) {
	for i := range rules {
		rule := &rules[i]
		if !rule.Matches(failed) {
			continue
		}
		if rule.When == nil {
			return rule.Edge, true
		}
		env := f.env
		env.Vars = append(slices.Clip(f.env.Vars), value.Entry{Key: "error", Value: failed.Value()})
		v, err := rule.When.Eval(ctx, &env)
		switch {
		case err == nil && v.Truthy():
			return rule.Edge, true
		case err != nil && ctx.Err() == nil:
			f.logger().Warn("a condition of catch failed, so its rule does not apply",
				"tool", f.run.graph.Name, "node", f.node.ID, "condition", rule.When.Source(), "error", err)
		}
	}
	return 0, false
}

// mayHandle reports whether a rule of the node, or of the graph, can be for a failure.
func (f *frame) mayHandle(failed *graph.Failure) bool {
	if failed.Reserved() {
		return false
	}
	if i := f.rule(failed); i >= 0 {
		if f.tried(i)+1 < f.node.Policy.Retry[i].MaxAttempts {
			return true
		}
	}
	matches := func(rule graph.CatchRule) bool { return rule.Matches(failed) }
	return slices.ContainsFunc(f.node.Policy.Catch, matches) || !f.caught && slices.ContainsFunc(f.graph.Catch, matches)
}
