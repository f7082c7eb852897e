// Package textline makes texts fit on one line.
package textline

import (
	"strings"
	"unicode/utf8"
)

// Shorten cuts s to width code points, the last of them an ellipsis.
func Shorten(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	n := 0
	for i := range s {
		if n++; n == width {
			return s[:i] + "…"
		}
	}
	return s
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
