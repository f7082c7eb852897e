package value

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

func mustParse(t testing.TB, text string) Value {
	t.Helper()
	v, err := Parse(text)
	if err != nil {
		t.Fatalf("Parse(%.60q): %v", text, err)
	}
	return v
}

func TestRoundTripKeepsOrderDigitsAndKinds(t *testing.T) {
	for _, text := range []string{
		`null`, `true`, `false`, `0`, `-1`, `1.5`, `""`, `"a"`, `[]`, `{}`,
		`{"z":1,"a":2,"m":{"y":[],"b":null}}`,
		`[1,[2,[3,[]]],{"k":"v"}]`,
		`9007199254740993`, `-123456789012345678901234567890`,
		`"<a href=\"x\">&</a>"`, `"line\nbreak\ttab\\ \u0001"`, `"\ud83d"`, `"😀é中"`,
		`{"constructor":1,"__proto__":2,"":3}`,
	} {
		if got := mustParse(t, text).JSON(); got != text {
			t.Errorf("%s came back as %s", text, got)
		}
	}
}

func TestNumbersPrintAsInJavaScript(t *testing.T) {
	for in, want := range map[string]string{
		"1.0": "1", "-0": "0", "1e2": "100", "0.1": "0.1", "1e21": "1e+21", "123456789012345680000": "123456789012345680000",
		"1e-7": "1e-7", "0.000001": "0.000001", "1.5e300": "1.5e+300", "5e-324": "5e-324", "9007199254740992": "9007199254740992", "1.25e-9": "1.25e-9",
	} {
		if got := mustParse(t, in).JSON(); got != want {
			t.Errorf("%s prints as %s, want %s", in, got, want)
		}
	}
	for f, want := range map[float64]string{math.Inf(1): "Infinity", math.Inf(-1): "-Infinity", 1e20: "100000000000000000000"} {
		if got := FormatNumber(f); got != want {
			t.Errorf("FormatNumber(%g) = %s, want %s", f, got, want)
		}
	}
}

func TestIntegersBeyondFloatKeepTheirDigitsOnlyWhenPassedThrough(t *testing.T) {
	v := mustParse(t, `{"id":9007199254740993}`).Get("id")
	if text, ok := v.NumberText(); !ok || text != "9007199254740993" {
		t.Errorf("digits are %q, %v", text, ok)
	}
	if got := FromFloat(v.Float() + 2).JSON(); got != "9007199254740994" {
		t.Errorf("arithmetic gives %s", got)
	}
	if got := FromInt(math.MinInt64).JSON(); got != "-9223372036854775808" {
		t.Errorf("FromInt lost digits: %s", got)
	}
	if n, ok := v.Any().(json.Number); !ok || n != "9007199254740993" {
		t.Errorf("Any gives %v", v.Any())
	}
}

func TestSyntaxErrorsPointAtTheByte(t *testing.T) {
	for text, offset := range map[string]int{
		"": 0, " ": 1, "{": 1, `{"a"}`: 4, `{"a":}`: 5, `{"a":1,}`: 7, "[1 2]": 3, "[1,]": 3, "01": 1, "1.": 2, "1e": 2, "-": 1,
		`"abc`: 4, `"\x"`: 1, `"\u12"`: 1, "\"a\nb\"": 2, "tru": 0, "nul": 0, "1 2": 2, "{a:1}": 1, "NaN": 0, `"\`: 2,
	} {
		long := text + strings.Repeat(" ", lazyFrom)
		for name, parse := range map[string]func() (Value, error){
			"Parse":     func() (Value, error) { return Parse(text) },
			"ParseLazy": func() (Value, error) { return ParseLazy(long) },
		} {
			v, err := parse()
			se, ok := err.(*SyntaxError)
			if !ok {
				t.Errorf("%s(%q) = %s, %v; want a syntax error", name, text, v.JSON(), err)
			} else if name == "Parse" && se.Offset != offset {
				t.Errorf("%s(%q) fails at %d, want %d (%v)", name, text, se.Offset, offset, err)
			}
		}
	}
}

func TestNestingIsBounded(t *testing.T) {
	deep := strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth)
	if _, err := Parse(deep); err != nil {
		t.Errorf("depth %d: %v", MaxDepth, err)
	}
	for _, open := range []string{"[", `{"a":`} {
		if _, err := Parse(strings.Repeat(open, 1_000_000)); err == nil {
			t.Errorf("a million %s parsed", open)
		}
		if _, err := ParseLazy(strings.Repeat(open, 1_000_000)); err == nil {
			t.Errorf("a million %s parsed lazily", open)
		}
	}
}

func TestRepeatedKeysLastValueFirstPlace(t *testing.T) {
	if got := mustParse(t, `{"a":1,"b":2,"a":3}`).JSON(); got != `{"a":3,"b":2}` {
		t.Error(got)
	}
	var many strings.Builder
	many.WriteString(`{"k0":"old"`)
	for i := range 100 {
		many.WriteString(`,"k` + FormatNumber(float64(i)) + `":` + FormatNumber(float64(i)))
	}
	many.WriteString("}")
	v := mustParse(t, many.String())
	if v.Len() != 100 || v.Entries()[0].Value.Float() != 0 || v.Get("k99").Float() != 99 {
		t.Errorf("%d members, first %s", v.Len(), v.Entries()[0].Value.JSON())
	}
}

func TestStringsThatAreNotUTF8AreEncodedWithReplacementCharacters(t *testing.T) {
	if got := FromString("a\xffb\xed\xa0\xbd").JSON(); got != "\"a\uFFFDb\\ud83d\"" {
		t.Error(got)
	}
}

func TestSurrogateHalvesJoin(t *testing.T) {
	half := mustParse(t, `["\ud83d","\ude00"]`).Elems()
	if got := JoinSurrogates("x" + half[0].Str() + half[1].Str() + "y"); got != "x😀y" {
		t.Errorf("%q", got)
	}
	for _, s := range []string{"", "plain", half[0].Str(), half[1].Str() + half[0].Str(), "힣"} {
		if got := JoinSurrogates(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
	if got := mustParse(t, `"\ud83d\ude00"`).Str(); got != "😀" {
		t.Errorf("%q", got)
	}
	if r, n := DecodeRune(half[0].Str()); r != 0xD83D || n != 3 {
		t.Errorf("%x %d", r, n)
	}
}

func TestStringsCompareByUTF16Unit(t *testing.T) {
	ordered := []string{"", "a", "ab", "b", "é", "中", "\xed\xa0\xbd", "😀", "😁", "\xed\xb8\x80", "\uE000", "\uFFFD", "\uFFFF"}
	for i, a := range ordered {
		for j, b := range ordered {
			want := cmpInt(i, j)
			if got := CompareStrings(a, b); got != want {
				t.Errorf("CompareStrings(%q, %q) = %d, want %d", a, b, got, want)
			}
			if got := CompareStrings("x中"+a, "x中"+b); got != want {
				t.Errorf("with a prefix, CompareStrings(%q, %q) = %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestLazyValuesReadLikeOthersAndWriteTheirText(t *testing.T) {
	pad := strings.Repeat("x", lazyFrom)
	text := "{ \"big\" : 12345678901234567890 ,\n \"s\": \"a : b\\u0041 \", \"f\": 1.0, \"pad\":\"" + pad + "\"}"
	v, err := ParseLazy(text)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"big":12345678901234567890,"s":"a : b\u0041 ","f":1.0,"pad":"` + pad + `"}`
	if got := v.JSON(); got != want {
		t.Errorf("writes %s", got)
	}
	if v.Kind() != Object || v.Len() != 4 || v.Get("s").Str() != "a : bA " || !v.Has("f") || v.Has("g") {
		t.Errorf("reads %d members, s=%q", v.Len(), v.Get("s").Str())
	}
	if eager := mustParse(t, text); !Equal(v, eager) || !Equal(eager, v) {
		t.Error("differs from the value decoded at once")
	}
	list, err := ParseLazy("[1,2," + strings.Repeat("3,", lazyFrom) + "4]")
	if err != nil || list.Len() != lazyFrom+3 || list.Elems()[1].Float() != 2 {
		t.Errorf("array of %d, %v", list.Len(), err)
	}
	if flagged := list.WithFlags(Sequence); flagged.Len() != list.Len() || flagged.Flags() != Sequence || list.Flags() != 0 {
		t.Error("flags and laziness disturb each other")
	}
}

func TestLazyValuesAreSafeForConcurrentUse(t *testing.T) {
	v, err := ParseLazy(`{"a":[` + strings.Repeat("1,", lazyFrom) + `1]}`)
	if err != nil {
		t.Fatal(err)
	}
	wide := NewBuilder(0)
	for i := range 100 {
		wide.Set(FormatNumber(float64(i)), FromFloat(float64(i)))
	}
	obj := FromEntries(wide.Value().Entries())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if v.Get("a").Len() != lazyFrom+1 || obj.Get("77").Float() != 77 {
				t.Error("a concurrent reader saw something else")
			}
		})
	}
	wg.Wait()
}

func TestBuilderReplacesInPlaceAtAnySize(t *testing.T) {
	for _, n := range []int{3, indexFrom, indexFrom + 1, 500} {
		b := NewBuilder(0)
		for i := range n {
			b.Set(FormatNumber(float64(i)), NullValue)
		}
		b.Set("1", True)
		if !b.Get("1").Bool() || !b.Get("nope").IsUndefined() || b.Len() != n {
			t.Errorf("n=%d: builder reads wrong", n)
		}
		v := b.Value()
		if v.Len() != n || v.Entries()[1].Key != "1" || !v.Get("1").Bool() || !v.Get("nope").IsUndefined() {
			t.Errorf("n=%d: object reads wrong", n)
		}
	}
}

type upper struct{}

func (upper) Lookup(key string) Value {
	if key == "a" {
		return FromString("A")
	}
	return Undef
}
func (upper) Entries() []Entry { return []Entry{{"a", FromString("A")}} }

func TestSourcesAnswerAsObjects(t *testing.T) {
	v := FromSource(upper{})
	if v.Get("a").Str() != "A" || v.Has("b") || v.Len() != 1 || v.JSON() != `{"a":"A"}` || !Equal(v, mustParse(t, `{"a":"A"}`)) {
		t.Errorf("%s", v.JSON())
	}
}

func TestUndefinedAndFunctionsAreDroppedAsJSONStringifyDoes(t *testing.T) {
	f := FromFunc("secret")
	v := FromEntries([]Entry{{"u", Undef}, {"f", f}, {"n", NullValue}, {"l", FromArray([]Value{Undef, f, FromFloat(math.NaN())})}})
	if got := v.JSON(); got != `{"n":null,"l":[null,null,null]}` {
		t.Error(got)
	}
	if got := string(FromEntries([]Entry{{"f", f}}).AppendIndent(nil, "  ")); got != "{}" {
		t.Error(got)
	}
	if Undef.JSON() != "null" || f.JSON() != "null" || f.Func() != "secret" {
		t.Error("alone they are null")
	}
}

func TestIndentationOfDeepValuesIsBounded(t *testing.T) {
	deep := mustParse(t, strings.Repeat(`{"a":[1,`, 2000)+"2"+strings.Repeat("]}", 2000))
	text := string(deep.AppendIndent(nil, "  "))
	if len(text) > 2*len(deep.JSON()) {
		t.Errorf("%d bytes are written as %d", len(deep.JSON()), len(text))
	}
	if again := mustParse(t, text); !Equal(again, deep) {
		t.Error("another value is written")
	}
}

func TestIndentedForm(t *testing.T) {
	got := string(mustParse(t, `{"a":[1,{"b":[]}],"c":{}}`).AppendIndent(nil, "  "))
	want := "{\n  \"a\": [\n    1,\n    {\n      \"b\": []\n    }\n  ],\n  \"c\": {}\n}"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestEqual(t *testing.T) {
	same := [][2]string{{`{"a":1,"b":[2]}`, `{"b":[2],"a":1}`}, {`1`, `1.0`}, {`[]`, `[]`}}
	for _, p := range same {
		if !Equal(mustParse(t, p[0]), mustParse(t, p[1])) {
			t.Errorf("%s and %s differ", p[0], p[1])
		}
	}
	differ := [][2]string{{`{"a":1}`, `{"b":1}`}, {`{"a":1}`, `{"a":1,"b":2}`}, {`[1]`, `[1,2]`}, {`0`, `false`}, {`""`, `null`}, {`[1,2]`, `[2,1]`}, {`true`, `false`}}
	for _, p := range differ {
		if Equal(mustParse(t, p[0]), mustParse(t, p[1])) {
			t.Errorf("%s and %s are equal", p[0], p[1])
		}
	}
	if Equal(Undef, NullValue) || !Equal(Undef, Undef) {
		t.Error("undefined is not null")
	}
}

func TestGoValues(t *testing.T) {
	type pair struct {
		B int `json:"b"`
		A any `json:"a"`
	}
	v, err := FromAny(map[string]any{"z": 1, "a": []any{true, nil, "s", 1.5, json.Number("12345678901234567890")}, "p": pair{B: 2}, "v": FromInt(3)})
	if err != nil {
		t.Fatal(err)
	}
	if got := v.JSON(); got != `{"a":[true,null,"s",1.5,12345678901234567890],"p":{"b":2,"a":null},"v":3,"z":1}` {
		t.Error(got)
	}
	if _, err := FromAny(func() {}); err == nil {
		t.Error("a Go function has no JSON form")
	}
	back, err := FromAny(v.Any())
	if err != nil || !Equal(v, back) {
		t.Errorf("%s, %v", back.JSON(), err)
	}
	var into struct{ V Value }
	if err := json.Unmarshal([]byte(`{"V":{"b":1,"a":2}}`), &into); err != nil || into.V.JSON() != `{"b":1,"a":2}` {
		t.Errorf("%s, %v", into.V.JSON(), err)
	}
	if out, err := json.Marshal(into); err != nil || string(out) != `{"V":{"b":1,"a":2}}` {
		t.Errorf("%s, %v", out, err)
	}
}

func TestAccessorsOfOtherKindsAreHarmless(t *testing.T) {
	for _, v := range []Value{Undef, NullValue, True, FromInt(1), FromString("s"), FromArray(nil), FromEntries(nil), FromFunc(1)} {
		if v.Kind() != String && v.Str() != "" || v.Kind() != Bool && v.Bool() || v.Kind() != Array && v.Elems() != nil ||
			v.Kind() != Func && v.Func() != nil || v.Kind() != Number && !math.IsNaN(v.Float()) || !v.Get("x").IsUndefined() {
			t.Errorf("%s answers for another kind", v.Kind())
		}
		if v.WithFlags(Cons).Flags() != 0 != (v.Kind() == Array) {
			t.Errorf("%s carries flags", v.Kind())
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e3,"x\ud83d\n"],"a":null}`, `[`, `"\u00`, "\xff", `-0.0e-0`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := Parse(text)
		var syntax *SyntaxError
		if errors.As(err, &syntax) && (syntax.Ambiguous || !utf8.ValidString(text)) {
			return // encoding/json takes these
		}
		if valid := json.Valid([]byte(text)); valid != (err == nil) && !strings.Contains(text, strings.Repeat("[", 500)) {
			t.Fatalf("Parse says %v, encoding/json says valid=%v", err, valid)
		}
		padded := strings.Repeat(" ", lazyFrom) + text
		lv, lerr := ParseLazy(padded)
		if (err == nil) != (lerr == nil) {
			t.Fatalf("Parse says %v, ParseLazy says %v", err, lerr)
		}
		if err != nil {
			return
		}
		again, err := Parse(v.JSON())
		if err != nil || again.JSON() != v.JSON() {
			t.Fatalf("%s came back as %s (%v)", v.JSON(), again.JSON(), err)
		}
		relazy, err := Parse(lv.JSON())
		if err != nil || relazy.JSON() != v.JSON() {
			t.Fatalf("lazily %s, at once %s (%v)", relazy.JSON(), v.JSON(), err)
		}
		rows := `{"r":[` + text + "," + text + `],"s":"` + strings.Repeat("x", lazyFrom) + `"}`
		all, err := Parse(rows)
		lall, lerr := ParseLazy(rows)
		if err != nil || lerr != nil || readAll(lall) != readAll(all) || !Equal(lall, all) {
			t.Fatalf("lazily %s (%v), at once %s (%v)", lall.JSON(), lerr, all.JSON(), err)
		}
	})
}
