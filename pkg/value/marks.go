package value

import "sort"

// mark is what the first walk through a text found out about a long string, array
// or object in it. The text of a value that is decoded level by level is walked
// through once for each level; with the marks of the first walk, which checks the
// text, the others pass over what is long.
type mark struct {
	start  int // of the quote or bracket that it begins with
	length int // with the quote or bracket that ends it

	escaped bool // a string with escapes

	// Of an array or object:
	spaced  bool  // it has white space between tokens
	flat    bool  // none of its members stays text when it is decoded
	members int   // repeated keys counted
	bytes   int64 // that decoding its members allocates, if none stays text
}

// markFrom is the length from which a string is worth a mark. Arrays and objects
// are from the length on from which they stay text.
const markFrom = 4 << 10

// markLevels is how deeply arrays and objects that get a mark are nested at most. A
// deeper one never stays text, so nobody passes over it. Without this bound the marks
// of a text of brackets would take twenty times its memory.
const markLevels = lazyLevels + 1

// markString notes the string from start to the position if it is long.
func (s *scanner) markString(start int, escaped bool) {
	if s.marking && s.pos-start >= markFrom {
		s.marks = append(s.marks, mark{start: start, length: s.pos - start, escaped: escaped})
	}
}

// marked returns the mark of what begins at the position, or nil.
func (s *scanner) marked() *mark {
	if s.marking || len(s.marks) == 0 {
		return nil
	}
	at := s.base + s.pos
	for s.marks[0].start < at {
		if s.marks = s.marks[1:]; len(s.marks) == 0 {
			return nil
		}
	}
	if s.marks[0].start != at {
		return nil
	}
	return &s.marks[0]
}

// marksFrom returns those of marks that are at a place or behind it.
func marksFrom(marks []mark, at int) []mark {
	return marks[sort.Search(len(marks), func(i int) bool { return marks[i].start >= at }):]
}
