package textline

import "testing"

func TestTextsAreCut(t *testing.T) {
	for _, c := range []struct {
		text    string
		n       int
		shorten string
		prefix  string
	}{
		{"", 3, "", ""},
		{"abc", 3, "abc", "abc"},
		{"abcd", 3, "ab…", "abc…"},
		{"äöü", 3, "äöü", "ä…"},
		{"äöüx", 3, "äö…", "ä…"},
		{"a\xffbcd", 3, "a\xff…", "ab…"},
	} {
		if got := Shorten(c.text, c.n); got != c.shorten {
			t.Errorf("Shorten(%q, %d) = %q", c.text, c.n, got)
		}
		if got := Prefix(c.text, c.n); got != c.prefix {
			t.Errorf("Prefix(%q, %d) = %q", c.text, c.n, got)
		}
	}
	if got := Count(1, "tool") + ", " + Count(0, "tool") + ", " + Count(2, "tool"); got != "1 tool, 0 tools, 2 tools" {
		t.Error(got)
	}
}
