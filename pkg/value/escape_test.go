package value

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// pieces are what strings of the tests are made of.
var pieces = []string{
	"a", "plain text ", `"`, `\`, "/", "\n", "\t", "\b\f\r", "\x00", "\x1f", "\x7f", "ä", "€", "😀", "\u2028", "1234567", "12345678",
}

func randomText(r *rand.Rand, pieces []string) string {
	var b strings.Builder
	for range r.IntN(60) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

func TestStringsAreEscapedAndReadBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		s := randomText(r, pieces)
		text := AppendString([]byte("before"), s)[len("before"):]
		var want string
		if err := json.Unmarshal(text, &want); err != nil || want != s {
			t.Fatalf("%q was written as %s, which reads %q, %v", s, text, want, err)
		}
		v, err := Parse(string(text))
		if err != nil || v.Str() != s {
			t.Fatalf("%s reads %q, %v", text, v.Str(), err)
		}
		most := len(s) + 2 + strings.Count(s, `"`) + strings.Count(s, `\`)
		for c := range byte(' ') {
			each := 1
			if !strings.ContainsRune("\b\f\n\r\t", rune(c)) {
				each = 5
			}
			most += each * strings.Count(s, string(rune(c)))
		}
		if len(text) != most {
			t.Fatalf("%q was written as %s: %d bytes, want %d", s, text, len(text), most)
		}
	}
}

func TestWhatIsNotUTF8IsReplacedAndSurrogatesAreEscaped(t *testing.T) {
	for _, around := range []string{"", "x", "1234567", strings.Repeat("long ", 20), strings.Repeat("ä", 40)} {
		for bad, want := range map[string]string{"\xff": "\uFFFD", "\xc3": "\uFFFD", "\xed\xa0\x80": `\ud800`, "\xed\xbf\xbf": `\udfff`} {
			if got := string(AppendString(nil, around+bad+around)); got != `"`+around+want+around+`"` {
				t.Errorf("%q was written as %s", around+bad+around, got)
			}
		}
	}
}

func TestEscapesAreDecoded(t *testing.T) {
	written := append([]string{`\"`, `\\`, `\/`, `\b\f\n\r\t`, `\u0000`, `\u00e4`, `\u20AC`, `\ud83d\ude00`, `\\u0041`}, "a", "plain text ", "12345678", "ä", "😀")
	r := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		text := `"` + randomText(r, written) + `"`
		var want string
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		if v, err := Parse(text); err != nil || v.Str() != want {
			t.Fatalf("%s reads %q, %v; want %q", text, v.Str(), err, want)
		}
	}
	for text, want := range map[string]string{`"\ud800"`: "\xed\xa0\x80", `"\ud800x"`: "\xed\xa0\x80x", `"\udc00\ud800"`: "\xed\xb0\x80\xed\xa0\x80", `"\ud800\u0041"`: "\xed\xa0\x80A"} {
		if v, err := Parse(text); err != nil || v.Str() != want {
			t.Errorf("%s reads %q, %v", text, v.Str(), err)
		}
	}
}

// Long strings are walked through once and passed over at deeper levels.
func TestLongStringsAreReadAtEachLevel(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var build func(depth int) any
	build = func(depth int) any {
		switch kind := r.IntN(6); {
		case depth > 4 || kind == 0:
			return strings.Repeat(pieces[r.IntN(len(pieces))], r.IntN(markFrom))
		case kind == 1:
			return "short"
		case kind < 4:
			list := make([]any, r.IntN(5))
			for i := range list {
				list[i] = build(depth + 1)
			}
			return list
		default:
			m := map[string]any{}
			for i := range r.IntN(5) {
				m[fmt.Sprint("key", i, strings.Repeat("k", r.IntN(2)*markFrom))] = build(depth + 1)
			}
			return m
		}
	}
	for range 300 {
		text, err := json.MarshalIndent(map[string]any{"a": build(0), "b": build(0)}, "", strings.Repeat(" ", r.IntN(2)))
		if err != nil {
			t.Fatal(err)
		}
		want, err := Parse(string(text))
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseLazyStrict(text)
		if err != nil {
			t.Fatal(err)
		}
		again := got.Undecoded(nil)
		if !Equal(got.Get("b"), want.Get("b")) || !Equal(got, want) || !Equal(again, want) {
			t.Fatalf("%.300s reads otherwise lazily", text)
		}
	}
}
