package picture

import (
	"strings"
	"unicode/utf8"
)

// Number is a compiled picture of $formatNumber, after fn:format-number of
// XPath and XQuery Functions and Operators 3.1, section 4.7.
type Number struct {
	symbols  symbols
	positive subpicture
	negative subpicture
}

// symbols are the properties of the decimal format. zero is the first of the
// ten digits.
type symbols struct {
	decimal, grouping, exponent string
	infinity, minus, nan        string
	percent, perMille           string
	digit, separator            string
	zero                        rune
}

// subpicture is one half of a picture: how numbers of one sign look.
type subpicture struct {
	prefix, suffix    string
	factor            float64 // 100 with a percent sign, 1000 with per-mille, else 1
	minInteger        int
	minFraction       int
	maxFraction       int
	scale             int // digits before the decimal separator of a mantissa
	hasExponent       bool
	minExponent       int
	integerInterval   int   // distance of separators that go on for ever, or 0
	integerPositions  []int // else: digits to the right of each separator, falling
	fractionPositions []int // digits to the left of each separator, rising
}

// CompileNumber reads a picture under options, whose names are those of the
// decimal format: decimal-separator, grouping-separator, exponent-separator,
// infinity, minus-sign, NaN, percent, per-mille, zero-digit, digit and
// pattern-separator; others are ignored. Errors are *Error with D3080 to D3093.
func CompileNumber(picture string, options map[string]string) (*Number, error) {
	n := &Number{symbols: symbols{
		decimal: ".", grouping: ",", exponent: "e", infinity: "Infinity", minus: "-", nan: "NaN",
		percent: "%", perMille: "‰", digit: "#", separator: ";", zero: '0',
	}}
	n.symbols.set(options)
	halves := []string{picture}
	if n.symbols.separator != "" {
		halves = strings.Split(picture, n.symbols.separator)
	}
	if len(halves) > 2 {
		return nil, fail("D3080", picture)
	}
	var err error
	if n.positive, err = n.symbols.compile(halves[0]); err != nil {
		return nil, err
	}
	if len(halves) == 2 {
		if n.negative, err = n.symbols.compile(halves[1]); err != nil {
			return nil, err
		}
		return n, nil
	}
	n.negative = n.positive
	n.negative.prefix = n.symbols.minus + n.negative.prefix
	return n, nil
}

func (s *symbols) set(options map[string]string) {
	texts := map[string]*string{
		"decimal-separator": &s.decimal, "grouping-separator": &s.grouping, "exponent-separator": &s.exponent,
		"infinity": &s.infinity, "minus-sign": &s.minus, "NaN": &s.nan, "percent": &s.percent,
		"per-mille": &s.perMille, "digit": &s.digit, "pattern-separator": &s.separator,
	}
	for name, value := range options {
		if text := texts[name]; text != nil {
			*text = value
		}
	}
	if r, size := utf8.DecodeRuneInString(options["zero-digit"]); size > 0 && r <= utf8.MaxRune-9 {
		s.zero = r
	}
}

func (s *symbols) isDigit(r rune) bool { return r >= s.zero && r <= s.zero+9 }

func (s *symbols) isOptional(r rune) bool { return is(r, s.digit) }

// isActive reports whether r has a meaning among the digits of a picture.
func (s *symbols) isActive(r rune) bool {
	return s.isDigit(r) || is(r, s.decimal) || is(r, s.exponent) || is(r, s.grouping) || is(r, s.digit) || is(r, s.separator)
}

// is reports whether r is all of symbol.
func is(r rune, symbol string) bool {
	first, size := utf8.DecodeRuneInString(symbol)
	return size == len(symbol) && size > 0 && r == first
}

// parts are the pieces of one sub-picture.
type parts struct {
	whole, prefix, active, suffix string
	integer, fraction, exponent   string
	hasDecimal, hasExponent       bool
}

// split cuts a sub-picture. The prefix ends at the first character that can
// begin a number, the suffix begins after the last one.
func (s *symbols) split(whole string) parts {
	p := parts{whole: whole, prefix: whole}
	first, last := -1, 0
	for i, r := range whole {
		if s.isActive(r) && !is(r, s.exponent) {
			if first < 0 {
				first = i
			}
			_, width := utf8.DecodeRuneInString(whole[i:])
			last = i + width
		}
	}
	if first < 0 {
		// Nothing but text, and maybe a lone exponent sign.
		first, last = 0, len(whole)
	}
	p.prefix, p.active, p.suffix = whole[:first], whole[first:last], whole[last:]
	mantissa := p.active
	if s.exponent != "" {
		// A sign just behind the digits is an exponent without digits.
		tail := whole[first:]
		if i := strings.Index(tail, s.exponent); i >= 0 && i <= len(p.active) {
			mantissa, p.hasExponent = p.active[:i], true
			p.exponent = p.active[min(i+len(s.exponent), len(p.active)):]
		}
	}
	p.integer = mantissa
	if s.decimal != "" {
		p.integer, p.fraction, p.hasDecimal = strings.Cut(mantissa, s.decimal)
	}
	return p
}

// repeated reports whether symbol stands in text more than once.
func repeated(text, symbol string) bool {
	return symbol != "" && strings.Index(text, symbol) != strings.LastIndex(text, symbol)
}

// check finds what breaks the rules of section 4.7.3. Where several do, the
// last rule of the specification determines the code.
func (s *symbols) check(p *parts) string {
	code := ""
	percent := s.percent != "" && strings.Contains(p.whole, s.percent)
	perMille := s.perMille != "" && strings.Contains(p.whole, s.perMille)
	is := func(broken bool, c string) {
		if broken {
			code = c
		}
	}
	is(repeated(p.whole, s.decimal), "D3081")
	is(repeated(p.whole, s.percent), "D3082")
	is(repeated(p.whole, s.perMille), "D3083")
	is(percent && perMille, "D3084")
	is(strings.IndexFunc(p.integer+p.fraction, func(r rune) bool { return s.isDigit(r) || s.isOptional(r) }) < 0, "D3085")
	is(strings.IndexFunc(p.active, func(r rune) bool { return !s.isActive(r) }) >= 0, "D3086")
	if p.hasDecimal {
		is(s.grouping != "" && (strings.HasSuffix(p.integer, s.grouping) || strings.HasPrefix(p.fraction, s.grouping)), "D3087")
	} else {
		is(s.grouping != "" && strings.HasSuffix(p.integer, s.grouping), "D3088")
	}
	is(s.grouping != "" && strings.Contains(p.whole, s.grouping+s.grouping), "D3089")
	if i := strings.IndexFunc(p.integer, s.isOptional); i >= 0 {
		is(strings.IndexFunc(p.integer[:i], s.isDigit) >= 0, "D3090")
	}
	if i := strings.LastIndexFunc(p.fraction, s.isOptional); i >= 0 {
		is(strings.IndexFunc(p.fraction[i:], s.isDigit) >= 0, "D3091")
	}
	if p.hasExponent {
		is(p.exponent != "" && (percent || perMille), "D3092")
		is(p.exponent == "" || strings.IndexFunc(p.exponent, func(r rune) bool { return !s.isDigit(r) }) >= 0, "D3093")
	}
	return code
}

// compile analyses one sub-picture by section 4.7.4.
func (s *symbols) compile(whole string) (subpicture, error) {
	p := s.split(whole)
	if code := s.check(&p); code != "" {
		return subpicture{}, fail(code, whole)
	}
	sub := subpicture{prefix: p.prefix, suffix: p.suffix, factor: 1, hasExponent: p.hasExponent}
	if s.percent != "" && strings.Contains(whole, s.percent) {
		sub.factor = 100
	} else if s.perMille != "" && strings.Contains(whole, s.perMille) {
		sub.factor = 1000
	}
	mandatory, optional, positions := s.count(p.integer)
	for i := range positions {
		positions[i] = mandatory + optional - positions[i]
	}
	sub.minInteger, sub.scale = mandatory, mandatory
	if sub.integerInterval = interval(positions); sub.integerInterval == 0 {
		sub.integerPositions = positions
	}
	hasOptional := optional > 0
	sub.minFraction, optional, sub.fractionPositions = s.count(p.fraction)
	sub.maxFraction = sub.minFraction + optional
	if sub.minInteger == 0 && sub.maxFraction == 0 {
		if sub.hasExponent {
			sub.minFraction, sub.maxFraction = 1, 1
		} else {
			sub.minInteger = 1
		}
	}
	if sub.hasExponent && sub.minInteger == 0 && hasOptional {
		sub.minInteger = 1
	}
	if sub.minInteger == 0 && sub.minFraction == 0 {
		sub.minFraction = 1
	}
	sub.minExponent = utf8.RuneCountInString(p.exponent)
	return sub, nil
}

// count returns the digits of a part, and how many stand left of each of its
// grouping separators.
func (s *symbols) count(part string) (mandatory, optional int, positions []int) {
	for _, r := range part {
		switch {
		case s.isDigit(r):
			mandatory++
		case s.isOptional(r):
			optional++
		case is(r, s.grouping):
			positions = append(positions, mandatory+optional)
		}
	}
	return mandatory, optional, positions
}
