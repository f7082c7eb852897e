package picture

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Integer is a compiled picture of $formatInteger and $parseInteger, after
// fn:format-integer of XPath and XQuery Functions and Operators 3.1, section 4.6.
type Integer struct {
	style     style
	letters   letterCase
	ordinal   bool
	token     string // the primary format token, as written
	mandatory int    // digits at least
	optional  int
	zero      rune
	groups    []group // from left to right
	interval  int     // distance of separators that go on for ever, or 0
}

// style is the kind of numbering.
type style uint8

const (
	styleDecimal style = iota
	styleLetters
	styleRoman
	styleWords
	styleSequence // any other sequence, which is not supported
)

// letterCase is how letters are written.
type letterCase uint8

const (
	lower letterCase = iota
	upper
	title
)

// group is a grouping separator and how many digits stand to its right.
type group struct {
	position  int
	separator rune
}

// CompileInteger reads a picture: a token, and after a semicolon the modifier o
// for ordinal numbers. The token is A or a (letters), I or i (Roman), W, w or Ww
// (English words), or a pattern of digits of any decimal family, # and grouping
// separators. Errors are *Error with D3130 or D3131.
func CompileInteger(picture string) (*Integer, error) {
	p, err := compileInteger(picture)
	if err != nil {
		return nil, err
	}
	if p.style == styleSequence {
		return nil, fail("D3130", p.token)
	}
	return p, nil
}

// compileInteger is CompileInteger except that it lets sequences pass that
// nothing can be formatted with.
func compileInteger(picture string) (*Integer, error) {
	token, modifier := picture, ""
	if i := strings.LastIndexByte(picture, ';'); i >= 0 {
		token, modifier = picture[:i], picture[i+1:]
	}
	p := &Integer{token: token, ordinal: strings.HasPrefix(modifier, "o"), zero: '0'}
	switch token {
	case "A":
		p.style, p.letters = styleLetters, upper
	case "a":
		p.style = styleLetters
	case "I":
		p.style, p.letters = styleRoman, upper
	case "i":
		p.style = styleRoman
	case "W":
		p.style, p.letters = styleWords, upper
	case "Ww":
		p.style, p.letters = styleWords, title
	case "w":
		p.style = styleWords
	default:
		return p, p.analyse()
	}
	return p, nil
}

// analyse reads a pattern of digits.
func (p *Integer) analyse() error {
	found := false
	digits := 0
	for _, r := range p.token {
		if zero, ok := digitZero(r); ok {
			if found && zero != p.zero {
				return fail("D3131", p.token)
			}
			p.zero, found = zero, true
			p.mandatory++
			digits++
			continue
		}
		if r == '#' {
			p.optional++
			digits++
			continue
		}
		p.groups = append(p.groups, group{position: digits, separator: r})
	}
	if !found {
		p.style = styleSequence
		return nil
	}
	positions := make([]int, len(p.groups))
	same := true
	for i := range p.groups {
		g := &p.groups[i]
		g.position = digits - g.position
		positions[i] = g.position
		same = same && g.separator == p.groups[0].separator
	}
	if same {
		p.interval = interval(positions)
	}
	return nil
}

// Format writes the integer part of v, rounded towards negative infinity. Zero
// has no Roman or letter form and yields an empty string. Roman numbers from a
// million on, which would only grow longer, are written in digits.
func (p *Integer) Format(v float64) string {
	var room [64]byte
	return string(p.append(room[:0], v))
}

func (p *Integer) append(b []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return strconv.AppendFloat(b, v, 'g', -1, 64)
	}
	v = math.Floor(v)
	if v < 0 {
		b = append(b, '-')
	}
	v = math.Abs(v)
	switch {
	case p.style == styleWords:
		precision := 0
		if v >= 1e21 {
			precision = -1 // the digits that tell v from other numbers, then zeros
		}
		return p.letters.apply(appendWords(b, strconv.FormatFloat(v, 'f', precision, 64), p.ordinal), len(b))
	case p.style == styleLetters:
		return appendLetters(b, v, p.letters == upper)
	case p.style == styleRoman && v < 1e6:
		return p.letters.apply(appendRoman(b, int(v)), len(b))
	}
	return p.appendDecimal(b, v)
}

func (p *Integer) appendDecimal(b []byte, v float64) []byte {
	var room [32]byte
	digits := strconv.AppendFloat(room[:0], v, 'f', -1, 64)
	total := max(len(digits), p.mandatory)
	groups := p.groups
	for k := total; k > 0; k-- {
		if p.interval > 0 {
			if k < total && k%p.interval == 0 {
				b = utf8.AppendRune(b, p.groups[0].separator)
			}
		} else {
			for len(groups) > 0 && groups[0].position >= k {
				if groups[0].position == k && k < total {
					b = utf8.AppendRune(b, groups[0].separator)
				}
				groups = groups[1:]
			}
		}
		d := byte('0')
		if k <= len(digits) {
			d = digits[len(digits)-k]
		}
		b = utf8.AppendRune(b, p.zero+rune(d-'0'))
	}
	if p.interval == 0 {
		for _, g := range groups {
			b = utf8.AppendRune(b, g.separator)
		}
	}
	if p.ordinal {
		b = append(b, ordinalSuffix(digits)...)
	}
	return b
}

func ordinalSuffix(digits []byte) string {
	n := len(digits)
	if n < 2 || digits[n-2] != '1' {
		switch digits[n-1] {
		case '1':
			return "st"
		case '2':
			return "nd"
		case '3':
			return "rd"
		}
	}
	return "th"
}

// Parse reads what Format writes, without regard to case, and returns NaN for a
// text that is no such number. Behind the digits of a number anything may
// follow, as in JavaScript's parseInt. It returns no error for pictures that
// CompileInteger accepts.
func (p *Integer) Parse(s string) (float64, error) {
	switch p.style {
	case styleWords:
		return parseWords(s), nil
	case styleLetters:
		return parseLetters(s), nil
	case styleRoman:
		return parseRoman(s), nil
	case styleSequence:
		return 0, fail("D3130", p.token)
	}
	return p.parseDecimal(s), nil
}

func (p *Integer) parseDecimal(s string) float64 {
	b := make([]byte, 0, len(s))
	for _, r := range strings.TrimLeftFunc(s, unicode.IsSpace) {
		switch {
		case r >= p.zero && r <= p.zero+9:
			b = append(b, '0'+byte(r-p.zero))
		case r >= '0' && r <= '9':
			b = append(b, byte(r))
		case len(b) == 0 && (r == '-' || r == '+'):
			b = append(b, byte(r))
		case !p.separates(r):
			return number(b)
		}
	}
	return number(b)
}

func (p *Integer) separates(r rune) bool {
	for _, g := range p.groups {
		if g.separator == r {
			return true
		}
	}
	return false
}

// number reads ASCII digits with an optional sign.
func number(b []byte) float64 {
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil && !math.IsInf(v, 0) {
		return math.NaN()
	}
	return v
}
