package value

import "sort"

// longMark is the place of a long string in a text. The text of a value that is
// decoded level by level is walked through once for each level; with the marks of
// the first walk the others pass over its long strings.
type longMark struct {
	start   int // of the quote before it
	length  int // with both quotes
	escaped bool
}

// markFrom is the length from which a string is worth a mark.
const markFrom = 4 << 10

// mark notes the string from start to the position if it is long.
func (s *scanner) mark(start int, escaped bool) {
	if s.marking && s.pos-start >= markFrom {
		s.marks = append(s.marks, longMark{start, s.pos - start, escaped})
	}
}

// marked returns the mark of the string that begins at the position.
func (s *scanner) marked() (longMark, bool) {
	if s.marking {
		return longMark{}, false
	}
	at := s.base + s.pos
	for len(s.marks) > 0 && s.marks[0].start < at {
		s.marks = s.marks[1:]
	}
	if len(s.marks) == 0 || s.marks[0].start != at {
		return longMark{}, false
	}
	return s.marks[0], true
}

// marksFrom returns those of marks that are at a place or behind it.
func marksFrom(marks []longMark, at int) []longMark {
	return marks[sort.Search(len(marks), func(i int) bool { return marks[i].start >= at }):]
}
