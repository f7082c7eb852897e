package durable

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
)

// notifier hands reports to a client, each once.
type notifier struct {
	to     func(callinfo.Notification)
	told   map[string]int // the number of the latest, by call
	looked time.Time
	turn   int // how many children were looked at
	// children returns the runs that the run waits for; nil: none.
	children func() []string
}

func (n *notifier) tell(list []said) (fresh bool) {
	for _, s := range list {
		for _, r := range s.Reports {
			if r.N <= n.told[s.Call] {
				continue
			}
			n.told[s.Call], fresh = r.N, true
			if params, err := parsed(r.Params); err == nil {
				own := callinfo.Notification{Server: s.Server, Tool: s.Tool, Method: r.Method, Params: params}
				own.Params = apart(own, s.Call)
				n.to(own)
			}
		}
	}
	return fresh
}

// Bounds of the requests to Temporal for reports of calls under way: of one run that is
// followed, and of all of a Client.
const lookEvery, lookAllEvery = time.Second, 10 * time.Millisecond

// looks are the requests of a Client.
type looks struct{ last atomic.Int64 }

func (l *looks) may(now time.Time) bool {
	last := l.last.Load()
	return now.UnixNano()-last >= int64(lookAllEvery) && l.last.CompareAndSwap(last, now.UnixNano())
}

// maxLooked is how many children one look asks for, each of them in turn.
const maxLooked = 10

// look tells the client of a run what servers report in its calls under way, and in those
// of its children.
func (c *Client) look(ctx context.Context, id string, n *notifier) (fresh bool) {
	now := time.Now()
	if now.Sub(n.looked) < lookEvery || !c.looks.may(now) {
		return false
	}
	n.looked = now
	fresh, children := c.lookAt(ctx, id, "", n)
	if n.children != nil { // a workflow that continues another one does not have them
		children = append(children, n.children()...)
	}
	slices.Sort(children)
	children = slices.Compact(children)
	if len(children) == 0 {
		return fresh
	}
	first := n.turn % len(children)
	children = slices.Concat(children[first:], children[:first])
	for i := 0; i < len(children) && i < maxLooked; i++ {
		if !c.looks.soon(ctx) {
			break
		}
		more, inner := c.lookAt(ctx, children[i], children[i], n)
		fresh = fresh || more
		children = append(children, inner...) // of which there is time for some
		n.turn++
	}
	return fresh
}

// lookAt is look for one run. It returns the children under way. Child is the id of the
// run if it is one.
func (c *Client) lookAt(ctx context.Context, id, child string, n *notifier) (fresh bool, children []string) {
	got, err := c.temporal.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		return false, nil // the next look may get it
	}
	for _, a := range got.GetPendingActivities() {
		s := c.saidBy(a)
		if s == nil {
			continue
		}
		if child != "" {
			*s = s.of(child)
		}
		fresh = n.tell([]said{*s}) || fresh
	}
	for _, one := range got.GetPendingChildren() {
		children = append(children, one.GetWorkflowId())
	}
	return fresh, children
}

// soon waits until there may be another look, shortly.
func (l *looks) soon(ctx context.Context) bool {
	for range maxLooked {
		if l.may(time.Now()) {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(lookAllEvery):
		}
	}
	return false
}
