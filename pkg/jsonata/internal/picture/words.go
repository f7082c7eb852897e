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

// appendWords writes v in British English, in lower case. Numbers beyond the
// trillions count in trillions of trillions.
func appendWords(b []byte, v float64, ordinal bool) []byte {
	return appendRest(b, v, false, ordinal)
}

// appendRest writes v, after something larger where joined is set.
func appendRest(b []byte, v float64, joined, ordinal bool) []byte {
	if joined {
		if v < 100 {
			b = append(b, " and "...)
		} else {
			b = append(b, ", "...)
		}
	}
	rest := 0.0
	switch {
	case v < 20:
		if ordinal {
			return append(b, smallOrdinals[int(v)]...)
		}
		return append(b, smallNumbers[int(v)]...)
	case v < 100:
		word := tens[int(v)/10-2]
		switch ones := math.Mod(v, 10); {
		case ones > 0:
			return appendRest(append(append(b, word...), '-'), ones, false, ordinal)
		case ordinal:
			return append(append(b, word[:len(word)-1]...), "ieth"...)
		}
		return append(b, word...)
	case v < 1000:
		b = append(append(b, smallNumbers[int(v)/100]...), " hundred"...)
		rest = math.Mod(v, 100)
	default:
		factor, i := 1e3, 0
		for i < len(magnitudes)-1 && v >= factor*1e3 {
			factor *= 1e3
			i++
		}
		mantissa := math.Floor(v / factor)
		b = append(append(appendRest(b, mantissa, false, false), ' '), magnitudes[i]...)
		// The product is rounded by itself, so that machines that could fuse it
		// with the subtraction give the same words.
		rest = v - float64(mantissa*factor)
	}
	switch {
	case rest > 0:
		return appendRest(b, rest, true, ordinal)
	case ordinal:
		return append(b, "th"...)
	}
	return b
}

// wordValues gives the value of each word that appendWords can write.
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
