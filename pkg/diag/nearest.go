package diag

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxDistance is the number of edits within which two names are taken for
// spellings of one another.
const maxDistance = 2

// Nearest returns the valid name that is closest to name, counted in inserted,
// dropped and changed characters and neighbours that changed places. It reports
// false where none is within two edits, or where that would change every
// character of name. Of two equally close names the alphabetically first is
// taken.
func Nearest(name string, valid []string) (string, bool) {
	return within(name, valid, maxDistance)
}

// Misspelt is Nearest for names of which others than the valid ones are
// possible too, so that only what is surely meant to be the same counts: one
// edit in names of up to five characters, none in those of up to two, and no
// names that differ in their digits alone.
func Misspelt(name string, valid []string) (string, bool) {
	limit := maxDistance
	switch n := utf8.RuneCountInString(name); {
	case n <= 2:
		return "", false
	case n <= 5:
		limit = 1
	}
	near, ok := within(name, valid, limit)
	return near, ok && withoutDigits(near) != withoutDigits(name)
}

func withoutDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, s)
}

func within(name string, valid []string, limit int) (string, bool) {
	word := []rune(name)
	best, bestDistance := "", limit+1
	for _, v := range valid {
		d := distance(word, []rune(v), limit)
		if d >= len(word) || d > bestDistance || d > limit {
			continue
		}
		if d < bestDistance || v < best {
			best, bestDistance = v, d
		}
	}
	return best, bestDistance <= limit
}

// Meant returns the hint for a name that [Nearest], or another function, found near to
// one that is not known; "" if it found none.
func Meant(near string, found bool) string {
	if !found {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", near)
}

// distance is Levenshtein's with neighbours that changed places counted as one
// edit, except that anything over limit comes out as limit+1, which lets long
// words that differ in length cost nothing.
func distance(a, b []rune, limit int) int {
	if d := len(a) - len(b); d > limit || -d > limit {
		return limit + 1
	}
	n := len(b) + 1
	var room [3 * 32]int // of most words; longer ones get more
	rows := room[:]
	if 3*n > len(rows) {
		rows = make([]int, 3*n)
	}
	before, last, row := rows[:n], rows[n:2*n], rows[2*n:3*n]
	for j := range row {
		row[j] = j
	}
	for i, ca := range a {
		before, last, row = last, row, before
		row[0] = i + 1
		least := row[0]
		for j, cb := range b {
			cost := last[j]
			if ca != cb {
				cost++
			}
			cost = min(cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && ca == b[j-1] && a[i-1] == cb {
				cost = min(cost, before[j-1]+1)
			}
			row[j+1] = cost
			least = min(least, cost)
		}
		if least > limit {
			return limit + 1
		}
	}
	return min(row[len(b)], limit+1)
}
