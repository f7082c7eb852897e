package durable

import (
	"encoding/json"
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// state is what a query tells of a run under way.
type state struct {
	Tool   string `json:"tool"`
	Digest string `json:"digest"`
	Seed   uint64 `json:"seed,string"`
	// Args are absent if they are long; see [Client.requestOf].
	Args    json.RawMessage `json:"args,omitempty"`
	Count   int             `json:"count"` // of the records
	Done    bool            `json:"done"`
	Waiting bool            `json:"waiting"` // for people alone
	// Questions are those from the index on that was asked for, as many as fit. More is
	// true if there are others behind them.
	Questions []question          `json:"questions,omitempty"`
	More      bool                `json:"more,omitempty"`
	Active    []executor.Activity `json:"active,omitempty"`
	Children  []childState        `json:"children,omitempty"`
	// childrenWait is true if the run does nothing but wait for children that all wait
	// for people. The client finds it out, not the worker.
	childrenWait bool
	// Queued are the servers of calls that only workers of their server make.
	Queued map[string]string `json:"queued,omitempty"`
	// Secrets are those of the caller of the run.
	Secrets []string `json:"secrets,omitempty"`
}

const (
	// maxActive is how many executions under way a query tells of.
	maxActive = 100
	// maxInlineArgs is how many bytes of arguments it tells.
	maxInlineArgs = 64 << 10
)

// state answers queryState, with questions from an index on.
func (d *driving) state(from int) (*state, error) {
	s := &state{
		Tool: d.in.Tool, Digest: d.source.Digest(), Seed: d.in.Seed,
		Count: d.run.NextIndex(), Done: d.run.Done(), Waiting: d.run.Parked(), Active: d.run.Active(maxActive),
		Children: d.childStates(), Queued: d.queued(), Secrets: d.in.Caller.secrets(),
	}
	if len(d.in.Args) <= maxInlineArgs || d.in.MaxValue > MaxValue { // which is kept outside
		s.Args = d.in.Args
	}
	all := d.run.Questions()
	size := 0
	for _, q := range all[min(max(from, 0), len(all)):] {
		one := d.questionOf(q)
		if size += len(one.Params); size > maxQuery && len(s.Questions) > 0 {
			s.More = true
			break
		}
		s.Questions = append(s.Questions, one)
	}
	return s, nil
}

// page returns records from an index on, as many as fit.
func (d *driving) page(from int) (*page, error) {
	p := &page{Records: []json.RawMessage{}, Next: from, Said: saidSince(d.said, from)}
	size := 0
	for rec := range d.run.Records(from) {
		text := d.recordText(rec)
		if size += len(text); size > maxQuery && len(p.Records) > 0 {
			return p, nil
		}
		p.Records, p.Next = append(p.Records, text), rec.Index+1
	}
	p.Done = d.run.Done()
	return p, nil
}

// maxRecord is how many bytes a record has at most in the answer to a query: Temporal
// takes no longer answer. A record has room for one value of MaxValue.
const maxRecord = MaxValue + 100_000

// recordText returns a record as JSON. A record that is too long has no values, but for
// those that a replay needs: nothing evaluates them again.
func (d *driving) recordText(rec executor.Record) json.RawMessage {
	text := raw(rec.Value())
	limit := max(d.in.MaxValue, maxRecord)
	if len(text) <= limit {
		return text
	}
	rec.Arguments = value.Undef
	if text = raw(rec.Value()); len(text) <= limit {
		return text
	}
	rec.Reply, rec.Output = value.Undef, leftOut(&rec)
	if rec.Err != nil {
		rec.Err = shortened(executor.FailureOf(rec.Err))
	}
	for i, v := range rec.Results {
		if !v.IsUndefined() {
			rec.Results[i] = value.NullValue
		}
	}
	return raw(rec.Value())
}

// leftOut returns what a record has in the place of an output that is too long.
func leftOut(rec *executor.Record) value.Value {
	switch {
	case rec.Output.IsUndefined():
		return value.Undef
	case rec.Event != executor.Opened:
		return value.FromString(fmt.Sprintf("(%d bytes, too many to be shown)", rec.Output.TextSize()))
	case rec.Do == graph.Fork && rec.Output.Kind() == value.Array: // a replay counts the items
		nulls := make([]value.Value, rec.Output.Len())
		for i := range nulls {
			nulls[i] = value.NullValue
		}
		return value.FromArray(nulls)
	}
	return value.FromEntries(nil)
}
