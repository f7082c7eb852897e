package picture

import (
	"math"
	"strings"
	"testing"
)

func TestIntegerFormatsAndParsesBack(t *testing.T) {
	for _, c := range []struct {
		picture string
		v       float64
		want    string
	}{
		{"0", 0, "0"},
		{"000", 7, "007"},
		{"#,##0", 1234567, "1,234,567"},
		{"#:###,##0", 1, "1"},
		{"#:###,##0", 1234567890, "1234:567,890"},
		{"#.##0", 1200, "1.200"},
		{"##,##,##0", 12345678, "123,45,678"},
		{"000;o", 123, "123rd"},
		{"0;o", 11, "11th"},
		{"0;o", 21, "21st"},
		{"###١", 1230, "١٢٣٠"},
		{"𝟎", 12, "𝟏𝟐"},
		{"0", -12, "-12"},
		{"0", 1e21, "1000000000000000000000"},
		{"0", 1e23, "100000000000000000000000"},
		{"A", 703, "AAA"},
		{"a", 26, "z"},
		{"I", 1999, "MCMXCIX"},
		{"i", 4, "iv"},
		{"w", 0, "zero"},
		{"w", 1000001, "one million and one"},
		{"W", 45, "FORTY-FIVE"},
		{"Ww", 2101, "Two Thousand, One Hundred and One"},
		{"w;o", 80, "eightieth"},
		{"Ww;o", 1e6, "One Millionth"},
		{"w", 1e18, "one million trillion"},
		{"w", 1e33, "one billion trillion trillion"},
		{"w", 1.5e46, "fifteen billion trillion trillion trillion"},
	} {
		p, err := CompileInteger(c.picture)
		if err != nil {
			t.Errorf("%q: %v", c.picture, err)
			continue
		}
		got := p.Format(c.v)
		if got != c.want {
			t.Errorf("%v as %q: got %q, want %q", c.v, c.picture, got, c.want)
		}
		if back, err := p.Parse(got); err != nil || math.Abs(back-c.v) > 1e-15*math.Abs(c.v) {
			t.Errorf("%q read as %q: got %v, %v; want %v", got, c.picture, back, err, c.v)
		}
	}
}

func TestIntegerRoundsDown(t *testing.T) {
	p, _ := CompileInteger("0")
	if got := p.Format(-5.5); got != "-6" {
		t.Errorf("got %q, want -6", got)
	}
}

func TestIntegerZeroHasNoRomanOrLetterForm(t *testing.T) {
	for _, picture := range []string{"I", "a"} {
		p, _ := CompileInteger(picture)
		if got := p.Format(0); got != "" {
			t.Errorf("%s: got %q, want nothing", picture, got)
		}
	}
}

func TestIntegerHugeRomanIsWrittenInDigits(t *testing.T) {
	p, _ := CompileInteger("I")
	if got := p.Format(1e15); got != "1000000000000000" {
		t.Errorf("got %.40q", got)
	}
}

func TestIntegerParseIsLenientAsParseInt(t *testing.T) {
	for _, c := range []struct {
		picture, text string
		want          float64
	}{
		{"0", " 12abc", 12}, {"0", "-3", -3}, {"0", "+3", 3}, {"0", "abc", math.NaN()}, {"0", "", math.NaN()},
		{"0", "1.5", 1}, {"0;o", "12", 12}, {"#,##0", "1,2,3", 123}, {"0;o", "2ND", 2},
		{"I", "xiv", 14}, {"I", "", 0}, {"I", "Q", math.NaN()}, {"A", "ab", 28}, {"A", "a1", math.NaN()},
		{"w", "Two Thousand  and one", 2001}, {"w", "foo", math.NaN()}, {"w", "", math.NaN()},
		{"w", "nineteen hundred and eighty-four", 1984}, {"w;o", "forty-second", 42},
	} {
		p, err := CompileInteger(c.picture)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Parse(c.text)
		if err != nil || got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%q read as %q: got %v, %v; want %v", c.text, c.picture, got, err, c.want)
		}
	}
}

func TestIntegerPictureErrors(t *testing.T) {
	for picture, want := range map[string]string{"": "D3130", "#": "D3130", "α": "D3130", "www": "D3130", ";o": "D3130", "0١": "D3131", "𝟎0": "D3131"} {
		if _, err := CompileInteger(picture); code(err) != want {
			t.Errorf("%q: got %v, want %s", picture, err, want)
		}
	}
}

func FuzzIntegerPicture(f *testing.F) {
	f.Add("#,##0;o", 1234.5, "1,234th")
	f.Add("Ww;o", 1e300, "Two Thousandth")
	f.Add("0:0,0", -1e22, "")
	f.Fuzz(func(t *testing.T, picture string, v float64, text string) {
		p, err := CompileInteger(picture)
		if err != nil {
			if sentences[code(err)] == "" {
				t.Fatalf("error without a known code: %v", err)
			}
			return
		}
		if got := p.Format(v); len(got) > 8*len(picture)+4000 {
			t.Fatalf("%d bytes for a picture of %d", len(got), len(picture))
		}
		if _, err := p.Parse(text); err != nil {
			t.Fatal(err)
		}
		if got := p.Format(42); p.style == styleWords && !strings.EqualFold(got, "forty-two") && !p.ordinal {
			t.Fatalf("42 in words: %q", got)
		}
	})
}

func BenchmarkInteger(b *testing.B) {
	for _, picture := range []string{"#,##0", "w"} {
		b.Run(picture, func(b *testing.B) {
			p, err := CompileInteger(picture)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				p.Format(1234567)
			}
		})
	}
}
