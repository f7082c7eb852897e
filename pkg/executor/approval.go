package executor

import (
	"fmt"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// approvalTimeout is how long a call waits for the approval of a person.
const approvalTimeout = 10 * time.Minute

// A call that needs approval is a question first. The Opened record has the
// arguments; once they are approved the call is made with these, and attempts
// that follow are not asked about again.

// needsApproval reports whether a person has to be asked before the execution
// calls its tool. The error is that of a declined approval.
func (f *frame) needsApproval() (bool, error) {
	if f.node.Approval == nil || f.approved {
		return false, nil
	}
	f.run.mu.Lock()
	defer f.run.mu.Unlock()
	if action, decided := f.run.decision(f.node); decided {
		return false, declinedError(f.node, action)
	}
	return true, nil
}

// decision returns what a person has chosen for all calls of a node's tool. r.mu is
// held.
func (r *Run) decision(n *graph.Node) (action string, decided bool) {
	if n.Approval == nil || !n.Approval.Once {
		return "", false
	}
	action, decided = r.decisions[toolOf(n)]
	return action, decided
}

// declinedError returns the failure of a call that a person has not accepted, nil
// if the action accepts it.
func declinedError(n *graph.Node, action string) error {
	if action == graph.Accept {
		return nil
	}
	return &graph.Failure{
		Name:    graph.FailDeclined,
		Message: fmt.Sprintf("the person chose to %s the call of tool %q of server %q", action, n.Tool, n.Server),
	}
}

// serverTool is a tool of an upstream server.
type serverTool struct{ server, tool string }

func toolOf(n *graph.Node) serverTool { return serverTool{n.Server, n.Tool} }

// shares reports whether one answer is for both frames, which wait for approval.
func (f *frame) shares(other *frame) bool {
	return f.node.Approval != nil && f.node.Approval.Once && other.node.Approval != nil && toolOf(f.node) == toolOf(other.node)
}

// unapprovedError is returned if an approval was not answered.
func unapprovedError(n *graph.Node) error {
	return &graph.Failure{
		Name:    graph.FailTimeout,
		Message: fmt.Sprintf("nobody approved the call of tool %q of server %q within %s", n.Tool, n.Server, approvalTimeout),
	}
}

// maxShownArguments is how many bytes of the arguments a person is shown.
const maxShownArguments = 4 << 10

// WithArguments returns a question about the approval of a call as it is asked with
// these arguments, which may be those of the call without secrets. Only the
// beginning of long ones is shown.
func (q Question) WithArguments(arguments value.Value) Question {
	n, args := q.Node, arguments.JSON()
	if len(args) > maxShownArguments {
		args = fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(args[:maxShownArguments], ""), len(args))
	}
	b := value.NewBuilder(2)
	b.Set("message", value.FromString(fmt.Sprintf("Allow the call of tool %q of server %q with %s?", n.Tool, n.Server, args)))
	b.Set("requestedSchema", noForm)
	q.Value, q.Arguments = b.Value(), arguments
	return q
}

// noForm is the schema of a form without fields.
var noForm = value.FromEntries([]value.Entry{
	{Key: "type", Value: value.FromString("object")}, {Key: "properties", Value: value.FromEntries(nil)},
})

// approve takes the answer to the question whether a tool may be called. r.mu is
// held.
func (r *Run) approve(e *entry) {
	f, failed := e.frame, e.extra.get().err
	if failed == nil {
		action := e.output.Get("action").Str()
		failed = declinedError(f.node, action)
		if f.node.Approval.Once {
			if r.decisions == nil {
				r.decisions = map[serverTool]string{}
			}
			r.decisions[toolOf(f.node)] = action
		}
	}
	answered := []*frame{f}
	for _, other := range r.asked {
		if other != f && other.shares(f) {
			answered = append(answered, other)
		}
	}
	for _, one := range answered {
		r.unask(one)
		r.decided(one, failed)
	}
}

// decided lets a frame go on that waits for approval. r.mu is held.
func (r *Run) decided(f *frame, failed error) {
	f.phase, f.approved = approved, true
	if failed != nil {
		f.phase, f.approved, f.pending = conclude, false, failed
	}
	r.push(f)
}
