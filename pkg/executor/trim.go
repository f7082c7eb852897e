package executor

import (
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Records of bodies that have ended are kept up to these bounds, then the oldest
// are dropped; the results of the bodies never are.
const (
	keptRecords = 10_000
	keptBytes   = 16 << 20
	slack       = 4 // a trim leaves room for a quarter as much
)

// trimming counts what bodies have in the log.
type trimming struct {
	records int // of bodies
	bytes   int // of their values, roughly
	// The counts at which the log is looked through.
	atRecords, atBytes int
}

// trim counts an entry and, once there are many, drops old ones.
func (l *runLog) trim(e *entry) {
	if e.frame.opener == nil {
		return
	}
	t := &l.trimming
	t.records++
	t.bytes += int(e.size)
	if t.records <= max(t.atRecords, keptRecords+keptRecords/slack) && t.bytes <= max(t.atBytes, keptBytes+keptBytes/slack) {
		return
	}
	l.drop(t.records-keptRecords, t.bytes-keptBytes)
	t.atRecords = t.records + keptRecords/slack
	t.atBytes = t.bytes + keptBytes/slack
}

// drop drops the oldest records of bodies that have ended, all of a body, until
// so many records and bytes are gone.
func (l *runLog) drop(records, bytes int) {
	gone := map[*frame]bool{}
	for i := range l.list {
		if records <= 0 && bytes <= 0 {
			break
		}
		if body := l.list[i].frame.outermostEnded(); body != nil {
			gone[body] = true
			records--
			bytes -= int(l.list[i].size)
		}
	}
	for body := range gone {
		body.opener.gone = append(body.opener.gone, int(body.slot))
	}
	kept := l.list[:0]
	for _, e := range l.list {
		if body := e.frame.outermostEnded(); body != nil && gone[body] {
			l.trimming.records--
			l.trimming.bytes -= int(e.size)
			continue
		}
		kept = append(kept, e)
	}
	clear(l.list[len(kept):])
	l.list = kept
	l.countReplies()
}

// countReplies counts the replies of the log again.
func (l *runLog) countReplies() {
	l.replies = replies{}
	for _, e := range l.list {
		if x := e.extra; x != nil {
			x.nextReply = nil
		}
	}
	for _, e := range l.list {
		l.replies.add(e)
	}
}

// outermostEnded returns the outermost body around an execution that has ended,
// or nil if none has.
func (f *frame) outermostEnded() *frame {
	var found *frame
	for ; f.opener != nil; f = f.opener.frame {
		if f.state == ended && f.opener.do == graph.Fork && f.opener.node.Spread.Each {
			found = f
		}
	}
	return found
}

// roughly returns about how many bytes a value takes, without looking far.
func roughly(v value.Value) int32 {
	if v.IsUndefined() {
		return 0
	}
	return int32(v.Footprint(256 << 10))
}
