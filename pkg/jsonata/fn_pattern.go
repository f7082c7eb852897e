package jsonata

import (
	"errors"
	"strconv"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/jsonata/internal/regex"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

var patternFunctions = []native{
	{"match", mustSignature("<s-f<s:o>n?:a<o>>"), 3, fnMatch},
	{"contains", mustSignature("<s-(sf):b>"), 2, fnContains},
	{"replace", mustSignature("<s-(sf)(sf)n?:s>"), 4, fnReplace},
	{"split", mustSignature("<s-(sf)n?:a<s>>"), 3, fnSplit},
}

// matcher is a regular expression as a function: it takes a text and returns
// its first match.
type matcher struct{ re *regex.Regex }

func (m *matcher) arity() int { return 2 }

func (m *matcher) call(ev *evaluator, args []value.Value, _ value.Value) (value.Value, *Error) {
	if len(args) == 0 || args[0].IsUndefined() {
		return value.Undef, nil
	}
	text, err := ev.stringOf(args[0], false)
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

// step moves to the next match.
func (n *nextMatch) step(ev *evaluator) (bool, *Error) {
	if err := ev.spend(1); err != nil {
		return false, err
	}
	ok, err := n.sc.Next(ev.ctx)
	if err != nil {
		return false, ev.regexError(err)
	}
	if ok && n.begun && (n.empty || n.sc.Match() == "") {
		return false, newError("D1004", -1, details{})
	}
	n.begun = true
	n.empty = ok && n.sc.Match() == ""
	return ok, nil
}

func (ev *evaluator) regexError(err error) *Error {
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
	if err := ev.construct(12); err != nil {
		return value.Undef, err
	}
	return value.FromEntries([]value.Entry{
		{Key: "match", Value: value.FromString(n.sc.Match())},
		{Key: "start", Value: value.FromFloat(float64(n.sc.Start()))},
		{Key: "end", Value: value.FromFloat(float64(n.sc.End()))},
		{Key: "groups", Value: value.FromArray(n.groups())},
		{Key: "next", Value: value.FromFunc(n)},
	}), nil
}

func (n *nextMatch) groups() []value.Value {
	out := make([]value.Value, n.re.Groups())
	for i := range out {
		if g, ok := n.sc.Group(i + 1); ok {
			out[i] = value.FromString(g)
		}
	}
	return out
}

// matches walks through the matches of a pattern in a text.
type matches struct {
	ev   *evaluator
	text string
	fast *nextMatch // a regular expression
	fn   callable   // else the function to call for the next match
	args []value.Value
	// The match the walk stands at, where fn gave it.
	object value.Value
}

// newMatches begins a walk. Pattern is a function.
func newMatches(ev *evaluator, pattern value.Value, text string) *matches {
	m := &matches{ev: ev, text: text}
	fn := callableOf(pattern)
	if re, ok := fn.(*matcher); ok {
		m.fast = &nextMatch{re: re.re}
		m.fast.sc.Reset(re.re, text)
		return m
	}
	m.fn = fn
	m.args = []value.Value{value.FromString(text)}
	return m
}

// next moves to the next match.
func (m *matches) next() (bool, *Error) {
	if m.fast != nil {
		return m.fast.step(m.ev)
	}
	if m.fn == nil {
		return false, newError("T1010", -1, details{})
	}
	v, err := m.ev.apply(m.fn, m.args)
	if err != nil {
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

func (m *matches) groups() value.Value {
	if m.fast != nil {
		return value.FromArray(m.fast.groups())
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

func fnMatch(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	limit := optional(args[2], -1)
	if limit < 0 && !args[2].IsUndefined() {
		return value.Undef, newError("D3040", -1, details{value: args[2]})
	}
	var out []value.Value
	m := newMatches(ev, args[1], args[0].Str())
	for args[2].IsUndefined() || float64(len(out)) < limit {
		ok, err := m.next()
		if err != nil {
			return value.Undef, err
		}
		if !ok {
			break
		}
		if err := ev.meter(240); err != nil {
			return value.Undef, err
		}
		out = append(out, value.FromEntries([]value.Entry{
			{Key: "match", Value: m.match()},
			{Key: "index", Value: m.start()},
			{Key: "groups", Value: m.groups()},
		}))
	}
	return sequence(out), nil
}

func fnContains(ev *evaluator, args []value.Value) (value.Value, *Error) {
	s, token := args[0], args[1]
	if s.IsUndefined() || token.IsUndefined() {
		return value.Undef, nil
	}
	if err := ev.spend(len(s.Str()) >> 8); err != nil {
		return value.Undef, err
	}
	if token.Kind() == value.String {
		return value.FromBool(strings.Contains(s.Str(), token.Str())), nil
	}
	if re, ok := callableOf(token).(*matcher); ok {
		found, err := re.re.MatchString(ev.ctx, s.Str())
		if err != nil {
			return value.Undef, ev.regexError(err)
		}
		return value.FromBool(found), nil
	}
	found, err := newMatches(ev, token, s.Str()).next()
	return value.FromBool(found), err
}

func fnSplit(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	limited := !args[2].IsUndefined()
	limit := optional(args[2], -1)
	if limited && limit < 0 {
		return value.Undef, newError("D3020", -1, details{value: args[2]})
	}
	s := args[0].Str()
	if limited && limit == 0 {
		return value.FromArray(nil), nil
	}
	switch args[1].Kind() {
	case value.Undefined:
		return value.FromArray([]value.Value{args[0]}), nil
	case value.String:
		most := len(s) + 1
		if limited {
			most = int(min(limit, float64(most)))
		}
		if args[1].Str() == "" {
			return splitUnits(ev, s, most)
		}
		return splitString(ev, s, args[1].Str(), most)
	}
	var out []value.Value
	from := 0
	m := newMatches(ev, args[1], s)
	for !limited || float64(len(out)) < limit {
		ok, err := m.next()
		if err != nil {
			return value.Undef, err
		}
		if !ok {
			break
		}
		if len(out) == cap(out) {
			if err := ev.grows(len(out)); err != nil {
				return value.Undef, err
			}
		}
		out = append(out, value.FromString(m.before(&from)))
	}
	if !limited || float64(len(out)) < limit {
		out = append(out, value.FromString(m.rest(from)))
	}
	return value.FromArray(out), nil
}

func splitString(ev *evaluator, s, sep string, most int) (value.Value, *Error) {
	n := min(strings.Count(s, sep)+1, most)
	if err := ev.cells(0, n); err != nil {
		return value.Undef, err
	}
	if err := ev.spend(n>>3 + len(s)>>8); err != nil {
		return value.Undef, err
	}
	out := make([]value.Value, n)
	for k := range out {
		i := -1
		if len(sep) == 1 {
			i = strings.IndexByte(s, sep[0])
		} else {
			i = strings.Index(s, sep)
		}
		if i < 0 {
			out[k] = value.FromString(s)
			break
		}
		out[k] = value.FromString(s[:i])
		s = s[i+len(sep):]
	}
	return value.FromArray(out), nil
}

// splitUnits splits between all UTF-16 units.
func splitUnits(ev *evaluator, s string, most int) (value.Value, *Error) {
	n := min(len(s), most)
	if err := ev.cells(0, n); err != nil {
		return value.Undef, err
	}
	if err := ev.spend(n >> 3); err != nil {
		return value.Undef, err
	}
	out := make([]value.Value, 0, n)
	for i := 0; i < len(s) && len(out) < most; {
		r, w := value.DecodeRune(s[i:])
		if r <= 0xFFFF {
			out = append(out, value.FromString(s[i:i+w]))
		} else {
			r -= 0x10000
			out = append(out, value.FromString(string(value.AppendRune(nil, 0xD800+r>>10))))
			if len(out) < most {
				out = append(out, value.FromString(string(value.AppendRune(nil, 0xDC00+r&0x3FF))))
			}
		}
		i += w
	}
	return value.FromArray(out), nil
}

// units returns the part of s between two UTF-16 indices; to -1 is the end.
func units(s string, from, to int) string {
	var out []byte
	at := 0
	for i := 0; i < len(s) && (to < 0 || at < to); {
		r, w := value.DecodeRune(s[i:])
		if r <= 0xFFFF {
			if at >= from {
				out = append(out, s[i:i+w]...)
			}
			at++
		} else {
			r -= 0x10000
			for _, half := range [2]rune{0xD800 + r>>10, 0xDC00 + r&0x3FF} {
				if at >= from && (to < 0 || at < to) {
					out = value.AppendRune(out, half)
				}
				at++
			}
		}
		i += w
	}
	return value.JoinSurrogates(string(out))
}

func fnReplace(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	pattern, with := args[1], args[2]
	if pattern.Kind() == value.String && pattern.Str() == "" {
		return value.Undef, newError("D3010", -1, details{value: pattern})
	}
	limited := !args[3].IsUndefined()
	limit := optional(args[3], -1)
	if limited && limit < 0 {
		return value.Undef, newError("D3011", -1, details{value: args[3]})
	}
	s := args[0].Str()
	if limited && limit == 0 || pattern.IsUndefined() {
		return args[0], nil
	}
	if err := ev.spend(len(s) >> 8); err != nil {
		return value.Undef, err
	}
	if pattern.Kind() == value.String && with.Kind() == value.String {
		n := -1
		if limited {
			n = int(min(limit+0.999999, float64(len(s)+1)))
		}
		count := strings.Count(s, pattern.Str())
		if n >= 0 {
			count = min(count, n)
		}
		if count == 0 {
			return args[0], nil
		}
		if err := ev.text(len(s) + count*(len(with.Str())-len(pattern.Str()))); err != nil {
			return value.Undef, err
		}
		return value.FromString(joined(strings.Replace(s, pattern.Str(), with.Str(), n), 2)), nil
	}
	if pattern.Kind() == value.String {
		return value.Undef, newError("D3012", -1, details{value: with})
	}
	return replaceMatches(ev, args[0], pattern, with, limited, limit)
}

func replaceMatches(ev *evaluator, text, pattern, with value.Value, limited bool, limit float64) (value.Value, *Error) {
	var out []byte
	from, metered := 0, 0
	m := newMatches(ev, pattern, text.Str())
	count := 0
	for !limited || float64(count) < limit {
		ok, err := m.next()
		if err != nil {
			return value.Undef, err
		}
		if !ok {
			break
		}
		if count == 0 {
			out = make([]byte, 0, len(text.Str()))
		}
		count++
		out = append(out, m.before(&from)...)
		if with.Kind() == value.String {
			out = m.substitute(out, with.Str())
		} else if out, err = m.replaced(out, callableOf(with)); err != nil {
			return value.Undef, err
		}
		if len(out)-metered > 4096 {
			if err := ev.text(len(out)); err != nil {
				return value.Undef, err
			}
			metered = len(out)
		}
	}
	if count == 0 {
		return text, nil
	}
	out = append(out, m.rest(from)...)
	if err := ev.text(len(out)); err != nil {
		return value.Undef, err
	}
	return value.FromString(joined(string(out), 2)), nil
}

// replaced appends what a function gives for the match.
func (m *matches) replaced(out []byte, fn callable) ([]byte, *Error) {
	if fn == nil {
		return out, newError("D3012", -1, details{})
	}
	arg := m.object
	if m.fast != nil {
		arg = value.FromEntries([]value.Entry{
			{Key: "match", Value: m.match()},
			{Key: "start", Value: m.start()},
			{Key: "end", Value: value.FromFloat(float64(m.fast.sc.End()))},
			{Key: "groups", Value: m.groups()},
			{Key: "next", Value: value.FromFunc(m.fast)},
		})
	}
	v, err := m.ev.apply(fn, []value.Value{arg})
	if err != nil {
		return out, err
	}
	if v.Kind() != value.String {
		return out, newError("D3012", -1, details{value: v})
	}
	return append(out, v.Str()...), nil
}

// substitute appends a replacement text, in which $0 is the match, $1 and so
// on its groups and $$ a dollar sign.
func (m *matches) substitute(out []byte, with string) []byte {
	var groups []value.Value
	known := false
	for {
		i := strings.IndexByte(with, '$')
		if i < 0 {
			return append(out, with...)
		}
		out = append(out, with[:i]...)
		with = with[i+1:]
		switch {
		case strings.HasPrefix(with, "$"):
			out = append(out, '$')
			with = with[1:]
			continue
		case strings.HasPrefix(with, "0"):
			out = append(out, m.match().Str()...)
			with = with[1:]
			continue
		}
		if !known {
			groups, known = m.groups().Elems(), true
		}
		index, width := groupNumber(with, len(groups))
		if width == 0 {
			out = append(out, '$')
			continue
		}
		if index >= 1 && index <= len(groups) {
			out = append(out, groups[index-1].Str()...)
		}
		with = with[width:]
	}
}

// groupNumber reads the number of a group: as many digits as the number of
// groups has, or one less where that would be too large.
func groupNumber(s string, groups int) (index, width int) {
	most := len(strconv.Itoa(max(groups, 1)))
	n := 0
	for n < len(s) && n < most && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n == 0 {
		return 0, 0
	}
	index, _ = strconv.Atoi(s[:n])
	if n > 1 && n == most && index > groups {
		n--
		index, _ = strconv.Atoi(s[:n])
	}
	return index, len(strconv.Itoa(index))
}
