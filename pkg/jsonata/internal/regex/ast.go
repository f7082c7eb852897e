package regex

import "unicode"

// op is the kind of a node.
type op uint8

const (
	opEmpty     op = iota
	opSet          // one unit out of set
	opSeq          // subs one after the other
	opAlt          // the first of subs that leads to a match
	opGroup        // capture number index around subs[0]
	opRepeat       // subs[0], min to max times
	opLineStart    // ^
	opLineEnd      // $
	opWord         // \b
	opNotWord      // \B
	opLook         // an assertion around subs[0]
	opBackref      // what capture number index holds
)

// unbounded is the max of a repeat without an upper bound, and what larger
// counts are read as.
const unbounded = 1<<31 - 1

// node is a piece of a parsed pattern. Parsed patterns are never changed.
type node struct {
	op       op
	set      charset
	subs     []*node
	index    int
	min, max int
	lazy     bool
	behind   bool
	negative bool
}

// nullable reports whether n may match without consuming anything. It answers
// true where it cannot know.
func (n *node) nullable() bool {
	switch n.op {
	case opSet:
		return false
	case opSeq:
		for _, s := range n.subs {
			if !s.nullable() {
				return false
			}
		}
		return true
	case opAlt:
		for _, s := range n.subs {
			if s.nullable() {
				return true
			}
		}
		return false
	case opGroup:
		return n.subs[0].nullable()
	case opRepeat:
		return n.min == 0 || n.subs[0].nullable()
	}
	return true
}

// anchored reports whether every match of n begins at the start of the text.
func (n *node) anchored() bool {
	switch n.op {
	case opLineStart:
		return true
	case opSeq:
		return len(n.subs) > 0 && n.subs[0].anchored()
	case opAlt:
		for _, s := range n.subs {
			if !s.anchored() {
				return false
			}
		}
		return true
	case opGroup:
		return n.subs[0].anchored()
	case opRepeat:
		return n.min > 0 && n.subs[0].anchored()
	}
	return false
}

// captures reports whether n holds a capture, and whether each of its captures
// takes part in every match of n.
func (n *node) captures() (some, always bool) {
	always = true
	for _, s := range n.subs {
		has, all := s.captures()
		some = some || has
		always = always && all
	}
	switch n.op {
	case opGroup:
		some = true
	case opAlt:
		always = always && !some
	case opRepeat:
		always = always && (n.min > 0 || !some)
	}
	return some, always
}

// linear reports whether Go's regexp can run n with the meaning that it has in
// JavaScript, on texts without surrogates. What it refuses: lookaround and
// backreferences, which it lacks; counts above its limit; loops over something
// that may be empty, and captures that a further turn of a loop leaves behind,
// where JavaScript forgets them and Go does not.
func (n *node) linear() bool {
	switch n.op {
	case opLook, opBackref:
		return false
	case opRepeat:
		sub := n.subs[0]
		if n.min > maxLinearCount || n.max != unbounded && n.max > maxLinearCount {
			return false
		}
		if n.min != n.max && sub.nullable() {
			return false
		}
		if some, always := sub.captures(); some && !always && n.max > 1 {
			return false
		}
	}
	for _, s := range n.subs {
		if !s.linear() {
			return false
		}
	}
	return true
}

// size estimates how many instructions n takes with its counts written out.
func (n *node) size() int {
	total := 1
	switch n.op {
	case opSet:
		return 1 + len(n.set)/4
	}
	for _, s := range n.subs {
		total += s.size()
	}
	if n.op == opRepeat {
		times := n.max
		if times == unbounded {
			times = n.min + 1
		}
		if total > maxLinearSize || times > maxLinearSize {
			return maxLinearSize + 1
		}
		total *= max(times, 1)
	}
	return min(total, maxLinearSize+1)
}

// uses reports whether n or anything in it is of one of the kinds.
func (n *node) uses(kinds ...op) bool {
	for _, k := range kinds {
		if n.op == k {
			return true
		}
	}
	for _, s := range n.subs {
		if s.uses(kinds...) {
			return true
		}
	}
	return false
}

// seesSurrogates reports whether some set of n holds a surrogate, so that texts
// with characters beyond the Basic Multilingual Plane must be matched by UTF-16
// units. The pairs that pair writes as one character do not count.
func (n *node) seesSurrogates() bool {
	if n.op == opSet {
		// Go reads the bytes of a lone surrogate as U+FFFD.
		return n.set.overlaps(surrogateMin, surrogateMax) || n.set.has(unicode.ReplacementChar)
	}
	if n.op == opSeq {
		for i := 0; i < len(n.subs); i++ {
			if _, ok := pair(n.subs[i:]); ok {
				i++
				continue
			}
			if n.subs[i].seesSurrogates() {
				return true
			}
		}
		return false
	}
	for _, s := range n.subs {
		if s.seesSurrogates() {
			return true
		}
	}
	return false
}

// literal returns the text that n is, where it is nothing but a plain text.
func (n *node) literal() (string, bool) {
	var b []byte
	subs := []*node{n}
	if n.op == opSeq {
		subs = n.subs
	}
	for i := 0; i < len(subs); i++ {
		if r, ok := pair(subs[i:]); ok {
			b = appendUnit(b, uint16(surrogateMin+(r-0x10000)>>10))
			b = appendUnit(b, uint16(surrogateLow+(r-0x10000)&0x3FF))
			i++
			continue
		}
		u, ok := subs[i].set.one()
		if subs[i].op != opSet || !ok || isSurrogate(u) {
			return "", false
		}
		b = appendUnit(b, u)
	}
	return string(b), len(b) > 0
}

// pair returns the character that the first two of nodes spell as a surrogate
// pair.
func pair(nodes []*node) (rune, bool) {
	if len(nodes) < 2 || nodes[0].op != opSet || nodes[1].op != opSet {
		return 0, false
	}
	hi, ok1 := nodes[0].set.one()
	lo, ok2 := nodes[1].set.one()
	if !ok1 || !ok2 || !isHigh(hi) || !isLow(lo) {
		return 0, false
	}
	return joinPair(hi, lo), true
}
