package picture

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func code(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func TestNumberFollowsPicture(t *testing.T) {
	for _, c := range []struct {
		picture string
		v       float64
		want    string
	}{
		{"#,##0.00", 1234567.891, "1,234,567.89"},
		{"#,##0.00", 0, "0.00"},
		{"#,##0.00", 999.995, "1,000.00"},
		{"000,000", 5, "000,005"},
		{"#,##,##0", 123456789, "1234,56,789"},
		{"#,##,##0", 5, "5"},
		{"0.00,00", 0.5, "0.50,00"},
		{"#.##,##", 0.123, ".12,3"},
		{"#.##,##", 0.12, ".12"},
		{"0", 2.5, "2"},
		{"0", 3.5, "4"},
		{"0.00", 1.005, "1.00"},
		{"0.00", 1.015, "1.02"},
		{"0", -0.4, "-0"},
		{"0", math.Copysign(0, -1), "0"},
		{"#", 0, "0"},
		{"#.#", 0, ".0"},
		{"0.#", 7, "7"},
		{"0;(0)", -7, "(7)"},
		{"#,##0.00;[#,##0.00]", -1234.5, "[1,234.50]"},
		{"$0.00 each", 3, "$3.00 each"},
		{"$0.00", -3, "-$3.00"},
		{"0%", 0.255, "26%"},
		{"0.0‰", 0.0123, "12.3‰"},
		{"0.00e0", 0, "0.00e0"},
		{"0.0e0", 1000, "1.0e3"},
		{"00.0e00", 123456, "12.3e04"},
		{"0.0e0", 1e-300, "1.0e-300"},
		{"0.0e0", 5e-324, "5.0e-324"},
		{"0e0", 35, "4e1"},
		{".00e0", 0.234, ".23e0"},
		{"#e0", 12, "0.1e2"},
		{"a0e0", 12, "a1e1"},
		{"0", 1e21, "1000000000000000000000"},
		{"#,##0", 123456789012345680, "123,456,789,012,345,680"},
		{"0.00000000000000000000", 0.1, "0.10000000000000000555"},
		{"0", math.NaN(), "NaN"},
		{"<0>", math.Inf(-1), "-<Infinity>"},
		{"0%", 1e308, "Infinity%"},
	} {
		n, err := CompileNumber(c.picture, nil)
		if err != nil {
			t.Errorf("%q: %v", c.picture, err)
			continue
		}
		if got := n.Format(c.v); got != c.want {
			t.Errorf("%v as %q: got %q, want %q", c.v, c.picture, got, c.want)
		}
	}
}

func TestNumberOptionsReplaceSymbols(t *testing.T) {
	for _, c := range []struct {
		picture, option, value string
		v                      float64
		want                   string
	}{
		{"#.##0,00", "decimal-separator", ",", 1.5, "0,50"},
		{"#'##0.00", "grouping-separator", "'", 1234.5, "1'234.50"},
		{"0x0", "exponent-separator", "x", 120, "1x2"},
		{"0", "infinity", "endless", math.Inf(1), "endless"},
		{"0", "NaN", "none", math.NaN(), "none"},
		{"0", "minus-sign", "minus ", -4, "minus 4"},
		{"0pc", "percent", "pc", 0.5, "50pc"},
		{"0pm", "per-mille", "pm", 0.5, "500pm"},
		{"٠٠.٠", "zero-digit", "٠", 3.5, "٠٣.٥"},
		{"𝟎𝟎", "zero-digit", "𝟎", 7, "𝟎𝟕"},
		{"??0", "digit", "?", 42, "42"},
		{"0|(0)", "pattern-separator", "|", -4, "(4)"},
		{"0", "unheard-of", "x", 4, "4"},
	} {
		options := map[string]string{c.option: c.value}
		if c.option == "decimal-separator" {
			options["grouping-separator"] = "."
			c.want, c.v = "1,50", 1.5
		}
		n, err := CompileNumber(c.picture, options)
		if err != nil {
			t.Errorf("%q with %v: %v", c.picture, options, err)
			continue
		}
		if got := n.Format(c.v); got != c.want {
			t.Errorf("%v as %q with %v: got %q, want %q", c.v, c.picture, options, got, c.want)
		}
	}
}

func TestNumberPictureErrors(t *testing.T) {
	for picture, want := range map[string]string{
		"0;0;0": "D3080", "0.0.0": "D3081", "0%%": "D3082", "0‰‰": "D3083", "0%‰": "D3084",
		".": "D3085", "": "D3085", "0;": "D3085", "0x0": "D3086", "abc": "D3086", "0,.0": "D3087", "0.,0": "D3087",
		"0,": "D3088", "0,,0": "D3089", "0#": "D3090", "0.#0": "D3091", "0e0%": "D3092", "%0e0": "D3092",
		"0e": "D3093", "0e#": "D3093", "0e0e0": "D3093",
	} {
		_, err := CompileNumber(picture, nil)
		if code(err) != want {
			t.Errorf("%q: got %v, want %s", picture, err, want)
		}
	}
}

func TestErrorsHaveSentences(t *testing.T) {
	for c := range sentences {
		if text := fail(c, strings.Repeat("x", 200)).Error(); len(text) < 30 || len(text) > 400 || !strings.HasPrefix(text, c) {
			t.Errorf("%s: %q", c, text)
		}
	}
}

func FuzzNumberPicture(f *testing.F) {
	f.Add("#,##0.00;(0)", "zero-digit", "٠", 1234.5)
	f.Add("0.0e0%", "percent", "", -1e300)
	f.Fuzz(func(t *testing.T, picture, name, value string, v float64) {
		n, err := CompileNumber(picture, map[string]string{name: value})
		if err != nil {
			if sentences[code(err)] == "" {
				t.Fatalf("error without a known code: %v", err)
			}
			return
		}
		if got := n.Format(v); len(got) > 8*len(picture)+8*len(value)*400+4000 {
			t.Fatalf("%d bytes for a picture of %d", len(got), len(picture))
		}
	})
}

func BenchmarkNumber(b *testing.B) {
	n, err := CompileNumber("#,##0.00", nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		n.Format(1234567.891)
	}
}
