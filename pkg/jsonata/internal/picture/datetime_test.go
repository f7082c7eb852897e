package picture

import (
	"strings"
	"testing"
	"time"
)

// friday is 2018-03-23T10:33:36.617Z.
const friday = 1521801216617

func TestDateTimeFollowsPicture(t *testing.T) {
	for _, c := range []struct {
		millis              int64
		picture, zone, want string
	}{
		{friday, "[Y0001]-[M01]-[D01]T[H01]:[m01]:[s01].[f001][Z01:01t]", "", "2018-03-23T10:33:36.617Z"},
		{friday, "[FNn], the [Dwo] of [MNn] [Y]", "", "Friday, the twenty-third of March 2018"},
		{friday, "[FN,3-3] [Mn,*-3] [YI] [C][E]", "", "FRI mar MMXVIII ISOISO"},
		{friday, "[h]:[m] [PN] / [H] [P]", "+1000", "8:33 PM / 20 pm"},
		{friday, "[[[Y,2]]] [d]", "", "[18] 82"},
		{friday, "[X]-W[W01]-[F0], [w] of [xNn]", "", "2018-W12-5, 4 of March"},
		{friday, "[H01]:[m01][Z]", "-0530", "05:03-05:30"},
		{friday, "[Z0] [Z0000] [z]", "-0530", "-5:30 -0530 GMT-05:30"},
		{friday, "[Z0] [Z01t] [z01t]", "", "+0 Z Z"},
		{friday, "[H]", "+05:30", "16"},
		{0, "[F1] [FNn] [D1o]", "", "4 Thursday 1st"},
		{-1, "[Y] [d] [f001]", "", "1969 365 999"},
		{253402300800000, "[Y] [Y0001] [Y,*-2]", "", "10000 0000 00"},
		{-62198755200000, "[Y] [Y0001]", "", "-1 -0001"},
		{0, "plain ]] text", "", "plain ] text"},
		{0, "", "", ""},
		{0, "[Y,999999999]", "", strings.Repeat("0", 996) + "1970"},
	} {
		d, err := CompileDateTime(c.picture)
		if err != nil {
			t.Errorf("%q: %v", c.picture, err)
			continue
		}
		if got, err := d.Format(c.millis, c.zone); err != nil || got != c.want {
			t.Errorf("%d as %q in %q: got %q, %v; want %q", c.millis, c.picture, c.zone, got, err, c.want)
		}
	}
}

func TestDateTimeParsesByPicture(t *testing.T) {
	now := time.Date(2024, 5, 6, 17, 8, 9, 0, time.UTC)
	for _, c := range []struct{ text, picture, want string }{
		{"2018-03-27", "[Y]-[M]-[D]", "2018-03-27T00:00:00.000Z"},
		{"20180327T101112", "[Y0001][M01][D01]T[H01][m01][s01]", "2018-03-27T10:11:12.000Z"},
		{"21st MARCH 2017", "[D1o] [MNn] [Y]", "2017-03-21T00:00:00.000Z"},
		{"Tue, twelfth feb two thousand and eighteen", "[FNn,3-3], [Dwo] [Mn,3-3] [Yw]", "2018-02-12T00:00:00.000Z"},
		{"iv/XII/MCMXC", "[Di]/[MI]/[YI]", "1990-12-04T00:00:00.000Z"},
		{"2018-094", "[Y]-[d001]", "2018-04-04T00:00:00.000Z"},
		{"12:05 am", "[h]:[m] [P]", "2024-05-06T00:05:00.000Z"},
		{"12:05 PM", "[h]:[m] [P]", "2024-05-06T12:05:00.000Z"},
		{"13:45", "[H]:[m]", "2024-05-06T13:45:00.000Z"},
		{"3 10:00", "[D] [H]:[m]", "2024-05-03T10:00:00.000Z"},
		{"2018 10:11:12.5", "[Y] 10:11:12.[D]", "2018"},
		{"2018-01-01 10:11:12.1239", "[Y]-[M]-[D] [H]:[m]:[s].[f1]", "2018-01-01T10:11:12.123Z"},
		{"2018-01-01 10:00 -05:30", "[Y]-[M]-[D] [H]:[m] [Z]", "2018-01-01T15:30:00.000Z"},
		{"2018-01-01 10:00 +0530", "[Y]-[M]-[D] [H]:[m] [Z0001]", "2018-01-01T04:30:00.000Z"},
		{"2018-01-01 10:00 GMT-5", "[Y]-[M]-[D] [H]:[m] [z1]", "2018-01-01T15:00:00.000Z"},
		{"2018-01-01 10:00 Z", "[Y]-[M]-[D] [H]:[m] [Z01:01t]", "2018-01-01T10:00:00.000Z"},
		{"2,018", "[Y9,999,*]", "2018-01-01T00:00:00.000Z"},
		{"٢٠١٨", "[Y٠٠٠١]", "2018-01-01T00:00:00.000Z"},
		{"18", "[Y]", "1918-01-01T00:00:00.000Z"},
		{"2018-13-32", "[Y]-[M]-[D]", "2019-02-01T00:00:00.000Z"},
		{"[2018]", "[[[Y]]]", "2018-01-01T00:00:00.000Z"},
	} {
		d, err := CompileDateTime(c.picture)
		if err != nil {
			t.Errorf("%q: %v", c.picture, err)
			continue
		}
		if c.want == "2018" { // a gap between year and day
			if _, _, err := d.Parse(c.text, now); code(err) != "D3136" {
				t.Errorf("%q by %q: got %v, want D3136", c.text, c.picture, err)
			}
			continue
		}
		ms, ok, err := d.Parse(c.text, now)
		if err != nil || !ok {
			t.Errorf("%q by %q: got %v, %v", c.text, c.picture, ok, err)
			continue
		}
		if got, _ := FormatISO(int64(ms)); got != c.want {
			t.Errorf("%q by %q: got %s, want %s", c.text, c.picture, got, c.want)
		}
	}
}

func TestDateTimeOfAnotherFormIsNoValue(t *testing.T) {
	for _, c := range [][2]string{
		{"2018/03", "[Y]-[M]"}, {"Hello", "Hello"}, {"2018 Foo", "[Y] [MNn]"}, {"99999999", "[Y]"},
		{"x2018", "[Y]"}, {"2018x", "[Y]"}, {strings.Repeat("1", 1<<15), "[Y]"}, {"2018 \xed\xa0\x80", "[Y] [D]"},
	} {
		d, err := CompileDateTime(c[1])
		if err != nil {
			t.Fatal(err)
		}
		if ms, ok, err := d.Parse(c[0], time.Now()); ok || err != nil {
			t.Errorf("%.40q by %q: got %v, %v, %v", c[0], c[1], ms, ok, err)
		}
	}
}

func TestDateTimeErrors(t *testing.T) {
	for _, c := range []struct{ picture, compile, format, parse string }{
		{"[q]", "D3132", "", ""}, {"[q1]", "D3132", "", ""}, {"[]", "D3132", "", ""}, {"[YN]-[M", "D3135", "", ""},
		{"[Y0١]", "D3131", "", ""}, {strings.Repeat("x", 5000), "U1001", "", ""},
		{"[YN]", "", "D3133", "D3133"}, {"[fn]", "", "D3133", "D3133"}, {"[C]", "", "", "D3133"},
		{"[YQ]", "", "D3130", "D3130"}, {"[Z010101t]", "", "D3134", ""}, {"[Zw]", "", "D3134", ""},
		{"[X]-[W]-[F1]", "", "", "D3136"}, {"[X]-[x]-[w]-[F1]", "", "", "D3136"}, {"[M]-[D] [m]:[s]", "", "", "D3136"},
	} {
		d, err := CompileDateTime(c.picture)
		if code(err) != c.compile {
			t.Errorf("%.20q: got %v, want %q", c.picture, err, c.compile)
		}
		if err != nil {
			continue
		}
		text, err := d.Format(friday, "")
		if code(err) != c.format {
			t.Errorf("%q: Format: got %v, want %q", c.picture, err, c.format)
		}
		if _, _, err := d.Parse(text, time.Now()); c.parse != "" && code(err) != c.parse {
			t.Errorf("%q: Parse of %q: got %v, want %q", c.picture, text, err, c.parse)
		}
	}
}

func TestDateTimeRefusesZonesAndMomentsThatAreNone(t *testing.T) {
	for _, zone := range []string{"foo", "+", "+05300", "5h", "--05", "Z"} {
		if _, err := DefaultDateTime.Format(0, zone); code(err) != "D3134" {
			t.Errorf("%q: got %v, want D3134", zone, err)
		}
	}
	for _, ms := range []int64{maxMillis + 1, -maxMillis - 1, 1 << 62, -1 << 63} {
		if _, err := FormatISO(ms); code(err) != "D3110" {
			t.Errorf("%d: got %v, want D3110", ms, err)
		}
	}
}

func TestISOFormsRoundTrip(t *testing.T) {
	for _, c := range []struct {
		text string
		want string
	}{
		{"2018", "2018-01-01T00:00:00.000Z"},
		{"2018-07", "2018-07-01T00:00:00.000Z"},
		{"2018-02-30", "2018-03-02T00:00:00.000Z"},
		{"2018-02-01T09:42:13.1239+0000", "2018-02-01T09:42:13.123Z"},
		{"2018-02-01T09:42:13-05:30", "2018-02-01T15:12:13.000Z"},
		{"2018-02-01T24:00:00Z", "2018-02-02T00:00:00.000Z"},
		{"2018-05Z", "2018-05-01T00:00:00.000Z"},
		{"0000-01-01", "0000-01-01T00:00:00.000Z"},
		{"9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"},
	} {
		ms, err := ParseISO(c.text)
		if err != nil {
			t.Error(err)
			continue
		}
		if got, err := FormatISO(int64(ms)); err != nil || got != c.want {
			t.Errorf("%s: got %s, %v; want %s", c.text, got, err, c.want)
		}
	}
	for _, text := range []string{"", "foo", "01-02-2018", "2018-02-03 11:15:33", "2018-13", "2018-00", "2018-01-32", "2018-01-00", "2018-1",
		"2018-01-01T10:00", "2018-01-01T25:00:00", "2018-01-01T24:00:01", "2018-01-01T10:60:00", "2018-01-01T10:00:00.", "2018-01-01T10:00:00+2400",
		"2018-01-01T10:00:00z", "+2018", "-018", "2018.5", "2018-01-01T10:00:00Z."} {
		if ms, err := ParseISO(text); code(err) != "D3110" {
			t.Errorf("%q: got %v, %v; want D3110", text, ms, err)
		}
	}
}

func FuzzDateTimePicture(f *testing.F) {
	f.Add("[Y0001]-[M01]-[D01] [H]:[m] [Z]", int64(friday), "+0530", "2018-03-23 10:33 +05:30")
	f.Add("[Yw,2-3][dwo][[]]", int64(-1), "-9999", "two")
	f.Add("[FNn,3-3] [MNn] [D1o] [h][P]", int64(0), "", "Fri March 1st 1am")
	f.Fuzz(func(t *testing.T, picture string, millis int64, zone, text string) {
		d, err := CompileDateTime(picture)
		if err != nil {
			if sentences[code(err)] == "" {
				t.Fatalf("error without a known code: %v", err)
			}
			return
		}
		now := time.UnixMilli(friday)
		got, err := d.Format(millis, zone)
		if err != nil && sentences[code(err)] == "" {
			t.Fatalf("error without a known code: %v", err)
		}
		if len(got) > 4*maxWidth*(len(picture)+1) {
			t.Fatalf("%d bytes for a picture of %d", len(got), len(picture))
		}
		for _, s := range []string{text, got} {
			if _, _, err := d.Parse(s, now); err != nil && sentences[code(err)] == "" {
				t.Fatalf("error without a known code: %v", err)
			}
		}
		ParseISO(text)
	})
}

func BenchmarkDateTime(b *testing.B) {
	d, err := CompileDateTime("[FNn], [D1o] [MNn] [Y] [H01]:[m01]")
	if err != nil {
		b.Fatal(err)
	}
	b.Run("format", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			d.Format(friday, "+0530")
		}
	})
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			d.Parse("Friday, 23rd March 2018 10:33", time.Time{})
		}
	})
	b.Run("iso", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			FormatISO(friday)
		}
	})
}
