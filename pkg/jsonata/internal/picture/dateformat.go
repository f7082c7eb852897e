package picture

import (
	"math"
	"strings"
	"time"
)

// maxMillis is the last moment that a date of JavaScript can hold.
const maxMillis = 8.64e15

var (
	months = [...]string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}
	days   = [...]string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
)

// moment is a point in time as the clocks of a time zone show it.
type moment struct {
	time.Time
	offset int // minutes east of Greenwich
}

// Format writes the moment that lies millis milliseconds after the start of
// 1970 in UTC. timezone is an offset such as +0530, and "" means UTC. Errors are
// *Error: D3110 for a moment outside the 100 million days on each side of 1970,
// D3134 for a time zone that is none, and what CompileDateTime left to Format.
func (d *DateTime) Format(millis int64, timezone string) (string, error) {
	if d.formatErr != nil {
		return "", d.formatErr
	}
	offset, ok := parseOffset(timezone)
	if !ok {
		return "", &Error{Code: "D3134", Value: timezone, text: "this is no time zone: expected an offset of hours and minutes, such as +0530"}
	}
	if millis > maxMillis || millis < -maxMillis {
		return "", &Error{Code: "D3110", Value: time.UnixMilli(millis).UTC().Format("2006"), text: "a date must lie within 100 million days of 1970"}
	}
	m := moment{Time: time.UnixMilli(millis + int64(offset)*60000).UTC(), offset: offset}
	var room [128]byte
	b := room[:0]
	for i := range d.parts {
		b = d.parts[i].append(b, m)
	}
	return string(b), nil
}

// parseOffset reads an offset of up to four digits, the last two of which are
// minutes; a colon may stand before those.
func parseOffset(s string) (minutes int, ok bool) {
	if s == "" {
		return 0, true
	}
	digits, sign := s, 1
	switch s[0] {
	case '-':
		digits, sign = s[1:], -1
	case '+':
		digits = s[1:]
	}
	if n := len(digits); n > 3 && digits[n-3] == ':' {
		digits = digits[:n-3] + digits[n-2:]
	}
	if digits == "" || len(digits) > 4 {
		return 0, false
	}
	v := 0
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int(c-'0')
	}
	return sign * (v/100*60 + v%100), true
}

func (p *part) append(b []byte, m moment) []byte {
	switch p.component {
	case 0:
		return append(b, p.literal...)
	case 'C', 'E':
		return append(b, "ISO"...)
	case 'Z', 'z':
		return p.appendZone(b, m.offset)
	case 'P':
		name := "am"
		if m.Hour() >= 12 {
			name = "pm"
		}
		if p.letters == upper {
			name = strings.ToUpper(name)
		}
		return append(b, name...)
	}
	v := m.fragment(p.component)
	if p.names {
		name := days[:]
		if p.component != 'F' {
			name = months[:]
		}
		start := len(b)
		b = p.letters.apply(append(b, name[v-1]...), start)
		if p.maxName > 0 && len(b)-start > p.maxName {
			b = b[:start+p.maxName]
		}
		return b
	}
	year := float64(v)
	if p.yearMod > 0 {
		year = math.Mod(year, p.yearMod)
	}
	return p.format.append(b, year)
}

// appendZone writes an offset of a time zone.
func (p *part) appendZone(b []byte, offset int) []byte {
	if offset == 0 && p.zulu {
		return append(b, 'Z')
	}
	if p.component == 'z' {
		b = append(b, "GMT"...)
	}
	sign := byte('+')
	if offset < 0 {
		sign, offset = '-', -offset
	}
	b = append(b, sign)
	hours, minutes := offset/60, offset%60
	if p.format.interval == 0 && p.format.mandatory <= 2 {
		b = p.format.append(b, float64(hours))
		if minutes != 0 {
			b = append(b, ':', '0'+byte(minutes/10), '0'+byte(minutes%10))
		}
		return b
	}
	return p.format.append(b, float64(hours*100+minutes))
}

// fragment returns the number that a component stands for.
func (m moment) fragment(component byte) int {
	switch component {
	case 'Y':
		return m.Year()
	case 'M':
		return int(m.Month())
	case 'D':
		return m.Day()
	case 'd':
		return m.YearDay()
	case 'F':
		return m.weekday()
	case 'W':
		_, week := m.ISOWeek()
		return week
	case 'X':
		// The week belongs to the year and to the month of its Thursday.
		return m.thursday().Year()
	case 'w':
		return (m.thursday().Day()-1)/7 + 1
	case 'x':
		return int(m.thursday().Month())
	case 'H':
		return m.Hour()
	case 'h':
		return (m.Hour()+11)%12 + 1
	case 'm':
		return m.Minute()
	case 's':
		return m.Second()
	case 'f':
		return m.Nanosecond() / 1e6
	}
	return 0
}

// weekday counts from Monday, which is 1.
func (m moment) weekday() int { return (int(m.Weekday())+6)%7 + 1 }

func (m moment) thursday() time.Time { return m.AddDate(0, 0, 4-m.weekday()) }
