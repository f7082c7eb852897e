package regex

import (
	"strings"
	"unicode/utf8"
)

// direct is the form of everyday patterns: runs of sets, one behind the other.
// Most end where the next one can begin (\d+, [,;]\s*, (\w+)=(\d+)) and never
// have to try again; others try fewer or more ((.*?)\s+(\d+) bytes). They are
// matched step by step, several times faster than by regexp, which decides
// about everything else and about texts where this would take too long.
type direct struct {
	steps    []step
	prefix   string // what every match begins with, where that is plain text
	anchored bool
	tries    bool // some step has more than one way
}

// step is one piece of a direct pattern. Sets repeat; the others take nothing.
type step struct {
	kind     op // opSet, opLineStart, opLineEnd, opWord, opNotWord or opGroup
	set      charset
	ascii    [2]uint64 // the units of set below 0x80
	wide     bool      // set has units above
	min, max int
	lazy     bool
	tries    bool // fewer or more units may have to be tried
	follow   int  // the set that must accept the next unit; 0 where none has to
	slot     int  // of opGroup: the offset to note
}

// newDirect returns the direct form of n, or nil where it has none.
func newDirect(n *node, multiline bool) *direct {
	d := &direct{anchored: !multiline && n.anchored()}
	if !d.add(n, multiline) {
		return nil
	}
	for i := range d.steps {
		s := &d.steps[i]
		s.tries = s.kind == opSet && s.min != s.max && (s.lazy || !d.decidedFrom(i+1, s))
		s.follow = d.follow(i + 1)
		d.tries = d.tries || s.tries
	}
	for _, s := range d.steps {
		u, ok := s.set.one()
		if s.kind != opSet || !ok || s.min != 1 || s.max != 1 || isSurrogate(u) {
			break
		}
		d.prefix += string(rune(u))
	}
	return d
}

// add appends the steps of n.
func (d *direct) add(n *node, multiline bool) bool {
	switch n.op {
	case opEmpty:
		return true
	case opSeq:
		for i, s := range n.subs {
			// A surrogate pair is one character here, and a step is one unit.
			if _, ok := pair(n.subs[i:]); ok || !d.add(s, multiline) {
				return false
			}
		}
		return true
	case opGroup:
		d.steps = append(d.steps, step{kind: opGroup, slot: 2 * n.index})
		ok := d.add(n.subs[0], multiline)
		d.steps = append(d.steps, step{kind: opGroup, slot: 2*n.index + 1})
		return ok
	case opSet:
		d.steps = append(d.steps, newSetStep(n.set, 1, 1))
		return true
	case opRepeat:
		if n.subs[0].op != opSet {
			return false
		}
		s := newSetStep(n.subs[0].set, n.min, n.max)
		s.lazy = n.lazy
		d.steps = append(d.steps, s)
		return true
	case opLineStart, opLineEnd:
		d.steps = append(d.steps, step{kind: n.op})
		return !multiline
	case opWord, opNotWord:
		d.steps = append(d.steps, step{kind: n.op})
		return true
	}
	return false
}

func newSetStep(set charset, least, most int) step {
	s := step{kind: opSet, set: set, min: least, max: most}
	for u := range uint16(utf8.RuneSelf) {
		if set.has(u) {
			s.ascii[u/64] |= 1 << (u % 64)
		}
	}
	s.wide = set.overlaps(utf8.RuneSelf, maxUnit)
	return s
}

// follow returns the set that the unit after step next-1 must be of, or 0.
func (d *direct) follow(next int) int {
	for i, s := range d.steps[next:] {
		switch {
		case s.kind == opSet && s.min > 0:
			return next + i
		case s.kind != opGroup:
			return 0
		}
	}
	return 0
}

// decidedFrom reports whether taking as many units as possible is the only way
// to match for a run of a set: where it takes fewer, none of the steps behind
// it that could come next accepts the unit it left.
func (d *direct) decidedFrom(next int, run *step) bool {
	set := run.set
	for _, s := range d.steps[next:] {
		switch s.kind {
		case opSet:
			for _, r := range s.set {
				if set.overlaps(r.lo, r.hi) {
					return false
				}
			}
			if s.min > 0 {
				return true
			}
		case opLineEnd:
			return true
		case opWord:
			// Inside a run of one kind there is no word boundary; before it there
			// may be one.
			return run.min > 0 && (!set.overlapsAny(wordSet) || !set.overlapsAny(wordSet.negate()))
		case opLineStart, opNotWord:
			return false
		}
	}
	return true
}

func (c charset) overlapsAny(other charset) bool {
	for _, r := range other {
		if c.overlaps(r.lo, r.hi) {
			return true
		}
	}
	return false
}

// find searches s from the byte from on and stores the offsets of the match and
// its captures in loc. decided is false where the search takes more than a few
// steps for each byte: then the answer must come from elsewhere.
func (d *direct) find(s string, from int, loc []int) (found, decided bool) {
	budget := 8*(len(s)-from) + 256
	if d.tries {
		budget *= 4
	}
	for start := from; start <= len(s); {
		if d.anchored && start > 0 {
			return false, true
		}
		if d.prefix != "" {
			i := strings.Index(s[start:], d.prefix)
			if i < 0 {
				return false, true
			}
			start += i
		} else if start = d.skip(s, start); start < 0 {
			return false, true
		}
		end, cost := 0, 0
		if d.tries {
			try := attempt{d: d, s: s, loc: loc, limit: budget}
			end = try.from(0, start)
			cost = try.cost
		} else {
			end, cost = d.match(s, start, loc)
		}
		if end >= 0 {
			loc[0], loc[1] = start, end
			return true, true
		}
		if budget -= cost; budget < 0 {
			return false, false
		}
		if start < len(s) && s[start] >= utf8.RuneSelf {
			_, w := utf8.DecodeRuneInString(s[start:])
			start += w
		} else {
			start++
		}
	}
	return false, true
}

// skip returns the first place from start on where the first step, if it takes
// something at all, can begin; -1 if there is none.
func (d *direct) skip(s string, start int) int {
	if len(d.steps) == 0 {
		return start
	}
	first := &d.steps[0]
	if first.kind == opGroup && len(d.steps) > 1 {
		first = &d.steps[1]
	}
	if first.kind != opSet || first.min == 0 {
		return start
	}
	for start < len(s) {
		w := first.accepts(s, start)
		if w > 0 {
			return start
		}
		start -= w
	}
	return -1
}

// accepts returns the width of the character at s[i], negative where the set
// lacks it.
func (s *step) accepts(text string, i int) int {
	c := text[i]
	if c < utf8.RuneSelf {
		if s.ascii[c/64]&(1<<(c%64)) != 0 {
			return 1
		}
		return -1
	}
	r, w := utf8.DecodeRuneInString(text[i:])
	if s.wide && r <= maxUnit && s.set.has(uint16(r)) {
		return w
	}
	return -w
}

// match tries the steps at s[at:]. It returns the end of the match or -1, and
// how many characters it looked at.
func (d *direct) match(s string, at int, loc []int) (end, cost int) {
	cost = 1
	for i := range d.steps {
		step := &d.steps[i]
		switch step.kind {
		case opSet:
			n := 0
			for ; n < step.max && at < len(s); n++ {
				w := step.accepts(s, at)
				if w < 0 {
					break
				}
				at += w
			}
			if cost += n; n < step.min {
				return -1, cost
			}
		case opGroup:
			loc[step.slot] = at
		case opLineStart:
			if at > 0 {
				return -1, cost
			}
		case opLineEnd:
			if at < len(s) {
				return -1, cost
			}
		default:
			if (isWordByte(s, at-1) != isWordByte(s, at)) != (step.kind == opWord) {
				return -1, cost
			}
		}
	}
	return at, cost
}

func isWordByte(s string, i int) bool {
	if i < 0 || i >= len(s) {
		return false
	}
	c := rune(s[i])
	return isLetter(c) || isDigit(c) || c == '_'
}
