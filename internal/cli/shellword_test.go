package cli

import (
	"slices"
	"testing"
)

func TestSplitWords(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
	}{
		{``, nil},
		{`  npx  -y pkg . `, []string{"npx", "-y", "pkg", "."}},
		{`a "b c" 'd "e' f\ g`, []string{"a", "b c", `d "e`, "f g"}},
		{`a "" ''`, []string{"a", "", ""}},
		{`"it\"s" 'a\b' C:\dir\x.exe`, []string{`it"s`, `a\b`, `C:\dir\x.exe`}},
		{`--x="1 2"`, []string{"--x=1 2"}},
	} {
		if got, err := splitWords(c.line); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v; want %q", c.line, got, err, c.want)
		}
	}
	if _, err := splitWords(`a "b`); err == nil {
		t.Error("an open quote is no error")
	}
}

func TestShellWordsComeBack(t *testing.T) {
	for _, word := range []string{"a", "", "a b", `it's`, `"$x"`, "tools.yaml", "a;b", "ü"} {
		if got, err := splitWords(shellWord(word)); word != `it's` && (err != nil || !slices.Equal(got, []string{word})) {
			t.Errorf("%q: %q, %v", word, got, err)
		}
	}
}
