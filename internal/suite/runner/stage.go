package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/cassette"
	"github.com/mcpgraph/mcpgraph/internal/suite"
	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// errUnanswered ends a run that calls a tool that no mock answers.
var errUnanswered = errors.New("no mock answers a call")

// exchange is an [upstream.Intercept]: mocks answer.
func (s *stage) exchange(ctx context.Context, x upstream.Exchange, _ func(context.Context) (value.Value, error)) (value.Value, error) {
	if err := s.play.check(); err != nil {
		return value.Undef, err
	}
	s.note(x)
	reply := s.choose(ctx, x)
	if reply == nil && s.player != nil {
		return s.play.recorded(ctx, x)
	}
	if reply == nil {
		s.play.cancel(errUnanswered)
		return value.Undef, errUnanswered
	}
	if err := s.delay(ctx, reply.Delay); err != nil {
		return value.Undef, err
	}
	result, err := reply.Answer(ctx, s.play.evaluation(), x.Args)
	var failure *upstream.Failure
	if err != nil && !errors.As(err, &failure) && s.play.stopped.Load() == nil && ctx.Err() == nil {
		s.refuse(Problem{Diagnostic: reply.Node.Problem(CodeTestFailed, err.Error())})
		s.play.cancel(errUnanswered)
	}
	return result, err
}

// recorded answers a call from the cassette.
func (p *play) recorded(ctx context.Context, x upstream.Exchange) (value.Value, error) {
	if err := p.stage.delay(ctx, 0); err != nil {
		return value.Undef, err
	}
	reply, err := p.stage.player.Intercept(ctx, x, nil)
	var stale *cassette.StaleError
	if errors.As(err, &stale) {
		p.stage.refuse(Problem{Diagnostic: p.test.Node.Get("name").Problem(CodeTestFailed, stale.Error())})
		p.cancel(errUnanswered)
	}
	return reply, err
}

// note keeps a call to be compared.
func (s *stage) note(x upstream.Exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) >= maxCalls {
		s.dropped++
		return
	}
	s.calls = append(s.calls, value.ObjectOf(
		"server", value.FromString(x.Server), "tool", value.FromString(x.Tool), "arguments", x.Args))
}

// choose returns the reply of the first mock that fits; nil if there is none, which is a
// problem of the test.
func (s *stage) choose(ctx context.Context, x upstream.Exchange) *suite.Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	best := nearest{fit: -1}
	for i, m := range s.play.test.Mocks {
		fit, reason := m.Fits(ctx, s.play.evaluation(), x.Server, x.Tool, x.Args)
		if fit == suite.FitsCall && s.used[i] < m.Max {
			n := min(s.used[i], len(m.Replies)-1)
			s.used[i]++
			return m.Replies[n]
		}
		if fit > best.fit {
			best = nearest{fit, m, reason}
		}
	}
	if s.player == nil {
		s.unanswered = append(s.unanswered, s.noMock(x, best))
	}
	return nil
}

// nearest is the mock that fits a call best.
type nearest struct {
	fit    suite.Fit
	mock   *suite.Mock
	reason string
}

// noMock is the problem of a call that no mock answers.
func (s *stage) noMock(x upstream.Exchange, best nearest) Problem {
	t := s.play.test
	where := t.Node.Get("name")
	if mocks := t.Node.Get("mocks"); mocks != nil {
		where = mocks
	}
	d := where.Problem(CodeTestFailed, fmt.Sprintf("no mock answers the call of tool %q of server %q with %s", x.Tool, x.Server, x.Args.Preview(maxShown)))
	d.End.Line = 0
	if best.mock != nil {
		at := best.mock.Node.Pos()
		switch best.fit {
		case suite.FitsCall:
			d.Hint = fmt.Sprintf("the mock of %s at line %d has been called %d times, as its times says", best.mock.Name(), at.Line, best.mock.Max)
			if best.mock.Max == 0 {
				d.Hint = fmt.Sprintf("the mock of %s at line %d says that it is never called (times: 0)", best.mock.Name(), at.Line)
			}
		case suite.OtherArguments:
			d.Hint = fmt.Sprintf("the nearest mock, at line %d, does not fit: %s", at.Line, best.reason)
		case suite.OtherTool:
			d.Hint = fmt.Sprintf("the nearest mock, at line %d, is of %s", at.Line, best.mock.Name())
		}
	}
	return Problem{Diagnostic: d, Detail: "Add this mock to the test and write the reply:\n\n" + paste(x)}
}

// maxShown bounds values in messages, in bytes.
const maxShown = 200

// paste returns a mock of a call as it can be pasted into the list of a test.
func paste(x upstream.Exchange) string {
	b := value.NewBuilder(4)
	b.Set("server", value.FromString(x.Server))
	b.Set("tool", value.FromString(x.Tool))
	if x.Args.Len() > 0 {
		b.Set("arguments", suite.Literal(x.Args))
	}
	b.Set("reply", value.ObjectOf("text", value.FromString("")))
	return suite.YAML(value.FromArray([]value.Value{b.Value()}))
}

// refuse adds a reason why the test fails.
func (s *stage) refuse(p Problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unanswered = append(s.unanswered, p)
}

// delay waits until a reply comes. No two come at the same instant, so that their order
// is always the same.
func (s *stage) delay(ctx context.Context, d time.Duration) error {
	s.mu.Lock()
	at := time.Now().Add(d + 1)
	for s.wakes[at] {
		at = at.Add(1)
	}
	s.wakes[at] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.wakes, at)
	}()
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
		return s.play.check()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// ask answers the questions of the run.
func (s *stage) ask(_ context.Context, q executor.Question) (value.Value, error) {
	for _, a := range s.play.test.Answers {
		if a.ID.String() != q.Node.ID {
			continue
		}
		s.mu.Lock()
		before := s.answered[q.Node.ID]
		s.answered[q.Node.ID]++
		s.mu.Unlock()
		result, err := q.Result(a.To(q.Method, before))
		if err != nil && executor.FailureOf(err).Name != graph.FailCannotAsk {
			s.refuse(Problem{Diagnostic: a.Node.Problem(CodeTestFailed, fmt.Sprintf("the answer of %q: %v", a.ID, err))})
			s.play.cancel(errUnanswered)
		}
		return result, err
	}
	d := s.play.test.Node.Get("name").Problem(CodeTestFailed, fmt.Sprintf("node %q asks %q, and no answer is given", q.Node.ID, textline.Shorten(q.Text(), maxShown)))
	s.refuse(Problem{Diagnostic: d, Detail: "Add the answer to the test:\n\n" + suite.YAML(value.ObjectOf("answers", value.ObjectOf(q.Node.ID, form(q))))})
	s.play.cancel(errUnanswered)
	return value.Undef, &graph.Failure{Name: graph.FailCannotAsk, Message: "the test has no answer for it"}
}

// form returns an answer to fill in.
func form(q executor.Question) value.Value {
	switch q.Method {
	case graph.AskModel:
		return value.FromString("")
	case graph.AskRoots:
		return value.FromArray([]value.Value{value.FromString("file:///")})
	}
	fields := q.Value.Get("requestedSchema").Get("properties").Entries()
	b := value.NewBuilder(len(fields))
	for _, f := range fields {
		b.Set(f.Key, value.NullValue)
	}
	if b.Len() == 0 {
		return value.FromString("decline")
	}
	return b.Value()
}

// count looks how often the mocks of the test itself were called.
func (s *stage) count(o *Outcome) {
	o.used = s.used
	for i, m := range s.play.test.Mocks {
		n := s.used[i]
		own := i < s.play.test.Own
		switch {
		case n < m.Min && own:
			o.Problems = append(o.Problems, Problem{Diagnostic: m.Node.Problem(CodeTestFailed,
				fmt.Sprintf("the mock of %s was called %d times, expected %s", m.Name(), n, times(m)))})
		case n == 0 && m.Max > 0 && own:
			w := m.Node.Problem(CodeUnusedMock, fmt.Sprintf("the mock of %s was never called", m.Name()))
			w.Severity = diag.Warning
			o.Warnings = append(o.Warnings, w)
		}
	}
}

func times(m *suite.Mock) string {
	if m.Max == m.Min {
		return fmt.Sprint(m.Min)
	}
	return fmt.Sprintf("at least %d", m.Min)
}
