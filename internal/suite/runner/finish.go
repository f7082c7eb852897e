package runner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/suite"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// finish compares what happened with what the test expects. It runs in the bubble: the
// values of the run belong there.
func (p *play) finish(result value.Value, failed error) {
	o := &p.outcome
	o.covered = p.walk.covered
	if cause := p.stopped.Load(); cause != nil {
		if errors.Is(*cause, errTimeout) {
			o.Problems = append(o.Problems, p.timedOut())
			o.Walk = p.walk.lines()
		}
		return
	}
	o.Problems = append(o.Problems, p.stage.unanswered...)
	switch {
	case len(o.Problems) > 0:
	case p.drafts:
		o.parts = expected(p.parts(result, failed), failed, !p.walk.cut && p.stage.dropped == 0).JSON()
	default:
		if !p.real {
			p.stage.count(o)
		}
		p.compare(p.parts(result, failed), failed)
	}
	if cause := p.stopped.Load(); cause != nil && errors.Is(*cause, errTimeout) {
		o.Problems = append(o.Problems, p.timedOut())
	}
	if len(o.Problems) > 0 || p.options.Verbose {
		o.Walk = p.walk.lines()
	}
}

// parts returns what expectations compare, by their keys.
func (p *play) parts(result value.Value, failed error) value.Value {
	b := value.NewBuilder(8)
	if failed == nil {
		b.Set("result", result)
		b.Set("matches", result)
	} else {
		b.Set("error", executor.FailureOf(failed).Value())
	}
	b.Set("path", p.walk.path())
	b.Set("calls", value.FromArray(p.stage.calls))
	b.Set("outputs", p.walk.outputsValue())
	b.Set("attempts", p.walk.attemptsValue())
	b.Set("durationMs", value.FromFloat(math.Round(float64(p.outcome.Duration)/float64(time.Millisecond))))
	return b.Value()
}

func (p *play) compare(parts value.Value, failed error) {
	expect := p.test.Expect
	if failed != nil && !expect.ExpectsError() {
		p.add(p.unexpected(failed))
		return
	}
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	for _, x := range expect.Patterns {
		if p.tooLong(x) {
			continue
		}
		c := x.Compare(ctx, p.evaluation(), parts.Get(x.Key))
		if c.Equal {
			continue
		}
		message := fmt.Sprintf("%q is not as expected", x.Key)
		if x.Key == "error" && failed == nil {
			message = "the run ended well, but an error is expected"
			c.Found = value.ObjectOf("result", parts.Get("result"))
			c.Expected = value.ObjectOf("error", c.Expected)
		}
		problem := Problem{Diagnostic: c.At.Problem(CodeTestFailed, message), Expected: suite.YAML(c.Expected), Found: suite.YAML(c.Found)}
		for _, reason := range c.Reasons {
			problem.Message += "; " + reason
		}
		p.add(problem)
	}
	whole := outcomeOf(parts)
	for _, x := range expect.Exprs {
		if ok, reason := x.Holds(ctx, p.evaluation(), whole); !ok {
			p.add(Problem{Diagnostic: x.Node.Problem(CodeTestFailed, "the expression does not hold: "+reason)})
		}
	}
	if expect.Snapshot {
		b := value.NewBuilder(4)
		for _, key := range []string{"result", "error", "path", "calls"} {
			if v := parts.Get(key); !v.IsUndefined() {
				b.Set(key, v)
			}
		}
		p.outcome.snapshot = b.Value().JSON()
	}
}

// outcomeOf returns what expressions see.
func outcomeOf(parts value.Value) value.Value {
	b := value.NewBuilder(5)
	for _, key := range []string{"result", "error", "path", "calls", "outputs"} {
		if v := parts.Get(key); !v.IsUndefined() {
			b.Set(key, v)
		}
	}
	return b.Value()
}

// tooLong reports whether a part was not kept as a whole, which is a problem then.
func (p *play) tooLong(x suite.Expectation) bool {
	switch {
	case x.Key == "path" && p.walk.cut:
		p.add(Problem{Diagnostic: x.Pattern.Node.Problem(CodeTestFailed, fmt.Sprintf("the run has more than %d steps, too many to compare its path", maxSteps))})
	case x.Key == "calls" && p.stage.dropped > 0:
		p.add(Problem{Diagnostic: x.Pattern.Node.Problem(CodeTestFailed, fmt.Sprintf("the run made more than %d calls, too many to compare them", maxCalls))})
	default:
		return false
	}
	return true
}

func (p *play) add(problem Problem) { p.outcome.Problems = append(p.outcome.Problems, problem) }

// unexpected is the problem of a run that failed.
func (p *play) unexpected(failed error) Problem {
	f := executor.FailureOf(failed)
	d := p.test.Node.Get("name").Problem(CodeTestFailed, fmt.Sprintf("the run failed with %q: %v", f.Name, failed))
	d.Hint = fmt.Sprintf("if that is right, add: expect: {error: {name: %s}}", f.Name)
	var at *executor.NodeError
	if errors.As(failed, &at) && !at.Pos.IsZero() {
		d.Related = []diag.Related{{File: at.File, Pos: at.Pos, Message: fmt.Sprintf("node %q failed here", at.Node)}}
	}
	return Problem{Diagnostic: d}
}
