package regex

import (
	"fmt"
	"strings"
)

const (
	// maxLinearCount is the largest count that Go's regexp accepts.
	maxLinearCount = 1000
	// maxLinearSize bounds the program that Go's regexp is asked to build,
	// because it writes counts out.
	maxLinearSize = 20000
)

// dialect writes the parts of a pattern that the two engines spell differently.
type dialect struct {
	any, none string
	keep      func(charset) charset // what of a set to write
	lineStart string
	lineEnd   string
	linear    bool
}

// linearDialect is the syntax of Go's regexp. Its texts hold no surrogates.
func linearDialect(multiline bool) dialect {
	d := dialect{
		any: `(?s:.)`, none: `[^\x00-\x{10FFFF}]`, keep: withoutSurrogates,
		lineStart: `\A`, lineEnd: `\z`, linear: true,
	}
	if multiline {
		d.lineStart, d.lineEnd = `(?m:^)`, `(?m:$)`
	}
	return d
}

// backtrackDialect is the syntax of regexp2 in its ECMAScript mode. Its texts
// are UTF-16 units, surrogates moved by shifted.
func backtrackDialect(multiline bool) dialect {
	d := dialect{
		any: `[\s\S]`, none: `(?!)`, keep: func(c charset) charset { return c },
		lineStart: `^`, lineEnd: `$`,
	}
	if multiline {
		d.lineStart, d.lineEnd = `(?<![^\n\r\u2028\u2029])`, `(?![^\n\r\u2028\u2029])`
	}
	return d
}

func withoutSurrogates(c charset) charset {
	if !c.overlaps(surrogateMin, surrogateMax) {
		return c
	}
	var out charset
	for _, s := range c {
		if s.lo < surrogateMin {
			out = append(out, span{s.lo, min(s.hi, surrogateMin-1)})
		}
		if s.hi > surrogateMax {
			out = append(out, span{max(s.lo, surrogateMax+1), s.hi})
		}
	}
	return out
}

// emit writes n to b.
func (d *dialect) emit(b *strings.Builder, n *node) {
	switch n.op {
	case opEmpty:
		b.WriteString("(?:)")
	case opSet:
		d.emitSet(b, n.set)
	case opSeq:
		for i := 0; i < len(n.subs); i++ {
			if r, ok := pair(n.subs[i:]); ok && d.linear {
				b.WriteRune(r)
				i++
				continue
			}
			d.emitWrapped(b, n.subs[i], n.subs[i].op == opAlt)
		}
	case opAlt:
		for i, s := range n.subs {
			if i > 0 {
				b.WriteByte('|')
			}
			d.emit(b, s)
		}
	case opGroup:
		b.WriteByte('(')
		d.emit(b, n.subs[0])
		b.WriteByte(')')
	case opRepeat:
		d.emitRepeat(b, n)
	case opLineStart:
		b.WriteString(d.lineStart)
	case opLineEnd:
		b.WriteString(d.lineEnd)
	case opWord:
		b.WriteString(`\b`)
	case opNotWord:
		b.WriteString(`\B`)
	case opLook:
		b.WriteString("(?")
		if n.behind {
			b.WriteByte('<')
		}
		if n.negative {
			b.WriteByte('!')
		} else {
			b.WriteByte('=')
		}
		d.emit(b, n.subs[0])
		b.WriteByte(')')
	case opBackref:
		// The group keeps a digit that follows from joining the number.
		fmt.Fprintf(b, `(?:\%d)`, n.index)
	}
}

func (d *dialect) emitWrapped(b *strings.Builder, n *node, wrap bool) {
	if wrap {
		b.WriteString("(?:")
	}
	d.emit(b, n)
	if wrap {
		b.WriteByte(')')
	}
}

func (d *dialect) emitRepeat(b *strings.Builder, n *node) {
	sub := n.subs[0]
	d.emitWrapped(b, sub, sub.op != opSet && sub.op != opGroup)
	switch {
	case n.min == 0 && n.max == unbounded:
		b.WriteByte('*')
	case n.min == 1 && n.max == unbounded:
		b.WriteByte('+')
	case n.min == 0 && n.max == 1:
		b.WriteByte('?')
	case n.max == unbounded:
		fmt.Fprintf(b, "{%d,}", n.min)
	case n.min == n.max:
		fmt.Fprintf(b, "{%d}", n.min)
	default:
		fmt.Fprintf(b, "{%d,%d}", n.min, n.max)
	}
	if n.lazy {
		b.WriteByte('?')
	}
}

func (d *dialect) emitSet(b *strings.Builder, set charset) {
	if len(set) == 1 && set[0] == fullSet[0] {
		b.WriteString(d.any)
		return
	}
	set = d.keep(set)
	if len(set) == 0 {
		b.WriteString(d.none)
		return
	}
	if u, ok := set.one(); ok {
		d.emitUnit(b, u)
		return
	}
	b.WriteByte('[')
	for _, s := range set {
		if !d.linear && s.lo < surrogateMin && s.hi >= surrogateMin {
			d.emitSpan(b, s.lo, surrogateMin-1)
			s.lo = surrogateMin
		}
		if !d.linear && s.lo <= surrogateMax && s.hi > surrogateMax {
			d.emitSpan(b, s.lo, surrogateMax)
			s.lo = surrogateMax + 1
		}
		d.emitSpan(b, s.lo, s.hi)
	}
	b.WriteByte(']')
}

// emitSpan writes a range with both ends on the same side of the surrogates.
func (d *dialect) emitSpan(b *strings.Builder, lo, hi uint16) {
	d.emitUnit(b, lo)
	if hi > lo {
		b.WriteByte('-')
		d.emitUnit(b, hi)
	}
}

func (d *dialect) emitUnit(b *strings.Builder, u uint16) {
	switch c := rune(u); {
	case isLetter(c) || isDigit(c):
		b.WriteByte(byte(u))
	case isSurrogate(u):
		b.WriteRune(shifted(c))
	case d.linear:
		fmt.Fprintf(b, `\x{%X}`, u)
	default:
		fmt.Fprintf(b, `\u%04X`, u)
	}
}
