package picture

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"
)

// maxTimestamp bounds the texts that are compared with a date picture, in bytes.
const maxTimestamp = 1 << 14

// matcher is a picture made into a regular expression, with a group for each
// component.
type matcher struct {
	re    *regexp.Regexp
	parts []*part
}

// fields are the numbers read for the components of a timestamp.
type fields struct {
	value [128]float64
	given [128]bool
}

// Parse reads a timestamp in the form of the picture, as $toMillis does, and
// returns the milliseconds since the start of 1970 in UTC. Components that come
// before the largest one given are taken from now, those behind the smallest
// one are the first there are. Case does not matter. ok is false for a
// timestamp of another form. Errors are *Error: D3136 for components with gaps
// between them, and what CompileDateTime left to Parse.
func (d *DateTime) Parse(timestamp string, now time.Time) (millis float64, ok bool, err error) {
	m, err := d.matcher()
	if err != nil {
		return 0, false, err
	}
	if len(timestamp) > maxTimestamp || len(m.parts) == 0 {
		return 0, false, nil
	}
	loc := m.re.FindStringSubmatchIndex(timestamp)
	if loc == nil {
		return 0, false, nil
	}
	var f fields
	for i, p := range m.parts {
		v, known := p.read(timestamp[loc[2*i+2]:loc[2*i+3]])
		if !known {
			return 0, false, nil
		}
		f.value[p.component], f.given[p.component] = v, true
	}
	millis, err = f.millis(moment{Time: now.UTC()})
	if err != nil || math.IsNaN(millis) {
		return 0, false, err
	}
	return millis, true, nil
}

func (d *DateTime) compileMatcher() (*matcher, error) {
	m := &matcher{}
	var b strings.Builder
	b.WriteString(`(?i)\A`)
	for i := range d.parts {
		p := &d.parts[i]
		if p.component == 0 {
			// A lone surrogate is not valid UTF-8; its bytes read as U+FFFD each.
			same := func(r rune) rune { return r }
			b.WriteString(regexp.QuoteMeta(strings.Map(same, p.literal)))
			continue
		}
		pattern, err := p.pattern()
		if err != nil {
			return nil, err
		}
		m.parts = append(m.parts, p)
		b.WriteString("(" + pattern + ")")
	}
	b.WriteString(`\z`)
	var err error
	if m.re, err = regexp.Compile(b.String()); err != nil {
		return nil, fail("U1001", b.String())
	}
	return m, nil
}

// pattern is a regular expression for the texts of a component.
func (p *part) pattern() (string, error) {
	switch {
	case p.component == 'Z' || p.component == 'z':
		zone := `[-+][0-9]+`
		if len(p.format.groups) > 0 {
			zone += "(?:" + p.separators() + "[0-9]+)*"
		}
		if p.component == 'z' {
			zone = "GMT" + zone
		}
		if p.zulu {
			zone += "|Z"
		}
		return zone, nil
	case p.format == nil:
		if strings.IndexByte("MxFP", p.component) < 0 {
			return "", fail("D3133", p.value)
		}
		return `[a-zA-Z]+`, nil
	}
	switch f := p.format; f.style {
	case styleLetters:
		return `[a-zA-Z]+`, nil
	case styleRoman:
		return `[mdclxviMDCLXVI]+`, nil
	case styleWords:
		return wordPattern(), nil
	case styleSequence:
		return "", fail("D3130", f.token)
	default:
		digit := `[0-9]`
		if f.zero != '0' {
			digit = fmt.Sprintf(`[0-9\x{%x}-\x{%x}]`, f.zero, f.zero+9)
		}
		pattern := digit + "+"
		switch {
		case p.width > 0:
			pattern = fmt.Sprintf("%s{%d}", digit, p.width)
		case len(f.groups) > 0:
			pattern += "(?:" + p.separators() + pattern + ")*"
		}
		if f.ordinal {
			pattern += `(?:th|st|nd|rd)`
		}
		return pattern, nil
	}
}

func (p *part) separators() string {
	var b strings.Builder
	for i, g := range p.format.groups {
		if i == 0 || g.separator != p.format.groups[i-1].separator {
			fmt.Fprintf(&b, `\x{%x}`, g.separator)
		}
	}
	return "[" + b.String() + "]"
}

// read returns the number that text, which fits the pattern, stands for. known
// is false where it is none after all.
func (p *part) read(text string) (v float64, known bool) {
	switch {
	case p.component == 'Z' || p.component == 'z':
		return p.readZone(text), true
	case p.names || p.format == nil:
		return p.readName(text)
	case p.component == 'f' && p.format.style == styleDecimal:
		digits := make([]byte, 0, len(text))
		for _, r := range text {
			if r >= p.format.zero && r <= p.format.zero+9 {
				r += '0' - p.format.zero
			}
			if r >= '0' && r <= '9' {
				digits = append(digits, byte(r))
			}
		}
		return float64(thousandths(string(digits))), true
	}
	v, err := p.format.Parse(text)
	return v, err == nil && !math.IsNaN(v)
}

// readZone returns minutes east of Greenwich. Of more than two digits the last
// two are minutes.
func (p *part) readZone(text string) float64 {
	if strings.EqualFold(text, "Z") {
		return 0
	}
	if p.component == 'z' {
		text = text[len("GMT"):]
	}
	digits := make([]byte, 0, len(text))
	for _, c := range []byte(text) {
		if c >= '0' && c <= '9' {
			digits = append(digits, c)
		}
	}
	minutes := number(digits) * 60
	if n := len(digits); n > 2 {
		minutes = number(digits[:n-2])*60 + number(digits[n-2:])
	}
	if text[0] == '-' {
		return -minutes
	}
	return minutes
}

// readName finds a month or a half of the day. Days of the week do not affect
// the date, so any word is accepted.
func (p *part) readName(text string) (float64, bool) {
	switch p.component {
	case 'F':
		return 0, true
	case 'P':
		switch strings.ToLower(text) {
		case "am":
			return 0, true
		case "pm":
			return 1, true
		}
		return 0, false
	}
	for i, name := range months {
		if p.maxName > 0 && len(name) > p.maxName {
			name = name[:p.maxName]
		}
		if strings.EqualFold(text, name) {
			return float64(i + 1), true
		}
	}
	return 0, false
}

// within reports whether some of the components of set are given, and none of
// all that set lacks.
func (f *fields) within(set, all string) bool {
	some := false
	for i := range len(all) {
		if f.given[all[i]] {
			if strings.IndexByte(set, all[i]) < 0 {
				return false
			}
			some = true
		}
	}
	return some
}

// millis puts the components together.
func (f *fields) millis(now moment) (float64, error) {
	order := "YMD"
	byDay := f.within("Yd", "YXMxWwdD")
	if f.within("YMD", "YXMxWwdD") {
		byDay = false
	} else if byDay {
		order = "Yd"
	} else if f.within("Xxw", "YXMxWwdD") || f.within("XW", "YXMxWwdD") {
		return 0, fail("D3136", "X")
	}
	clock := "Hmsf"
	halves := !f.within("Hmsf", "PHhmsf") && f.within("Phmsf", "PHhmsf")
	if halves {
		clock = "Phmsf"
	}
	begun, ended := false, false
	for _, c := range []byte(order + clock) {
		switch {
		case f.given[c] && ended:
			return 0, fail("D3136", string(rune(c)))
		case f.given[c]:
			begun = true
		case begun:
			ended = true
			if strings.IndexByte("MDd", c) >= 0 {
				f.value[c] = 1
			}
		case c != 'P': // without it, hours are those of the morning
			f.value[c] = float64(now.fragment(c))
		}
	}
	month, day := max(f.value['M']-1, 0), f.value['D']
	if byDay {
		month, day = 0, f.value['d']
	}
	hour := f.value['H']
	if halves {
		hour = f.value['h']
		if hour == 12 {
			hour = 0
		}
		hour += 12 * f.value['P']
	}
	zone := f.value['Z']
	if !f.given['Z'] || zone == 0 {
		zone = f.value['z']
	}
	return utc(f.value['Y'], month, day, hour, f.value['m'], f.value['s'], f.value['f']) - zone*60000, nil
}

// utc is Date.UTC of JavaScript: years below 100 are those of the twentieth
// century, months and days may overflow, and what no date can hold is NaN.
func utc(year, month, day, hour, minute, second, fraction float64) float64 {
	if year >= 0 && year < 100 {
		year += 1900
	}
	year += math.Floor(month / 12)
	month = math.Mod(month, 12)
	if math.Abs(year) > 300000 || math.IsNaN(month) {
		return math.NaN()
	}
	start := time.Date(int(year), time.Month(int(month)+1), 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	ms := float64(start) + (day-1)*86400000 + hour*3600000 + minute*60000 + second*1000 + fraction
	if !(math.Abs(ms) <= maxMillis) {
		return math.NaN()
	}
	return ms
}
