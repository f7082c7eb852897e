package picture

import (
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// maxDatePicture bounds the length of a date picture in bytes.
const maxDatePicture = 4096

// DateTime is a compiled picture of $fromMillis and $toMillis, after
// fn:format-dateTime of XPath and XQuery Functions and Operators 3.1, section 9.8.
type DateTime struct {
	parts     []part
	formatErr error // what keeps the picture from formatting
	matcher   func() (*matcher, error)
}

// part is a literal text, or a component where component is set.
type part struct {
	literal   string
	component byte
	names     bool // written as a name, in letters
	letters   letterCase
	format    *Integer // of components that are numbers, and of time zones
	maxName   int      // longest that a name may be, or 0
	yearMod   float64  // years are written modulo this, where not 0
	zulu      bool     // a zero offset is written Z
	width     int      // digits to read, or 0 for all there are
	value     string   // as it stands in the picture
}

const (
	components = "YMDdFWwXxHhPmsfZzCE"
	numerics   = "YMDdFWwXxHhmsf"
)

// presentations are the formats of components that name none; the others are
// written as n.
var presentations = map[byte]string{
	'Y': "1", 'M': "1", 'D': "1", 'd': "1", 'W': "1", 'w': "1", 'X': "1", 'x': "1",
	'H': "1", 'h': "1", 'm': "01", 's': "01", 'f': "1", 'Z': "01:01", 'z': "01:01",
}

// CompileDateTime reads a picture: text, with components in brackets. A bracket
// that is text is doubled. Errors are *Error with D3131, D3132, D3135, or U1001
// for pictures longer than 4 KB; those that concern one direction only come from
// Format (D3130, D3133, D3134) or Parse (D3130, D3133).
func CompileDateTime(picture string) (*DateTime, error) {
	if len(picture) > maxDatePicture {
		return nil, fail("U1001", picture)
	}
	d := &DateTime{}
	text := func(s string) {
		if s != "" {
			d.parts = append(d.parts, part{literal: strings.ReplaceAll(s, "]]", "]")})
		}
	}
	rest := picture
	for {
		open := strings.IndexByte(rest, '[')
		if open < 0 {
			text(rest)
			break
		}
		text(rest[:open])
		if strings.HasPrefix(rest[open:], "[[") {
			text("[")
			rest = rest[open+2:]
			continue
		}
		end := strings.IndexByte(rest[open:], ']')
		if end < 0 {
			return nil, fail("D3135", picture)
		}
		p, err := compileComponent(rest[open+1 : open+end])
		if err != nil {
			return nil, err
		}
		if n := len(d.parts); n > 0 && p.isNumber() && d.parts[n-1].isNumber() && d.parts[n-1].component != 'f' {
			// Adjacent numbers can only be separated by their widths.
			d.parts[n-1].width = max(d.parts[n-1].format.mandatory, 1)
		}
		d.parts = append(d.parts, p)
		rest = rest[open+end+1:]
	}
	for i := range d.parts {
		if d.formatErr = d.parts[i].checkFormat(); d.formatErr != nil {
			break
		}
	}
	d.matcher = sync.OnceValues(d.compileMatcher)
	return d, nil
}

func (p *part) isNumber() bool {
	return p.format != nil && strings.IndexByte(numerics, p.component) >= 0
}

// compileComponent reads what stands between brackets: a letter for the
// component, how to write it, and after a comma the widths.
func compileComponent(marker string) (part, error) {
	marker = strings.Join(strings.FieldsFunc(marker, isSpace), "")
	p := part{value: marker}
	if marker == "" || strings.IndexByte(components, marker[0]) < 0 {
		return p, fail("D3132", marker)
	}
	p.component = marker[0]
	format, minWidth, maxWidth := marker[1:], 0, 0
	if comma := strings.LastIndexByte(format, ','); comma >= 0 {
		low, high, _ := strings.Cut(format[comma+1:], "-")
		minWidth, maxWidth = width(low), width(high)
		format = format[:comma]
	}
	modifier := ""
	switch n := len(format); {
	case n == 0:
		format = presentations[p.component]
		if format == "" {
			format = "n"
		}
	case n > 1 && strings.IndexByte("atco", format[n-1]) >= 0:
		format, modifier = format[:n-1], format[n-1:]
	}
	p.zulu = modifier == "t"
	switch {
	case format[0] == 'n':
		p.names = true
	case format[0] == 'N':
		p.names, p.letters = true, upper
		if strings.HasPrefix(format, "Nn") {
			p.letters = title
		}
	}
	p.maxName = maxWidth
	if p.names && p.component != 'Z' && p.component != 'z' || strings.IndexByte(numerics+"Zz", p.component) < 0 {
		return p, nil
	}
	if modifier != "" && p.component != 'Z' && p.component != 'z' {
		format += ";" + modifier
	}
	var err error
	if p.format, err = compileInteger(format); err != nil {
		return p, err
	}
	if p.isNumber() {
		p.setWidths(minWidth, maxWidth)
	}
	return p, nil
}

func (p *part) setWidths(minWidth, maxWidth int) {
	f := p.format
	f.mandatory = max(f.mandatory, minWidth)
	if p.component != 'Y' {
		return
	}
	digits := 0
	if maxWidth > 0 {
		digits = maxWidth
		f.mandatory = digits
	} else if w := f.mandatory + f.optional; w >= 2 && f.style == styleDecimal {
		digits = w
	}
	if digits > 0 && digits < 10 {
		p.yearMod = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}[digits]
	}
}

// width reads a bound of a width; 0 means that there is none.
func width(s string) int {
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	v, err := strconv.Atoi(s[:end])
	if err != nil && end > 0 {
		return maxWidth
	}
	return min(v, maxWidth)
}

// isSpace is the white space of JavaScript.
func isSpace(r rune) bool { return unicode.IsSpace(r) && r != 0x85 || r == 0xFEFF }

// checkFormat finds what keeps p from being formatted.
func (p *part) checkFormat() error {
	switch {
	case p.component == 'Z' || p.component == 'z':
		if p.format.interval == 0 && (p.format.mandatory < 1 || p.format.mandatory > 4 || p.format.style != styleDecimal) {
			return fail("D3134", p.value)
		}
	case p.names && strings.IndexByte("MxFPCE", p.component) < 0:
		return fail("D3133", p.value)
	case p.format != nil && p.format.style == styleSequence:
		return fail("D3130", p.format.token)
	}
	return nil
}
