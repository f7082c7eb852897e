package runs

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// packed are the records and values of a run.
type packed struct {
	steps []step
	text  []byte       // of all values
	long  []longString // that stand in it, in the order of their places
	// replies are those of steps, while a run is packed.
	replies []reply
}

// longString is a string that stands in the text of a run as "".
type longString struct {
	at   int
	text string
}

// span is a part of a text; an empty one stands for undefined, which has no JSON.
type span struct{ from, to uint32 }

// step is a record without its values, and where they are. What the graph knows of
// the node is not repeated.
type step struct {
	node, frame           string
	err                   *keptError // nil for most
	start, end            int64      // in nanoseconds since 1970
	arguments, output     span
	reply                 span // of the server, without secrets
	replyBytes            int32
	index, execution, try int32
	edge, attempts        int32
	fromCache             bool
	more                  *more // nil for most
}

// more is what only records of some kinds have.
type more struct {
	executor.Record      // without its values
	results         span // an object of those that are defined, by their index
	bodies          int  // how many results there were
	attempted       []attempt
}

// Sizes in bytes of what a run takes beside its texts. That of a run is rough.
const (
	runBytes  = 512
	stepBytes = int64(unsafe.Sizeof(step{}))
	moreBytes = int64(unsafe.Sizeof(more{}))
	tryBytes  = int64(unsafe.Sizeof(attempt{}))
	longBytes = int64(unsafe.Sizeof(longString{}))
)

// packer writes the records of a run. Many nodes hand on what they got, which is
// written once.
type packer struct {
	packed
	redact func(string) string // nil changes nothing
	room   int64               // bytes that all of it may take
	used   int64               // of these, beside text, steps and long
	known  written

	run             *executor.Run
	args, shownArgs value.Value // of the run, and without secrets

	shared []string // long strings, as they were and as they are kept

	apart bool
	held  *memory.Account
}

// packers hold the parts of runs while they are written.
var packers = sync.Pool{New: func() any { return new(packed) }}

// What a pooled packed may hold on to, in bytes.
const maxPooled = 256 << 10

// longRun is the size in bytes from which runs are packed one after the other.
const longRun = 256 << 10

// pack returns a run with the records that there are now. If it goes on, it is read
// apart: what is decoded of its values counts on held then, and not on the account
// of its call.
func (s *Store) pack(c Entry, apart bool, held *memory.Account) *Run {
	r := &Run{
		ID: c.ID, Tool: c.Run.Graph().Name, Began: c.Began, Executions: c.Run.Len(),
		caller: c.Caller, version: c.version(), graph: c.Run.Graph(), seed: c.Run.Seed(),
	}
	r.bytes = int64(runBytes + len(r.caller))
	buffer := packers.Get().(*packed)
	p := packer{
		packed: packed{buffer.steps[:0], buffer.text[:0], buffer.long[:0], buffer.replies[:0]}, redact: c.redactor(),
		room: min(s.limits.Bytes, math.MaxUint32) - r.bytes, apart: apart, held: held,
	}
	packing := false
	p.run, p.args = c.Run, c.Run.Args()
	p.shownArgs = c.Run.Masked("", "", p.args)
	r.args = p.pack(p.args)
	for rec := range c.Run.Records(0) {
		if !packing && p.taken() > longRun {
			packing = true
			s.packing.Lock()
		}
		if p.add(&rec); p.left() < 0 {
			break
		}
	}
	p.addReplies(s.limits.Bytes / replyShare)
	if p.left() < 0 {
		r.truncate()
	} else {
		r.bytes += p.taken()
		r.steps, r.text, r.long = slices.Clone(p.steps), string(p.text), slices.Clone(p.long)
	}
	if int64(cap(p.text))+stepBytes*int64(cap(p.steps))+longBytes*int64(cap(p.long)+cap(p.replies)) <= maxPooled {
		clear(p.steps)
		clear(p.long)
		clear(p.replies)
		*buffer = p.packed
		packers.Put(buffer)
	}
	if packing {
		s.packing.Unlock()
	}
	return r
}

// redactor returns what takes secrets out of the run, or nil if there are none.
func (c Entry) redactor() func(string) string {
	if c.Secrets == nil {
		return nil
	}
	return c.Secrets.Redactor()
}

// version returns the digest of the file; empty if it is not known.
func (c Entry) version() string {
	if c.Program == nil {
		return ""
	}
	return c.Program.Digest()
}

// taken returns how many bytes are taken so far.
func (p *packer) taken() int64 {
	return p.used + int64(len(p.text)) + stepBytes*int64(len(p.steps)) + longBytes*int64(len(p.long))
}

// left returns how many bytes there are for more, less than 0 if there are
// already too many.
func (p *packer) left() int64 { return p.room - p.taken() }

// add packs a record.
func (p *packer) add(rec *executor.Record) {
	st := step{
		node: rec.Node, frame: rec.Frame, start: nanoseconds(rec.Start), end: nanoseconds(rec.End),
		index: int32(rec.Index), execution: int32(rec.Execution), try: int32(rec.Try),
		edge: int32(rec.Edge), attempts: int32(rec.Attempts), fromCache: rec.FromCache,
		arguments: p.pack(p.run.Masked(rec.Server, rec.Tool, rec.Arguments)), output: p.pack(rec.Output),
	}
	if rec.Err != nil {
		st.err = keepError(rec.Err, p.redact)
	}
	p.used += st.err.size() + int64(len(st.frame))
	if rec.Event != executor.Done || rec.Results != nil || rec.Failed != nil || rec.AttemptTimes != nil || rec.Pinned || rec.Unsent != nil {
		m := &more{Record: *rec, bodies: len(rec.Results), results: p.results(rec.Results)}
		m.Arguments, m.Output, m.Reply, m.Err, m.Results, m.AttemptTimes = value.Undef, value.Undef, value.Undef, nil, nil, nil
		m.Failed = slices.Clone(rec.Failed)
		for _, text := range rec.Unsent {
			p.used += int64(len(text))
		}
		p.addAttempts(m, rec.AttemptTimes)
		p.used += moreBytes + int64(len(rec.Path)+8*len(rec.Failed))
		st.more = m
	}
	st.replyBytes = int32(rec.ReplyBytes)
	if !rec.Reply.IsUndefined() {
		p.replies = append(p.replies, reply{rec.Reply, len(p.steps)})
	}
	p.steps = append(p.steps, st)
}

// results packs the results of bodies.
func (p *packer) results(list []value.Value) span {
	b := value.NewBuilder(0)
	for i, v := range list {
		if !v.IsUndefined() {
			b.Set(strconv.Itoa(i), v)
		}
	}
	if b.Len() == 0 {
		return span{}
	}
	return p.pack(b.Value())
}

// pack writes a value, unless it is there or there is no room for it.
func (p *packer) pack(v value.Value) span {
	if v.IsUndefined() {
		return span{}
	}
	if value.Same(v, p.args) { // many nodes hand them on
		v = p.shownArgs
	}
	if at, ok := p.known.get(v); ok {
		return at
	}
	// What the value has of the long strings that are there is not written again.
	if left := p.left(); left < 0 || v.LongerThan(int(left+p.used)) {
		p.used = math.MaxInt64 / 2
		return span{}
	}
	from := len(p.text)
	p.text = p.shown(v).AppendCut(p.text, longValue, p.cut)
	at := span{uint32(from), uint32(len(p.text))}
	p.known.put(v, at)
	return at
}

// shown returns the value without secrets.
func (p *packer) shown(v value.Value) value.Value {
	if p.redact == nil {
		return v
	}
	if p.apart {
		if again, err := value.ParseLazy(v.JSON()); err == nil {
			v = again.Metered(p.held)
		}
	}
	return v.Rewritten(p.redact)
}

// cut keeps a long string that stands at a place of the text, if there is room
// for it.
func (p *packer) cut(at int, s string) {
	for i := 0; i < len(p.shared); i += 2 {
		if was := p.shared[i]; len(was) == len(s) && unsafe.StringData(was) == unsafe.StringData(s) {
			p.long = append(p.long, longString{at, p.shared[i+1]})
			return
		}
	}
	if p.used += int64(len(s)); p.left() < 0 {
		return
	}
	own := strings.Clone(s)
	p.long = append(p.long, longString{at, own})
	if len(p.shared) < 2*maxWritten {
		p.shared = append(p.shared, s, own)
	}
}

// written are the long arrays and objects of a run, and where they are.
type written []struct {
	value value.Value
	at    span
}

const (
	longValue  = 1 << 10 // bytes from which a value is remembered
	maxWritten = 16
)

func (w written) get(v value.Value) (span, bool) {
	if v.Kind() == value.Array || v.Kind() == value.Object {
		for _, one := range w {
			if value.Same(one.value, v) {
				return one.at, true
			}
		}
	}
	return span{}, false
}

func (w *written) put(v value.Value, at span) {
	if (v.Kind() == value.Array || v.Kind() == value.Object) && len(*w) < maxWritten && v.LongerThan(longValue) {
		*w = append(*w, struct {
			value value.Value
			at    span
		}{v, at})
	}
}

// nanoseconds returns the time as a number, 0 for none.
func nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func timeOf(nanoseconds int64) time.Time {
	if nanoseconds == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanoseconds)
}

// record returns the record of a step.
func (r *Run) record(st *step) (rec executor.Record, err error) {
	if st.more != nil {
		rec = st.more.Record
		rec.AttemptTimes = st.more.times()
	}
	rec.Node, rec.Frame = st.node, st.frame
	rec.Index, rec.Execution, rec.Try = int(st.index), int(st.execution), int(st.try)
	rec.Start, rec.End = timeOf(st.start), timeOf(st.end)
	rec.Edge, rec.Attempts, rec.FromCache = int(st.edge), int(st.attempts), st.fromCache
	var errs [4]error
	rec.Arguments, errs[0] = r.value(st.arguments)
	rec.Output, errs[1] = r.value(st.output)
	rec.ReplyBytes = int(st.replyBytes)
	if rec.Reply, errs[3] = r.value(st.reply); !rec.Reply.IsUndefined() {
		rec.ReplyBytes = 0
	}
	if st.err != nil {
		rec.Err = st.err
	}
	if st.more != nil && st.more.bodies > 0 {
		rec.Results = make([]value.Value, st.more.bodies)
		var v value.Value
		v, errs[2] = r.value(st.more.results)
		for _, e := range v.Entries() {
			i, _ := strconv.Atoi(e.Key)
			rec.Results[i] = e.Value
		}
	}
	return rec, errors.Join(errs[:]...)
}

// value reads what was packed.
func (r *Run) value(at span) (value.Value, error) {
	if at.from == at.to {
		return value.Undef, nil
	}
	long := r.longIn(at)
	if len(long) == 0 {
		return value.ParseLazy(r.text[at.from:at.to])
	}
	text, from := make([]byte, 0, r.sizeOf(at)), int(at.from)
	for _, l := range long {
		text = append(text, r.text[from:l.at]...)
		text = value.AppendString(text, l.text)
		from = l.at + len(`""`)
	}
	return value.ParseLazyBytes(append(text, r.text[from:at.to]...))
}

// longIn returns the long strings of a part of the text.
func (r *Run) longIn(at span) []longString {
	after := func(place uint32) int {
		i, _ := slices.BinarySearchFunc(r.long, int(place), func(l longString, place int) int { return l.at - place })
		return i
	}
	return r.long[after(at.from):after(at.to)]
}

// sizeOf returns how many bytes of JSON a part of the text stands for, and a few
// more.
func (r *Run) sizeOf(at span) int {
	size := int(at.to-at.from) + 32
	for _, l := range r.longIn(at) {
		size += value.StringSize(l.text)
	}
	return size
}
