package toolkit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/suite"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

type (
	exchange = upstream.Exchange
	next     = func(context.Context) (value.Value, error)
)

// stage answers the upstream calls of one run in the place of the servers.
type stage struct {
	mocks []*suite.Mock // none: every call fails
	mu    sync.Mutex
	used  []int
}

// newStage returns what answers the upstream calls of a run; nil: the servers do.
func newStage(c *call, tool string) (*stage, error) {
	mocks := c.args.Get("mocks")
	if mocks.IsUndefined() {
		if c.text("calls") == "none" {
			return &stage{}, nil
		}
		return nil, nil
	}
	test := value.ObjectOf("name", "run", "tool", tool, "mocks", mocks)
	file, ds := suite.Parse("mocks"+suite.Suffix+".yaml", value.ObjectOf("tests", []value.Value{test}).Append(nil))
	for _, d := range ds {
		if d.Severity == diag.Error {
			return nil, fmt.Errorf("mocks: %s", d.Message)
		}
	}
	if file == nil || len(file.Tests) != 1 {
		return nil, errors.New("the mocks cannot be read")
	}
	s := &stage{mocks: file.Tests[0].Mocks}
	s.used = make([]int, len(s.mocks))
	return s, nil
}

// unansweredError is the error of a call that nothing answers. No rule of a graph
// handles it.
type unansweredError struct{ message string }

func (e *unansweredError) Error() string { return e.message }

// FailureName returns a name that no rule of a graph handles.
func (*unansweredError) FailureName() string { return "cancelled" }

// answer answers a call.
func (s *stage) answer(ctx context.Context, x exchange) (value.Value, error) {
	would := fmt.Sprintf("tool %q of server %q with %s", x.Tool, x.Server, x.Args.Preview(2000))
	if s.mocks == nil {
		return value.Undef, &unansweredError{"calls is none; this would call " + would}
	}
	r, reason := s.choose(ctx, x)
	if r == nil {
		return value.Undef, &unansweredError{"no mock answers the call of " + would + reason}
	}
	if r.Delay > 0 {
		timer := time.NewTimer(r.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return value.Undef, context.Cause(ctx)
		}
	}
	return r.Answer(ctx, suite.Evaluation{}, x.Args)
}

// choose returns the reply of the first mock that fits.
func (s *stage) choose(ctx context.Context, x exchange) (r *suite.Reply, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	best := suite.OtherServer
	for i, m := range s.mocks {
		fit, why := m.Fits(ctx, suite.Evaluation{}, x.Server, x.Tool, x.Args)
		if fit == suite.FitsCall && s.used[i] < m.Max {
			n := min(s.used[i], len(m.Replies)-1)
			s.used[i]++
			return m.Replies[n], ""
		}
		if fit >= best && why != "" {
			best, reason = fit, fmt.Sprintf("; mock %d does not fit: %s", i+1, why)
		}
	}
	return nil, reason
}
