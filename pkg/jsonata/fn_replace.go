package jsonata

import (
	"strconv"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

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
	from := 0
	var counted textSize
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
			if out, err = m.substitute(out, with.Str(), &counted); err != nil {
				return value.Undef, err
			}
		} else if out, err = m.replaced(out, callableOf(with)); err != nil {
			return value.Undef, err
		}
		if err := ev.builds(out, &counted); err != nil {
			return value.Undef, err
		}
	}
	if count == 0 {
		return text, nil
	}
	out = append(out, m.rest(from)...)
	if limited && float64(count) >= limit {
		if err := m.last(); err != nil {
			return value.Undef, err
		}
	}
	if err := ev.text(len(out)); err != nil {
		return value.Undef, err
	}
	if with.Kind() == value.String {
		m.end()
	}
	return value.FromString(joined(string(out), 2)), nil
}

// replaced appends the result of a function for the match.
func (m *matches) replaced(out []byte, fn callable) ([]byte, *Error) {
	if fn == nil {
		return out, newError("D3012", -1, details{})
	}
	arg := m.object
	if m.fast != nil {
		var err *Error
		if arg, err = m.fast.object(m.ev); err != nil {
			return out, err
		}
	}
	v, err := applyTo(m.ev, fn, []value.Value{arg})
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
func (m *matches) substitute(out []byte, with string, counted *textSize) ([]byte, *Error) {
	var groups []value.Value
	known := false
	for {
		i := strings.IndexByte(with, '$')
		if i < 0 {
			return append(out, with...), nil
		}
		if err := m.ev.builds(out, counted); err != nil {
			return out, err
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
			groups, known = m.groups(nil).Elems(), true
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
