package jsonata

import (
	"errors"

	"github.com/mcpgraph/mcpgraph/pkg/jsonata/internal/regex"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// matcher is a regular expression as a function: it takes a text and returns
// its first match.
type matcher struct{ re *regex.Regex }

func (m *matcher) arity() int { return 2 }

func (m *matcher) call(ev *evaluator, args []value.Value, _ value.Value) (value.Value, *Error) {
	if len(args) == 0 || args[0].IsUndefined() {
		return value.Undef, nil
	}
	text, err := stringOf(ev, args[0], false)
	if err != nil {
		return value.Undef, err
	}
	next := &nextMatch{}
	next.sc.Reset(m.re, text.Str())
	if len(args) > 1 && args[1].Kind() == value.Number {
		next.sc.Seek(int(max(args[1].Float(), 0)))
	}
	next.re = m.re
	return next.find(ev)
}

// nextMatch walks through the matches in a text. As a function it is the
// member next of a match.
type nextMatch struct {
	re    *regex.Regex
	sc    regex.Scanner
	begun bool
	empty bool // the last match was empty
}

func (n *nextMatch) arity() int { return 0 }

func (n *nextMatch) call(ev *evaluator, _ []value.Value, _ value.Value) (value.Value, *Error) {
	return n.find(ev)
}

// matchSteps is what a search for a match counts. It can take milliseconds, so
// the context is looked at every few dozen matches.
const matchSteps = 64

// step moves to the next match.
func (n *nextMatch) step(ev *evaluator) (bool, *Error) {
	if err := ev.spend(matchSteps); err != nil {
		return false, err
	}
	if n.empty && n.sc.Rest() != "" {
		return false, newError("D1004", -1, details{})
	}
	ok, err := n.sc.Next(ev.ctx, searchTime(ev))
	if err != nil {
		return false, regexError(ev, err)
	}
	if ok && n.begun && n.sc.Match() == "" {
		return false, newError("D1004", -1, details{})
	}
	n.begun = true
	n.empty = ok && n.sc.Match() == ""
	return ok, nil
}

// searchTime is the processor of long searches, or nil if it is not shared.
func searchTime(ev *evaluator) regex.Processor {
	if ev.opts.Processor == nil {
		return nil
	}
	return ev.opts.Processor
}

func regexError(ev *evaluator, err error) *Error {
	if errors.Is(err, regex.ErrTimeout) {
		e := stopped(-1, "a regular expression takes too long on its text")
		e.Err = err
		return e
	}
	if e := ev.cancelled(-1); e != nil {
		return e
	}
	e := stopped(-1, err.Error())
	e.Err = err
	return e
}

// find returns the next match as the object that matchers return.
func (n *nextMatch) find(ev *evaluator) (value.Value, *Error) {
	ok, err := n.step(ev)
	if !ok || err != nil {
		return value.Undef, err
	}
	return n.object(ev)
}

// object is the match as functions see it.
func (n *nextMatch) object(ev *evaluator) (value.Value, *Error) {
	if err := construct(ev, 14+n.re.Groups()); err != nil {
		return value.Undef, err
	}
	return value.FromEntries([]value.Entry{
		{Key: "match", Value: value.FromString(n.sc.Match())},
		{Key: "start", Value: value.FromFloat(float64(n.sc.Start()))},
		{Key: "end", Value: value.FromFloat(float64(n.sc.End()))},
		{Key: "groups", Value: n.groups(nil)},
		{Key: "next", Value: value.FromFunc(n)},
	}), nil
}

// groups returns what the groups of the match hold, in room where that is
// enough.
func (n *nextMatch) groups(room []value.Value) value.Value {
	count := n.re.Groups()
	if count > cap(room) {
		room = make([]value.Value, count)
	}
	room = room[:count]
	for i := range room {
		if g, ok := n.sc.Group(i + 1); ok {
			room[i] = value.FromString(g)
		}
	}
	return value.FromArray(room)
}

// matches walks through the matches of a pattern in a text.
type matches struct {
	ev   *evaluator
	text string
	fast *nextMatch // a regular expression, else nil
	own  nextMatch  // what fast leads to
	fn   callable   // the function to call for the next match
	args []value.Value
	// The match the walk stands at, where fn gave it.
	object value.Value
}

// newMatches begins a walk. Pattern is a function.
func newMatches(ev *evaluator, pattern value.Value, text string) *matches {
	fn := callableOf(pattern)
	re, ok := fn.(*matcher)
	if !ok {
		return &matches{ev: ev, text: text, fn: fn, args: []value.Value{value.FromString(text)}}
	}
	m := ev.idle
	ev.idle = nil
	if m == nil {
		m = &matches{}
	}
	m.ev, m.text, m.fast = ev, text, &m.own
	m.own.re = re.re
	m.own.sc.Reset(re.re, text)
	return m
}

// end releases a walk to which no match refers.
func (m *matches) end() {
	m.ev.idle = m
	m.own.sc.Clear()
	m.own.re, m.own.begun, m.own.empty = nil, false, false
	m.ev, m.text, m.fast, m.fn, m.args, m.object = nil, "", nil, nil, nil, value.Undef
}

// next moves to the next match.
func (m *matches) next() (bool, *Error) {
	if m.fast != nil {
		return m.fast.step(m.ev)
	}
	if m.fn == nil {
		return false, newError("T1010", -1, details{})
	}
	v, err := applyTo(m.ev, m.fn, m.args)
	if err != nil {
		return false, err
	}
	// Any two of its matches can have all of the text between them.
	if err := m.ev.text(len(m.text)); err != nil {
		return false, err
	}
	switch v.Kind() {
	case value.Undefined, value.Null:
		return false, nil
	case value.Bool:
		if !v.Bool() {
			return false, nil
		}
	}
	if v.Get("start").Kind() != value.Number && v.Get("end").Kind() != value.Number &&
		v.Get("groups").Kind() != value.Array && v.Get("next").Kind() != value.Func {
		return false, newError("T1010", -1, details{})
	}
	m.object = v
	m.fn = callableOf(v.Get("next"))
	m.args = nil
	return true, nil
}

func (m *matches) groups(room []value.Value) value.Value {
	if m.fast != nil {
		return m.fast.groups(room)
	}
	return m.object.Get("groups")
}

func (m *matches) match() value.Value {
	if m.fast != nil {
		return value.FromString(m.fast.sc.Match())
	}
	return m.object.Get("match")
}

func (m *matches) start() value.Value {
	if m.fast != nil {
		return value.FromFloat(float64(m.fast.sc.Start()))
	}
	return m.object.Get("start")
}

// before returns the text between the end of the last match and this one;
// from is where a walk of a function's matches stands, in UTF-16 units.
func (m *matches) before(from *int) string {
	if m.fast != nil {
		return m.fast.sc.Before()
	}
	start := int(optional(m.object.Get("start"), 0))
	text := units(m.text, *from, start)
	*from = int(optional(m.object.Get("end"), float64(start)))
	return text
}

// rest returns the text behind the last match.
func (m *matches) rest(from int) string {
	if m.fast != nil {
		return m.fast.sc.Rest()
	}
	return units(m.text, from, -1)
}

// last looks behind the last match that a limit allows: that the pattern
// matches nothing there is an error, whatever the limit.
func (m *matches) last() *Error {
	_, err := m.next()
	return err
}
