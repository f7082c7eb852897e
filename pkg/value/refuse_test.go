package value

import (
	"errors"
	"strings"
	"testing"
)

// long makes a text one that ParseLazy keeps.
func long(text string) string {
	return strings.Replace(text, "{", "{"+strings.Repeat(" ", lazyFrom), 1)
}

func TestTextsThatWouldNotComeOutAsTheyCameInAreRefused(t *testing.T) {
	for _, c := range []struct {
		text, path, message string
		ambiguous           bool
	}{
		{`{"a":{"b/c":[0,1e999]}}`, "/a/b~1c/1", "the number 1e999 is out of range (at most 1.7976931348623157e308)", true},
		{`{"a":-1e999}`, "/a", "the number -1e999 is out of range (at most 1.7976931348623157e308)", true},
		{`{"a":1e-999}`, "/a", "the number 1e-999 is out of range (nearer to 0 than 5e-324)", true},
		{`{"a":` + strings.Repeat("9", 400) + `.5}`, "/a", "out of range", true},
		{`{"a":0.` + strings.Repeat("0", 400) + `1}`, "/a", "out of range (nearer to 0", true},
		{`{"a":` + strings.Repeat("9", 2000) + `}`, "/a", "has 2000 digits, more than 1000", true},
		{"{\"a\":[1,\"x\xffy\"]}", "/a/1", "a byte that is not UTF-8 (0xff)", false},
		{"{\"a\":{\"\xed\xa0\xbd\":1}}", "/a", "a byte that is not UTF-8 (0xed)", false},
		{`{"a":{"~":tru}}`, "/a/~0", "expected a value", false},
	} {
		for _, parse := range []func(string) (Value, error){Parse, ParseStrict, ParseLazy} {
			for _, text := range []string{c.text, long(c.text)} {
				_, err := parse(text)
				var syntax *SyntaxError
				if !errors.As(err, &syntax) {
					t.Fatalf("%.60s: %v", text, err)
				}
				if syntax.Path != c.path || !strings.Contains(syntax.Message, c.message) || syntax.Ambiguous != c.ambiguous {
					t.Errorf("%.60s: %+v", text, syntax)
				}
			}
		}
	}
	for _, text := range []string{`0e999`, `-0.0e5`, `5e-324`, `1.7976931348623157e308`, strings.Repeat("9", 400)} {
		if _, err := Parse(text); err != nil {
			t.Error(err)
		}
	}
}

func TestTheStrictReadingRefusesAKeyThatIsThereTwice(t *testing.T) {
	var many strings.Builder
	for i := range 50 {
		many.WriteString(`"k` + FormatNumber(float64(i)) + `":{},`)
	}
	for text, want := range map[string]string{
		`{"a":1,"b":[],"a":2}`:                 `unusable JSON at byte 14: the key "a" is there twice`,
		`[{"x":{"a":1, "\u0061" : 2}}]`:        `unusable JSON at byte 14 (/0/x): the key "a" is there twice`,
		`{"":0,"":0}`:                          `unusable JSON at byte 6: the key "" is there twice`,
		`{` + many.String() + `"k7":{"k7":1}}`: `the key "k7" is there twice`,
		`{"a":{"b":1,"c":2,"b":3},"a":{}}`:     `(/a): the key "b" is there twice`,
		`{"\ud83d\ude00":1,"` + "😀" + `":2}`:   `the key "😀" is there twice`,
		`{"` + strings.Repeat("k", 99) + `":1,"` + strings.Repeat("k", 99) + `":2}`: `k…" is there twice`,
	} {
		if _, err := ParseStrict(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %s", text, err, want)
		}
		if _, err := Parse(text); err != nil {
			t.Errorf("%.60s: %v", text, err)
		}
	}
	for _, text := range []string{`{"a":1,"A":2}`, `[{"a":1},{"a":2}]`, `{"a":{"a":{"a":1}}}`} {
		if _, err := ParseStrict(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// What was read of a text must be what is sent on.
func TestALazyTextWithARepeatedKeyIsEncodedAsItWasRead(t *testing.T) {
	text := `{"pad":"` + strings.Repeat("x", lazyFrom) + `","a":1,"a":2}`
	v, err := ParseLazy(text)
	if err != nil || v.JSON() != text {
		t.Fatalf("unread: %v %v", err, v.JSON() == text)
	}
	if got := v.Get("a").Float(); got != 2 {
		t.Errorf("a is %v", got)
	}
	if got := v.JSON(); strings.Contains(got, `"a":1`) || !strings.Contains(got, `"a":2`) {
		t.Errorf("read: %s", got[len(got)-20:])
	}
}
