package regex

import (
	"context"
	"strings"
)

// Scanner walks the matches of a pattern in one string. Reset makes it ready,
// for the first string and for every further one, with the memory it has. It
// belongs to one goroutine and must not be copied.
type Scanner struct {
	re      *Regex
	s       string
	byUnits bool   // offsets in loc count UTF-16 units, not bytes
	units   []rune // s as UTF-16 units, where byUnits

	started bool
	loc     []int // pairs of offsets, relative to base
	base    int
	buf     [8]int // loc of patterns with few captures

	// The units of these places are known where byUnits only: they are rarely
	// needed, and cursor, the last place that was needed, compensates.
	prev   place // where the search for the current match began
	start  place // of the current match
	end    place
	cursor place
}

// Reset makes sc search s for r from the beginning.
func (sc *Scanner) Reset(r *Regex, s string) {
	sc.Clear()
	sc.re, sc.s = r, s
	sc.byUnits = r.plain == "" && !r.fits(s)
	if sc.byUnits {
		sc.units = appendUnits(sc.units, s)
	}
}

// keptUnits is how much memory for the units of a string is used again.
const keptUnits = 1 << 16

// Clear lets go of the pattern and the string. Only Reset makes sc ready again.
func (sc *Scanner) Clear() {
	sc.re, sc.s, sc.started, sc.loc, sc.base, sc.units = nil, "", false, nil, 0, sc.units[:0]
	if cap(sc.units) > keptUnits {
		sc.units = nil
	}
	sc.prev, sc.start, sc.end, sc.cursor = place{}, place{}, place{}, place{}
}

// Seek makes the next search begin at a UTF-16 index of the string, as setting
// lastIndex does in JavaScript, and forgets the current match. From beyond the
// end nothing is found.
func (sc *Scanner) Seek(index int) {
	at := sc.cursor.toUnit(sc.s, max(index, 0))
	sc.started = index > at.unit
	sc.loc = nil
	sc.prev, sc.start, sc.end, sc.cursor = at, at, at, at
}

// Next finds the next match. It returns false when there is none, and when the
// last match ended at the end of the string. A match may be empty; the search
// after it begins one UTF-16 unit later. The errors are ErrTimeout,
// ErrTooComplex, and the cause of ctx where that ended. A nil p is none.
func (sc *Scanner) Next(ctx context.Context, p Processor) (bool, error) {
	from := sc.end
	if sc.started {
		if sc.loc != nil && sc.start == sc.end {
			from = sc.unitOf(from)
			from = from.toUnit(sc.s, from.unit+1)
		}
		if from.byte >= len(sc.s) {
			return false, nil
		}
	}
	sc.started = true
	found, err := sc.find(ctx, p, from)
	if err != nil || !found {
		return false, err
	}
	sc.prev = sc.end
	sc.start = sc.at(sc.loc[0], sc.end)
	sc.end = sc.at(sc.loc[1], sc.start)
	return true, nil
}

// find looks for a match from on and leaves its offsets in loc.
func (sc *Scanner) find(ctx context.Context, p Processor, from place) (bool, error) {
	if sc.byUnits {
		loc := sc.room()
		ok, err := sc.re.findBacktrack(ctx, p, sc.units, from.unit, loc)
		if ok {
			sc.loc = loc
		}
		return ok, err
	}
	if from.half {
		// A pattern that never matches half a character cannot start within one.
		from = from.toUnit(sc.s, from.unit+1)
	}
	if plain := sc.re.plain; plain != "" {
		at := strings.Index(sc.s[from.byte:], plain)
		if at >= 0 {
			sc.loc = append(sc.buf[:0], at, at+len(plain))
			sc.base = from.byte
		}
		return at >= 0, nil
	}
	if sc.re.heavy(sc.s[from.byte:]) && ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if direct := sc.re.direct; direct != nil {
		loc := sc.room()
		if found, decided := direct.find(sc.s, from.byte, loc); decided {
			if found {
				sc.loc, sc.base = loc, 0
			}
			return found, nil
		}
	}
	loc, base, err := sc.re.findLinear(ctx, p, sc.s, from.byte)
	if loc != nil {
		sc.loc, sc.base = loc, base
	}
	return loc != nil, err
}

// room returns space for the offsets of a match.
func (sc *Scanner) room() []int {
	n := 2 * (sc.re.groups + 1)
	if n > len(sc.buf) && cap(sc.loc) >= n {
		return sc.loc[:n]
	}
	return slice(sc.buf[:], n)
}

// at turns an offset of loc into a place. Where units count, it walks there
// from another place nearby.
func (sc *Scanner) at(offset int, near place) place {
	if sc.byUnits {
		return near.toUnit(sc.s, offset)
	}
	return place{byte: sc.base + offset}
}

// unitOf returns p with its UTF-16 index known.
func (sc *Scanner) unitOf(p place) place {
	if sc.byUnits || p.half {
		return p
	}
	sc.cursor = sc.cursor.toByte(sc.s, p.byte)
	return sc.cursor
}

// Match returns the text of the current match.
func (sc *Scanner) Match() string { return cut(sc.s, sc.start, sc.end) }

// Group returns what capture i, counted from 1, holds in the current match, and
// whether it took part in it.
func (sc *Scanner) Group(i int) (string, bool) {
	if i < 0 || 2*i+1 >= len(sc.loc) || sc.loc[2*i] < 0 {
		return "", false
	}
	from := sc.at(sc.loc[2*i], sc.start)
	return cut(sc.s, from, sc.at(sc.loc[2*i+1], from)), true
}

// Start returns the UTF-16 index of the current match.
func (sc *Scanner) Start() int { return sc.unitOf(sc.start).unit }

// End returns the UTF-16 index behind the current match.
func (sc *Scanner) End() int { return sc.unitOf(sc.end).unit }

// Before returns the text between the current match and the one before it, or
// the place where the search began.
func (sc *Scanner) Before() string { return cut(sc.s, sc.prev, sc.start) }

// Rest returns the text behind the current match; all of the string where none
// was found yet.
func (sc *Scanner) Rest() string { return cut(sc.s, sc.end, place{byte: len(sc.s)}) }
