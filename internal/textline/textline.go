// Package textline makes texts fit on one line, and into bounds.
package textline

import (
	"strconv"
	"strings"
)

// Shorten cuts s to width code points, the last of them an ellipsis.
func Shorten(s string, width int) string {
	n, at := 0, 0
	for i := range s {
		if n++; n == width {
			at = i
		} else if n > width {
			return s[:at] + "…"
		}
	}
	return s
}

// Prefix returns s or, if it has more than n bytes, what is whole and valid of the
// first n and an ellipsis.
func Prefix(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// Count returns a number and its noun, in the plural where the number is not 1.
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// Clean replaces what would break a line or command the terminal.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
}
