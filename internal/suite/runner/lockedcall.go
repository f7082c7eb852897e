package runner

import (
	"context"
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// checkArguments lets the test fail if a call that was answered well has arguments that
// the lock file does not allow: the real server would refuse it. A mock that answers with
// an error or a failure says so itself.
func (s *stage) checkArguments(ctx context.Context, x upstream.Exchange, reply value.Value, err error) {
	if err != nil || reply.Get("isError").Bool() || s.play.drafts {
		return
	}
	wrong := s.play.file.config.locked.Misfit(ctx, x.Server, x.Tool, x.Args)
	if wrong == nil {
		return
	}
	message := fmt.Sprintf("the call of tool %q of server %q with %s does not fit the inputSchema in the lock file: %v",
		x.Tool, x.Server, x.Args.Preview(maxShown), wrong)
	d := s.play.test.Node.Get("name").Problem(CodeTestFailed, message)
	d.Hint = "the server would refuse it; correct the args of the node, or let the mock answer with an error"
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.unanswered) < maxMisfits {
		s.unanswered = append(s.unanswered, Problem{Diagnostic: d})
	}
}

// maxMisfits is how many calls with wrong arguments a test reports.
const maxMisfits = 3
