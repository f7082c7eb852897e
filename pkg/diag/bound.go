package diag

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// maxToken is how many bytes a name or other word of a file may have in a
	// message; a longer one is cut to shownToken code points.
	maxToken   = 256
	shownToken = 80
	// maxSentence is how many bytes a message, hint or note may have.
	maxSentence = 2000
	// maxRelated is how many other places a diagnostic may name.
	maxRelated = 10
)

// Quote quotes a name or other text of a file for a message. It cuts a text that is
// too long for one.
func Quote(s string) string {
	if len(s) <= maxToken {
		return strconv.Quote(s)
	}
	return strconv.Quote(firstRunes(s, shownToken)) + "…"
}

// Sentence cuts the words and quoted texts of a sentence that are too long for one,
// and then the sentence itself, so that no part of a file is repeated at length.
func Sentence(s string) string {
	if len(s) <= maxToken {
		return s
	}
	var b strings.Builder
	for len(s) > 0 && b.Len() <= maxSentence {
		n := tokenLength(s)
		if token := s[:n]; n <= maxToken {
			b.WriteString(token)
		} else {
			b.WriteString(firstRunes(token, shownToken))
			if token[0] == '"' {
				b.WriteByte('"')
			}
			b.WriteString("…")
		}
		s = s[n:]
	}
	if b.Len() > maxSentence {
		const mark = "…"
		return validPrefix(b.String(), maxSentence-len(mark)) + mark
	}
	return b.String()
}

// tokenLength is how many bytes the first quoted text of s has, or its first word,
// or the spaces before that.
func tokenLength(s string) int {
	if s[0] == '"' {
		for i := 1; i < len(s); i++ {
			switch s[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
	}
	if n := strings.IndexFunc(s, func(r rune) bool { return r != ' ' }); n > 0 {
		return n
	}
	for i := 1; i < len(s); i++ {
		if s[i] == ' ' || s[i] == '"' {
			return i
		}
	}
	return len(s)
}

// firstRunes returns the first code points of s.
func firstRunes(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// validPrefix returns the first bytes of s, without a code point that is cut.
func validPrefix(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// bounded returns the diagnostic with its texts as Sentence cuts them.
func (d Diagnostic) bounded() Diagnostic {
	d.Message, d.Hint = Sentence(d.Message), Sentence(d.Hint)
	if len(d.Related) > maxRelated {
		d.Related = d.Related[:maxRelated]
	}
	for i, r := range d.Related {
		if len(r.Message) > maxToken {
			d.Related[i].Message = Sentence(r.Message)
		}
	}
	return d
}
