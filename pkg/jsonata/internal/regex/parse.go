package regex

import (
	"slices"
	"unicode"
)

// maxDepth bounds how deeply groups nest in a pattern.
const maxDepth = 200

// parser reads a pattern by the grammar of ECMA-262 22.2.1 with the additions
// of its Annex B.1.2, which every JavaScript engine has, without the u flag.
type parser struct {
	pattern    string
	units      []rune // the pattern as UTF-16 units
	pos        int
	depth      int
	ignoreCase bool
	groups     int      // captures opened so far
	total      int      // captures in the whole pattern
	names      []string // names of captures in order, "" for plain ones
	named      bool
}

// parse reads pattern. It returns the root and the number of captures.
func parse(pattern string, ignoreCase bool) (*node, int, error) {
	p := &parser{pattern: pattern, ignoreCase: ignoreCase, units: appendUnits(make([]rune, 0, len(pattern)), pattern)}
	for i, u := range p.units {
		if u > maxUnit {
			p.units[i] = u - 0x10000
		}
	}
	if err := p.countGroups(); err != nil {
		return nil, 0, err
	}
	n, err := p.alternatives()
	if err != nil {
		return nil, 0, err
	}
	if p.pos < len(p.units) {
		return nil, 0, p.fail(p.pos, "this ) closes no group")
	}
	return n, p.total, nil
}

func (p *parser) fail(unit int, reason string) error {
	at := place{}.toUnit(p.pattern, unit)
	return &SyntaxError{Pattern: p.pattern, Offset: at.byte, Reason: reason}
}

func (p *parser) more() bool { return p.pos < len(p.units) }

// peek returns the unit i places ahead, or -1 beyond the end.
func (p *parser) peek(i int) rune {
	if p.pos+i < len(p.units) {
		return p.units[p.pos+i]
	}
	return -1
}

func (p *parser) accept(text string) bool {
	for i := range len(text) {
		if p.peek(i) != rune(text[i]) {
			return false
		}
	}
	p.pos += len(text)
	return true
}

// countGroups counts the captures and collects their names beforehand: what
// \1 and \k mean depends on captures that come later.
func (p *parser) countGroups() error {
	inClass := false
	for i := 0; i < len(p.units); i++ {
		switch c := p.units[i]; {
		case c == '\\':
			i++
		case inClass:
			inClass = c != ']'
		case c == '[':
			inClass = true
		case c == '(':
			p.pos = i + 1
			if p.peek(0) != '?' {
				p.total++
				p.names = append(p.names, "")
				continue
			}
			if p.peek(1) != '<' || p.peek(2) == '=' || p.peek(2) == '!' {
				continue
			}
			p.pos += 2
			name, ok := p.groupName()
			if !ok {
				return p.fail(i, "the name of this group is not an identifier followed by >")
			}
			if slices.Contains(p.names, name) {
				return p.fail(i, "another group has this name already")
			}
			p.total++
			p.named = true
			p.names = append(p.names, name)
		}
	}
	p.pos = 0
	return nil
}

// groupName reads an identifier and the > behind it.
func (p *parser) groupName() (string, bool) {
	var b []byte
	for first := true; p.more(); first = false {
		c := p.units[p.pos]
		p.pos++
		if c == '>' {
			return string(b), len(b) > 0
		}
		if isHigh(uint16(c)) && p.more() && isLow(uint16(p.units[p.pos])) {
			c = joinPair(uint16(c), uint16(p.units[p.pos]))
			p.pos++
		}
		ok := c == '$' || c == '_' || unicode.IsLetter(c) || unicode.Is(unicode.Nl, c) || unicode.Is(unicode.Other_ID_Start, c)
		if !first {
			ok = ok || unicode.In(c, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Pc, unicode.Other_ID_Continue) || c == 0x200C || c == 0x200D
		}
		if !ok {
			return "", false
		}
		b = append(b, string(c)...)
	}
	return "", false
}

func (p *parser) alternatives() (*node, error) {
	var alts []*node
	for {
		n, err := p.sequence()
		if err != nil {
			return nil, err
		}
		alts = append(alts, n)
		if !p.accept("|") {
			break
		}
	}
	if len(alts) == 1 {
		return alts[0], nil
	}
	return &node{op: opAlt, subs: alts}, nil
}

func (p *parser) sequence() (*node, error) {
	var subs []*node
	for p.more() && p.peek(0) != '|' && p.peek(0) != ')' {
		start := p.pos
		n, repeatable, err := p.term()
		if err != nil {
			return nil, err
		}
		if n, err = p.quantified(n, repeatable, start); err != nil {
			return nil, err
		}
		subs = append(subs, n)
	}
	switch len(subs) {
	case 0:
		return &node{op: opEmpty}, nil
	case 1:
		return subs[0], nil
	}
	return &node{op: opSeq, subs: subs}, nil
}

// term reads an assertion or an atom, and reports whether a count may follow
// it.
func (p *parser) term() (n *node, repeatable bool, err error) {
	start := p.pos
	c := p.units[p.pos]
	p.pos++
	switch c {
	case '^':
		return &node{op: opLineStart}, false, nil
	case '$':
		return &node{op: opLineEnd}, false, nil
	case '(':
		return p.group(start)
	case '.':
		return &node{op: opSet, set: newlineSet.negate()}, true, nil
	case '[':
		n, err = p.class(start)
		return n, true, err
	case '\\':
		return p.escape(start)
	case '*', '+', '?':
		return nil, false, p.fail(start, "there is nothing before this to repeat")
	case '{':
		if _, _, ok := p.counts(); ok {
			return nil, false, p.fail(start, "there is nothing before this to repeat")
		}
	}
	return p.unit(c), true, nil
}

// unit returns the node for one literal unit.
func (p *parser) unit(c rune) *node { return p.setNode(single(uint16(c))) }

func (p *parser) setNode(set charset) *node {
	if p.ignoreCase {
		set = set.foldClosure()
	}
	return &node{op: opSet, set: set}
}

func (p *parser) group(start int) (n *node, repeatable bool, err error) {
	n = &node{op: opGroup}
	repeatable = true
	plain := false
	switch {
	case p.accept("?:"):
		plain = true
	case p.accept("?="):
		n = &node{op: opLook}
	case p.accept("?!"):
		n = &node{op: opLook, negative: true}
	case p.accept("?<="):
		n, repeatable = &node{op: opLook, behind: true}, false
	case p.accept("?<!"):
		n, repeatable = &node{op: opLook, behind: true, negative: true}, false
	case p.accept("?<"):
		p.groupName() // countGroups has checked it
	case p.peek(0) == '?':
		return nil, false, p.fail(start, "what follows (? starts no kind of group: expected :, =, !, <=, <! or <name>")
	}
	if n.op == opGroup && !plain {
		p.groups++
		n.index = p.groups
	}
	if p.depth++; p.depth > maxDepth {
		return nil, false, p.fail(start, "groups nest too deeply: at most 200 levels are allowed")
	}
	sub, err := p.alternatives()
	if err != nil {
		return nil, false, err
	}
	p.depth--
	if !p.accept(")") {
		return nil, false, p.fail(start, "this group is not closed: expected )")
	}
	if plain {
		return sub, true, nil
	}
	n.subs = []*node{sub}
	return n, repeatable, nil
}

// quantified reads the count behind n, if there is one.
func (p *parser) quantified(n *node, repeatable bool, start int) (*node, error) {
	at := p.pos
	low, high := 0, unbounded
	switch {
	case p.accept("*"):
	case p.accept("+"):
		low = 1
	case p.accept("?"):
		high = 1
	case p.peek(0) == '{':
		p.pos++
		var ok bool
		if low, high, ok = p.counts(); !ok {
			p.pos = at
			return n, nil
		}
	default:
		return n, nil
	}
	if !repeatable {
		return nil, p.fail(at, "there is nothing before this to repeat")
	}
	if low > high {
		return nil, p.fail(at, "the bounds of this count are in the wrong order")
	}
	return &node{op: opRepeat, subs: []*node{n}, min: low, max: high, lazy: p.accept("?")}, nil
}

// counts reads the rest of {n}, {n,} or {n,m}. Where there is none it leaves
// the position as it was.
func (p *parser) counts() (low, high int, ok bool) {
	start := p.pos
	low, ok = p.number()
	if ok {
		high = low
		if p.accept(",") {
			if high, ok = p.number(); !ok {
				high, ok = unbounded, true
			}
		}
		ok = p.accept("}")
	}
	if !ok {
		p.pos = start
	}
	return low, high, ok
}

// number reads decimal digits; what is above unbounded reads as unbounded.
func (p *parser) number() (int, bool) {
	start := p.pos
	v := 0
	for p.peek(0) >= '0' && p.peek(0) <= '9' {
		v = min(v*10+int(p.peek(0)-'0'), unbounded)
		p.pos++
	}
	return v, p.pos > start
}
