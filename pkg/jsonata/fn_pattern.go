package jsonata

import (
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

var patternFunctions = []native{
	{"match", mustSignature("<s-f<s:o>n?:a<o>>"), 3, fnMatch},
	{"contains", mustSignature("<s-(sf):b>"), 2, fnContains},
	{"replace", mustSignature("<s-(sf)(sf)n?:s>"), 4, fnReplace},
	{"split", mustSignature("<s-(sf)n?:a<s>>"), 3, fnSplit},
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
		if err := ev.meter(matchBytes); err != nil {
			return value.Undef, err
		}
		parts := new(matchParts)
		if out == nil {
			out = parts.only[:0]
		}
		if out, err = ev.push(out, parts.object(m)); err != nil {
			return value.Undef, err
		}
		if limit >= 0 && float64(len(out)) >= limit {
			if err := m.last(); err != nil {
				return value.Undef, err
			}
		}
	}
	m.end()
	return sequence(out), nil
}

// matchParts is the memory of a match as $match returns it, and of the list of
// matches, which is mostly of one.
type matchParts struct {
	only    [1]value.Value
	entries [3]value.Entry
	groups  [4]value.Value
}

const matchBytes = 240

func (p *matchParts) object(m *matches) value.Value {
	p.entries = [...]value.Entry{
		{Key: "match", Value: m.match()},
		{Key: "index", Value: m.start()},
		{Key: "groups", Value: m.groups(p.groups[:0])},
	}
	return value.FromEntries(p.entries[:])
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
		found, err := re.re.MatchString(ev.ctx, searchTime(ev), s.Str())
		if err != nil {
			return value.Undef, regexError(ev, err)
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
		if out, err = ev.push(out, value.FromString(m.before(&from))); err != nil {
			return value.Undef, err
		}
		if limited && float64(len(out)) >= limit {
			if err := m.last(); err != nil {
				return value.Undef, err
			}
		}
	}
	if !limited || float64(len(out)) < limit {
		out = append(out, value.FromString(m.rest(from)))
	}
	m.end()
	return value.FromArray(out), nil
}

func splitString(ev *evaluator, s, sep string, most int) (value.Value, *Error) {
	n := min(strings.Count(s, sep)+1, most)
	if err := ev.cells(n); err != nil {
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
	if err := ev.cells(n); err != nil {
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
