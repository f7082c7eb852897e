package graph

import "testing"

// TestPatternsThatClientsCannotCompile has what `new RegExp(pattern, "u")` refuses and
// takes.
func TestPatternsThatClientsCannotCompile(t *testing.T) {
	for pattern, want := range map[string]string{
		`(?i)x`: "(?i)", `(?i:x)`: "(?i:x)", `(?P<a>x)`: "(?P", `\Ax`: `\A`, `x\z`: `\z`, `[[:alpha:]]`: "[:alpha:]", `\pL`: `\p`, `a\-b`: `\-`,
		`a++`: "+", `a*+`: "+", `\x{41}`: `\x`, `a]`: "]", `a}`: "}", `{`: "{", `\Qa\E`: `\Q`, `a{x}`: "{", `\`: `\`, `\_`: `\_`, `[\_]`: `\_`,
		``: "", `^\p{L}+$`: "", `[\w\-]+`: "", `(?:a)(?=b)(?!c)(?<=d)(?<!e)(?<f>g)\k<f>`: "", `a{1,2}?b{3}c{4,}`: "", `a+?b*?c??`: "", `[\]}{]`: "",
		`^\d{4}-\d{2}$`: "", `\u{1F600}\u0041\x41\cA\0`: "", `a|b\/c\.d`: "", `^https?://[^\s]+$`: "", `(a)?(b)+`: "", `[a:]b`: "",
	} {
		if got := unreadablePattern(pattern); got != want {
			t.Errorf("%s: got %q, want %q", pattern, got, want)
		}
	}
}
