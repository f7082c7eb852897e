package executor

import (
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// entry is a record as the log keeps it.
type entry struct {
	frame             *frame
	node              *graph.Node
	more              *more // nil for most
	output, sent      value.Value
	err               error
	start, end, until instant
	index             int
	execution, try    int32
	edge, attempts    int32
	event             Event
	do                graph.Verb
	fromCache         bool
}

// instant is a time in nanoseconds since 1970, 0 for none. It has half the size
// of a time.Time.
type instant int64

func instantOf(t time.Time) instant {
	if t.IsZero() {
		return 0
	}
	return instant(t.UnixNano())
}

func (i instant) time() time.Time {
	if i == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(i))
}

func (i instant) add(d time.Duration) instant { return i + instant(d) }

// more is what only few entries have.
type more struct {
	opened  *opened // of an Opened
	foreign *Record // what a replay was given and made nothing of
	size    int     // of its values, roughly; 0 outside of bodies
}

func (e *entry) size() int {
	if e.more == nil {
		return 0
	}
	return e.more.size
}

// weigh sets the size. Values may be views of the run, so it must be called
// without its lock.
func (e *entry) weigh(f *frame, output value.Value) {
	if f.opener != nil {
		e.more = &more{size: roughly(output) + roughly(f.sent)}
	}
}

// record returns the entry as observers see it.
func (e *entry) record() Record {
	if e.more != nil && e.more.foreign != nil {
		return *e.more.foreign
	}
	r := Record{
		Index: e.index, Event: e.event, Frame: e.frame.id(), Path: e.frame.path(),
		Node: e.node.ID, Kind: e.node.Kind.Name,
		Execution: int(e.execution), Try: int(e.try),
		Start: e.start.time(), End: e.end.time(), Until: e.until.time(), Do: e.do,
		Server: e.node.Server, Tool: e.node.Tool, Arguments: e.sent, Output: e.output, Err: e.err, Edge: int(e.edge),
		Attempts: int(e.attempts), FromCache: e.fromCache,
	}
	if e.event == Done {
		if way := e.node.Way(r.Edge); way != nil {
			r.Via, r.Next = way.Field, way.Target
		}
	}
	if e.more != nil && e.more.opened != nil {
		r.Results, r.Failed = e.more.opened.dropped()
	}
	return r
}
