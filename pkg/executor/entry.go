package executor

import (
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// entry is a record as the log keeps it. It does not change any more once it is
// there.
type entry struct {
	frame          *frame
	node           *graph.Node
	extra          *extra // nil for most
	output         value.Value
	start, end     instant
	index          int
	execution, try int32
	edge           int32
	size           int32 // of its values, roughly, in bytes; 0 outside of bodies
	event          Event
	do             graph.Verb
}

// extra is what only few entries have.
type extra struct {
	err   error
	sent  value.Value // the arguments of an upstream call
	reply value.Value // to it, undefined where there was none or it is not kept
	// replyBytes is about how many bytes the reply has, kept or not.
	replyBytes int
	nextReply  *extra          // in the list of replies
	times      []graph.Attempt // nil where one attempt was all
	until      instant
	opened     *opened // of an Opened
	foreign    *Record // what a replay was given and made nothing of
	// was is, in a Replaced, the entry before it in the history, and version the
	// place of the replacement among those of the run, from 1.
	was       *entry
	attempts  int
	version   int32
	fromCache bool
	pinned    bool
}

var noExtra extra

// get returns x to read, also if there is none.
func (x *extra) get() *extra {
	if x == nil {
		return &noExtra
	}
	return x
}

// extend returns the extra of an entry, to write.
func (e *entry) extend() *extra {
	if e.extra == nil {
		e.extra = &extra{}
	}
	return e.extra
}

// at returns the entry that stood in its place after so many replacements of the
// run.
func (e *entry) at(version int32) *entry {
	for e.event == Replaced && e.extra.version > version {
		e = e.extra.was
	}
	return e
}

// fail sets the failure that the entry is about, if any.
func (e *entry) fail(err error) {
	if err != nil {
		e.extend().err = err
	}
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

// record returns the entry as observers see it.
func (e *entry) record() (r Record) {
	e.fill(&r)
	return r
}

// fill is record for where there is an empty one. A Record is large: making one and
// copying it takes twice as long.
func (e *entry) fill(r *Record) {
	r.Index, r.Event = e.index, e.event
	r.Frame, r.Path = e.frame.id(), e.frame.path()
	r.Node, r.Kind, r.Key = e.node.ID, e.node.Kind.Name, e.node.Key()
	r.Server, r.Tool = e.node.Server, e.node.Tool
	r.Execution, r.Try = int(e.execution), int(e.try)
	r.Start, r.End = e.start.time(), e.end.time()
	r.Do, r.Output, r.Edge = e.do, e.output, int(e.edge)
	if e.event == Done {
		if way := e.node.Way(r.Edge); way != nil {
			r.Via, r.Next = way.Field, way.Target
		}
	}
	x := e.extra
	if x == nil {
		return
	}
	if x.foreign != nil {
		*r = *x.foreign
		return
	}
	r.Until, r.Arguments, r.Err = x.until.time(), x.sent, x.err
	for _, u := range e.node.Unsent(x.sent) {
		r.Unsent = append(r.Unsent, u.String())
	}
	r.Attempts, r.FromCache, r.AttemptTimes, r.Pinned = x.attempts, x.fromCache, x.times, x.pinned
	if r.Reply = x.reply; r.Reply.IsUndefined() {
		r.ReplyBytes = x.replyBytes
	}
	if x.opened != nil {
		r.Run = x.opened.run
		r.Results, r.Failed = x.opened.dropped()
	}
}
