package picture

import (
	"math"
	"slices"
	"strings"
	"sync"
)

var (
	smallNumbers = [...]string{
		"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
		"thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
	}
	smallOrdinals = [...]string{
		"zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth",
		"thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
	}
	tens       = [...]string{"twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"}
	magnitudes = [...]string{"thousand", "million", "billion", "trillion"}
)

// appendWords writes the number that digits spell in British English, in lower
// case. Numbers beyond the trillions count in trillions of trillions.
func appendWords(b []byte, digits string, ordinal bool) []byte {
	return appendRest(b, digits, false, ordinal)
}

// appendRest writes a number, after something larger where joined is set.
func appendRest(b []byte, digits string, joined, ordinal bool) []byte {
	if len(digits) <= 2 {
		if joined {
			b = append(b, " and "...)
		}
		return appendSmall(b, digits, ordinal)
	}
	if joined {
		b = append(b, ", "...)
	}
	// The last zeros digits belong to the number behind the word.
	zeros, word := 2, "hundred"
	if n := len(digits); n > 3 {
		i := min((n-1)/3, len(magnitudes))
		zeros, word = 3*i, magnitudes[i-1]
	}
	cut := len(digits) - zeros
	b = append(append(appendRest(b, digits[:cut], false, false), ' '), word...)
	switch rest := strings.TrimLeft(digits[cut:], "0"); {
	case rest != "":
		return appendRest(b, rest, true, ordinal)
	case ordinal:
		return append(b, "th"...)
	}
	return b
}

// appendSmall writes a number below a hundred.
func appendSmall(b []byte, digits string, ordinal bool) []byte {
	v := 0
	for _, d := range []byte(digits) {
		v = v*10 + int(d-'0')
	}
	small := &smallNumbers
	if ordinal {
		small = &smallOrdinals
	}
	if v < 20 {
		return append(b, small[v]...)
	}
	word := tens[v/10-2]
	switch {
	case v%10 > 0:
		return append(append(append(b, word...), '-'), small[v%10]...)
	case ordinal:
		return append(append(b, word[:len(word)-1]...), "ieth"...)
	}
	return append(b, word...)
}

// wordValues holds the value of each word that appendWords can write.
var wordValues = sync.OnceValue(func() map[string]float64 {
	m := map[string]float64{"hundred": 100, "hundredth": 100}
	for i := range smallNumbers {
		m[smallNumbers[i]] = float64(i)
		m[smallOrdinals[i]] = float64(i)
	}
	for i, w := range tens {
		m[w] = float64(i+2) * 10
		m[w[:len(w)-1]+"ieth"] = float64(i+2) * 10
	}
	factor := 1.0
	for _, w := range magnitudes {
		factor *= 1e3
		m[w] = factor
		m[w+"th"] = factor
	}
	return m
})

// wordPattern is a regular expression, to be matched without regard to case,
// for what parseWords reads. Longer words come before those they begin with.
var wordPattern = sync.OnceValue(func() string {
	var words []string
	for w := range wordValues() {
		words = append(words, w)
	}
	slices.SortFunc(words, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return "(?:" + strings.Join(words, "|") + "|and|[-, ])+"
})

// parseWords adds up a number in words, NaN where a word is none of a number.
func parseWords(s string) float64 {
	values := wordValues()
	// Finished thousands and more; the last element is still being built.
	segments := []float64{0}
	found := false
	for word := range strings.FieldsFuncSeq(strings.ToLower(s), func(r rune) bool { return r == ' ' || r == '-' || r == ',' || r == '\t' || r == '\n' || r == '\r' }) {
		if word == "and" {
			continue
		}
		v, ok := values[word]
		if !ok {
			return math.NaN()
		}
		found = true
		last := &segments[len(segments)-1]
		switch {
		case v >= 100:
			*last *= v
		case *last >= 1000:
			segments = append(segments, v)
		default:
			*last += v
		}
	}
	if !found {
		return math.NaN()
	}
	sum := 0.0
	for _, v := range segments {
		sum += v
	}
	return sum
}
