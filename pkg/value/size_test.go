package value

import (
	"strings"
	"testing"
)

func TestLongerThan(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, text := range []string{
		`"` + long + `"`, `["` + long + `"]`, `{"k":"` + long + `"}`, `{"` + long + `":1}`,
		`[` + strings.TrimSuffix(strings.Repeat("1,", 500), ",") + `]`,
		`{"a":{"b":[{"c":"` + long + `"}]}}`,
	} {
		for name, parse := range map[string]func(string) (Value, error){"decoded": Parse, "lazy": ParseLazy} {
			v, err := parse(text)
			if err != nil {
				t.Fatal(err)
			}
			if !v.LongerThan(900) || v.LongerThan(3000) {
				t.Errorf("%s, %s: longer than 900: %t, than 3000: %t", name, text, v.LongerThan(900), v.LongerThan(3000))
			}
		}
	}
	for _, text := range []string{`null`, `true`, `0`, `""`, `[]`, `{}`} {
		v, err := Parse(text)
		if err != nil || v.LongerThan(100) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
