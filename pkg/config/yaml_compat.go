package config

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// The YAML library departs from YAML 1.2 and JSON in ways that change the
// meaning of a file: it takes the characters U+0085, U+2028 and U+2029 for line
// breaks (as YAML 1.1 did), and it refuses the directive %YAML 1.2 and escapes
// of UTF-16 surrogates, which is how JSON writes characters beyond U+FFFF.
// Before it reads a file the directive becomes a comment, and the others are
// replaced by characters for private use that the file does not hold, one for
// one, so that columns stay what they are; undo puts them back into each
// string.

var (
	foreignBreaks   = []string{"\u0085", "\u2028", "\u2029"}
	surrogateEscape = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\\u[dD][89a-fA-F][0-9a-fA-F]{2}`)
	})
	replacedEscape = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\\u[eE][89a-fA-F][0-9a-fA-F]{2}`)
	})
	longPrivateUse = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\\U0000[eE][89a-fA-F]`)
	})
	directive = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\A(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))*%YAML[ \t]+1\.[0-9]+[ \t\r\n]`)
	})
	firstPlaceholder      = rune(0xE800) // stands for the surrogate U+D800
	lastPlaceholder       = rune(0xEFFF)
	placeholderOffset     = firstPlaceholder - 0xD800
	firstBreakPlaceholder = rune(0xF0000)
)

// makeCompatible returns the text for the library to read and, where that is
// not the source itself, the function that turns a string read from it into the
// text of the source. double is whether the string was in double quotes.
func makeCompatible(source []byte) ([]byte, func(s string, double bool) string) {
	if bytes.Contains(source, []byte("%YAML")) {
		source = directive().ReplaceAllFunc(source, func(head []byte) []byte {
			head = bytes.Clone(head)
			head[bytes.LastIndexByte(head, '%')] = '#'
			return head
		})
	}
	text, undoBreaks := replaceBreaks(source)
	text, undoSurrogates := replaceSurrogates(text)
	if undoBreaks == nil && undoSurrogates == nil {
		return text, nil
	}
	return text, func(s string, double bool) string {
		if undoSurrogates != nil {
			s = undoSurrogates(s, double)
		}
		if undoBreaks != nil {
			s = undoBreaks.Replace(s)
		}
		return s
	}
}

func replaceBreaks(source []byte) ([]byte, *strings.Replacer) {
	var there, back []string
	next := firstBreakPlaceholder
	for _, b := range foreignBreaks {
		if !bytes.Contains(source, []byte(b)) {
			continue
		}
		for bytes.ContainsRune(source, next) {
			next++
		}
		there, back = append(there, b, string(next)), append(back, string(next), b)
		next++
	}
	if there == nil {
		return source, nil
	}
	return []byte(strings.NewReplacer(there...).Replace(string(source))), strings.NewReplacer(back...)
}

func replaceSurrogates(source []byte) ([]byte, func(string, bool) string) {
	if !bytes.Contains(source, []byte(`\u`)) || !surrogateEscape().Match(source) || replacedEscape().Match(source) || longPrivateUse().Match(source) ||
		bytes.ContainsFunc(source, isPlaceholder) {
		return source, nil
	}
	text := surrogateEscape().ReplaceAllFunc(source, func(e []byte) []byte {
		e = bytes.Clone(e)
		e[2]++ // D becomes E
		return e
	})
	return text, func(s string, double bool) string {
		if double && strings.ContainsFunc(s, isPlaceholder) {
			s = restoreSurrogates(s)
		}
		// Where no escape was meant: behind a backslash, or in other quotes.
		return replacedEscape().ReplaceAllStringFunc(s, func(e string) string {
			return e[:2] + string(e[2]-1) + e[3:]
		})
	}
}

func isPlaceholder(r rune) bool { return r >= firstPlaceholder && r <= lastPlaceholder }

// restoreSurrogates returns the string with surrogates in place of what stands
// for them: a pair becomes its character, a lone one its generalised UTF-8
// form.
func restoreSurrogates(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !isPlaceholder(r) {
			out = append(out, s[i:i+size]...)
			i += size
			continue
		}
		r -= placeholderOffset
		i += size
		next, size := utf8.DecodeRuneInString(s[i:])
		if isPlaceholder(next) && utf16.DecodeRune(r, next-placeholderOffset) != utf8.RuneError {
			r = utf16.DecodeRune(r, next-placeholderOffset)
			i += size
		}
		out = value.AppendRune(out, r)
	}
	return string(out)
}
