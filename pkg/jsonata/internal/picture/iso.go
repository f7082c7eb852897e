package picture

import (
	"strconv"
	"time"
)

// DefaultDateTime is the picture that $fromMillis uses where it is given none:
// ISO 8601 with milliseconds and the offset, Z for UTC.
var DefaultDateTime = mustCompileDateTime("[Y0001]-[M01]-[D01]T[H01]:[m01]:[s01].[f001][Z01:01t]")

func mustCompileDateTime(picture string) *DateTime {
	d, err := CompileDateTime(picture)
	if err != nil {
		panic(err) // only for pictures of this file
	}
	return d
}

// FormatISO writes the moment that lies millis milliseconds after the start of
// 1970 in UTC as DefaultDateTime does. The error is that of DateTime.Format.
func FormatISO(millis int64) (string, error) {
	t := time.UnixMilli(millis).UTC()
	if y := t.Year(); y < 0 || y > 9999 {
		return DefaultDateTime.Format(millis, "")
	}
	return t.Format("2006-01-02T15:04:05.000Z"), nil
}

// ParseISO reads a timestamp of ISO 8601 as $toMillis does without a picture: a
// year of four digits, then as far as wanted month, day, time of day to the
// second with a fraction, and an offset or Z. Without an offset it is in UTC.
// Days up to 31 count in every month, as in JavaScript. The error is *Error with
// D3110.
func ParseISO(s string) (millis float64, err error) {
	in := isoReader{rest: s, ok: true}
	year := in.digits(4)
	month, day, hour, minute, second, fraction := 1, 1, 0, 0, 0, 0
	if in.skip('-') {
		month = in.digits(2)
		if in.skip('-') {
			day = in.digits(2)
		}
	}
	timed := in.skip('T')
	if timed {
		hour = in.digits(2)
		in.expect(':')
		minute = in.digits(2)
		in.expect(':')
		second = in.digits(2)
		if in.skip('.') {
			fraction = in.fraction()
		}
	}
	offset := 0
	switch {
	case in.skip('Z'):
	case timed && in.skip('+'):
		offset = in.offset()
	case timed && in.skip('-'):
		offset = -in.offset()
	}
	midnight := hour == 24 && minute == 0 && second == 0 && fraction == 0
	if !in.ok || in.rest != "" || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 && !midnight || minute > 59 || second > 59 {
		return 0, fail("D3110", s)
	}
	t := time.Date(year, time.Month(month), day, hour, minute-offset, second, 0, time.UTC)
	return float64(t.Unix()*1000 + int64(fraction)), nil
}

// isoReader reads a timestamp piece by piece; ok turns false at the first
// piece that is not there.
type isoReader struct {
	rest string
	ok   bool
}

func (r *isoReader) skip(c byte) bool {
	if r.rest != "" && r.rest[0] == c {
		r.rest = r.rest[1:]
		return true
	}
	return false
}

func (r *isoReader) expect(c byte) { r.ok = r.skip(c) && r.ok }

// digits reads exactly n digits.
func (r *isoReader) digits(n int) int {
	if len(r.rest) < n {
		r.ok = false
		return 0
	}
	v, err := strconv.ParseUint(r.rest[:n], 10, 32)
	r.ok = r.ok && err == nil
	r.rest = r.rest[n:]
	return int(v)
}

// fraction reads at least one digit and returns thousandths, truncated.
func (r *isoReader) fraction() int {
	n := 0
	for n < len(r.rest) && r.rest[n] >= '0' && r.rest[n] <= '9' {
		n++
	}
	r.ok = r.ok && n > 0
	v := thousandths(r.rest[:n])
	r.rest = r.rest[n:]
	return v
}

// offset reads hours and minutes, with or without a colon, and returns minutes.
func (r *isoReader) offset() int {
	hours := r.digits(2)
	r.skip(':')
	minutes := r.digits(2)
	r.ok = r.ok && hours < 24 && minutes < 60
	return hours*60 + minutes
}

// thousandths reads ASCII digits as those of a decimal fraction.
func thousandths(digits string) int {
	v := 0
	for i := range 3 {
		v *= 10
		if i < len(digits) {
			v += int(digits[i] - '0')
		}
	}
	return v
}
