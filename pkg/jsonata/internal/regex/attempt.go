package regex

import "unicode/utf8"

// attempt matches a direct pattern at one place, trying the ways that its
// steps have in the order of JavaScript.
type attempt struct {
	d     *direct
	s     string
	loc   []int
	cost  int // characters looked at
	limit int // of cost
}

// from matches the steps from step i on at s[at:] and returns the end of the
// match, or -1 if there is none or the limit was reached.
func (t *attempt) from(i, at int) int {
	for ; i < len(t.d.steps); i++ {
		step := &t.d.steps[i]
		switch step.kind {
		case opSet:
			n, end := step.run(t.s, at, step.atFirst())
			t.cost += n + 1
			if n < step.min || t.cost > t.limit {
				return -1
			}
			if !step.tries {
				at = end
			} else if step.lazy {
				return t.more(i, n, end)
			} else {
				return t.fewer(i, n, end)
			}
		case opGroup:
			t.loc[step.slot] = at
		case opLineStart:
			if at > 0 {
				return -1
			}
		case opLineEnd:
			if at < len(t.s) {
				return -1
			}
		default:
			if (isWordByte(t.s, at-1) != isWordByte(t.s, at)) != (step.kind == opWord) {
				return -1
			}
		}
	}
	return at
}

// atFirst is how many units a step takes before anything behind it is tried.
func (s *step) atFirst() int {
	if s.lazy {
		return s.min
	}
	return s.max
}

// run takes up to so many characters and returns their number and their end.
func (s *step) run(text string, at, most int) (n, end int) {
	for ; n < most && at < len(text); n++ {
		w := s.accepts(text, at)
		if w < 0 {
			break
		}
		at += w
	}
	return n, at
}

// open reports whether what follows step i can begin at a place.
func (t *attempt) open(i, at int) bool {
	follow := t.d.steps[i].follow
	return follow == 0 || at < len(t.s) && t.d.steps[follow].accepts(t.s, at) > 0
}

// fewer tries the rest behind n characters of step i, then behind fewer.
func (t *attempt) fewer(i, n, at int) int {
	for {
		if t.open(i, at) {
			if end := t.from(i+1, at); end >= 0 {
				return end
			}
		}
		t.cost++
		if n == t.d.steps[i].min || t.cost > t.limit {
			return -1
		}
		_, w := utf8.DecodeLastRuneInString(t.s[:at])
		at -= w
		n--
	}
}

// more tries the rest behind n characters of step i, then behind more.
func (t *attempt) more(i, n, at int) int {
	step := &t.d.steps[i]
	for {
		if t.open(i, at) {
			if end := t.from(i+1, at); end >= 0 {
				return end
			}
		}
		t.cost++
		if n == step.max || at == len(t.s) || t.cost > t.limit {
			return -1
		}
		w := step.accepts(t.s, at)
		if w < 0 {
			return -1
		}
		at += w
		n++
	}
}
