package cli

import (
	"errors"
	"regexp"
	"strings"
	"unicode"
)

// plainWord are the words that mean themselves in every shell.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./…-]+$`)

// shellWord quotes a word of a command line for a person to paste.
func shellWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// splitWords splits a command line into words as shells do: quotes hold a word
// together, and a backslash makes a space, a quote or a backslash part of a word.
// Nothing is expanded.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	begun := false
	quote := rune(0)
	runes := []rune(line)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case r == '\\' && quote != '\'' && i+1 < len(runes) && strings.ContainsRune(` '"\`, runes[i+1]):
			i++
			word.WriteRune(runes[i])
			begun = true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case unicode.IsSpace(r):
			if begun {
				words = append(words, word.String())
				word.Reset()
				begun = false
			}
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote is not closed")
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}
