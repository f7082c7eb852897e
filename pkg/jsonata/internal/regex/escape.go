package regex

import "slices"

// escape reads what follows a backslash outside a class.
func (p *parser) escape(start int) (*node, bool, error) {
	if !p.more() {
		return nil, false, p.fail(start, "the pattern ends in a backslash that escapes nothing")
	}
	c := p.peek(0)
	switch c {
	case 'b':
		p.pos++
		return &node{op: opWord}, false, nil
	case 'B':
		p.pos++
		return &node{op: opNotWord}, false, nil
	case 'k':
		if p.named {
			p.pos++
			if p.accept("<") {
				if name, ok := p.groupName(); ok {
					if i := slices.Index(p.names, name); i >= 0 {
						return &node{op: opBackref, index: i + 1}, true, nil
					}
				}
			}
			return nil, false, p.fail(start, "\\k names no group of this pattern")
		}
	}
	if c >= '1' && c <= '9' {
		at := p.pos
		if v, _ := p.number(); v <= p.total {
			return &node{op: opBackref, index: v}, true, nil
		}
		p.pos = at
	}
	if set, ok := p.classEscape(); ok {
		return p.setNode(set), true, nil
	}
	return p.unit(p.characterEscape(false)), true, nil
}

// classEscape reads d, D, s, S, w or W.
func (p *parser) classEscape() (charset, bool) {
	var set charset
	switch p.peek(0) {
	case 'd', 'D':
		set = digitSet
	case 's', 'S':
		set = spaceSet
	case 'w', 'W':
		set = wordSet
	default:
		return nil, false
	}
	if p.peek(0) < 'a' {
		set = set.negate()
	}
	p.pos++
	return set, true
}

// characterEscape reads the escape of one unit; the backslash is behind it.
func (p *parser) characterEscape(inClass bool) rune {
	c := p.units[p.pos]
	p.pos++
	switch c {
	case 't':
		return '\t'
	case 'n':
		return '\n'
	case 'v':
		return '\v'
	case 'f':
		return '\f'
	case 'r':
		return '\r'
	case 'c':
		next := p.peek(0)
		if isLetter(next) || inClass && (isDigit(next) || next == '_') {
			p.pos++
			return next % 32
		}
		p.pos--
		return '\\'
	case 'x':
		return p.hex(2, c)
	case 'u':
		return p.hex(4, c)
	}
	if c >= '0' && c <= '7' {
		return p.octal(c - '0')
	}
	return c
}

// hex reads digits hexadecimal digits. Where there are fewer, the escape stands
// for its own letter.
func (p *parser) hex(digits int, letter rune) rune {
	var v rune
	for i := range digits {
		c := p.peek(i)
		switch {
		case isDigit(c):
			c -= '0'
		case c >= 'a' && c <= 'f':
			c += 10 - 'a'
		case c >= 'A' && c <= 'F':
			c += 10 - 'A'
		default:
			return letter
		}
		v = v<<4 | c
	}
	p.pos += digits
	return v
}

// octal reads the rest of an octal escape of at most \377.
func (p *parser) octal(v rune) rune {
	for i := 0; i < 2 && p.peek(0) >= '0' && p.peek(0) <= '7' && v*8+p.peek(0)-'0' <= 0xFF; i++ {
		v = v*8 + p.peek(0) - '0'
		p.pos++
	}
	return v
}

func isDigit(c rune) bool  { return c >= '0' && c <= '9' }
func isLetter(c rune) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// class reads a character class; its [ is behind the position.
func (p *parser) class(start int) (*node, error) {
	negated := p.accept("^")
	var set charset
	for {
		if !p.more() {
			return nil, p.fail(start, "this character class is not closed: expected ]")
		}
		if p.accept("]") {
			break
		}
		at := p.pos
		low, lowOne, err := p.classAtom()
		if err != nil {
			return nil, err
		}
		if p.peek(0) != '-' || p.peek(1) == ']' || p.peek(1) == -1 {
			set = append(set, low...)
			continue
		}
		p.pos++
		high, highOne, err := p.classAtom()
		if err != nil {
			return nil, err
		}
		if !lowOne || !highOne {
			// Annex B: a class at either end makes the dash a plain one.
			set = append(append(append(set, low...), high...), span{'-', '-'})
			continue
		}
		if low[0].lo > high[0].lo {
			return nil, p.fail(at, "the ends of this range are in the wrong order")
		}
		set = append(set, span{low[0].lo, high[0].lo})
	}
	set = set.normalize()
	if p.ignoreCase {
		set = set.foldClosure()
	}
	if negated {
		set = set.negate()
	}
	return &node{op: opSet, set: set}, nil
}

// classAtom reads one member of a class: one unit, or a whole class escape.
func (p *parser) classAtom() (set charset, one bool, err error) {
	start := p.pos
	c := p.units[p.pos]
	p.pos++
	if c != '\\' {
		return single(uint16(c)), true, nil
	}
	if !p.more() {
		return nil, false, p.fail(start, "the pattern ends in a backslash that escapes nothing")
	}
	if set, ok := p.classEscape(); ok {
		return set, false, nil
	}
	switch p.peek(0) {
	case 'b':
		p.pos++
		return single('\b'), true, nil
	case 'k':
		if p.named {
			return nil, false, p.fail(start, "\\k is not allowed in a class of a pattern with named groups")
		}
	}
	return single(uint16(p.characterEscape(true))), true, nil
}
