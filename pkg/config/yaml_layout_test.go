package config

import (
	"fmt"
	"strings"
	"testing"
)

func TestLayoutKnowsWhereValuesStand(t *testing.T) {
	tests := []struct{ source, want string }{
		{"a:\nb: 1\n", `{a= b=1}`},
		{"a: &x # c\nb: *x\n", `{a=&x: b=*x}`},
		{"- \n- é  # c\n-\n", `[, é, ]`},
		{"{a, b: , c: [1,], \"d\":1}", `{a= b= c=[1] "d"=1}`},
		{"[a: b, {c: d}, ]", `[{a=b}, {c=d}]`},
		{"? a\n: b\n? c\n", `{a=b c=}`},
		{"a: !!str\nb: &q !!str # c\n", `{a=!!str: b=&q !!str:}`},
		{"a: [&x , !!str ]\n", `{a=[&x:, !!str:]}`},
		{"a: &x !!str b\nc: &y\n  d: 1\n", `{a=&x !!str:b c=&y:{d=1}}`},
		{"a: |+ # c\n  x\n\n \nb: >-\n  y\n\n", "{a=|+ # c\n  x\n\n \n b=>-\n  y}"},
		{"a: 'it''s'\nb: \"\\x41\"\nc: d\n e\n", "{a='it''s' b=\"\\x41\" c=d\n e}"},
		{"- - a\n  - b\n-\n  c: d\n", `[[a, b], {c=d}]`},
		{"a: |+\r\n  x\r\n\r\nb:\r\n", "{a=|+\r\n  x\r\n\r\n b=}"},
		{"\ufeffa: 1", "{a=1}"},
	}
	for _, tt := range tests {
		_, l, ds := ParseLayout("f.yaml", []byte(tt.source))
		if l == nil {
			t.Errorf("%q: %v", tt.source, ds)
			continue
		}
		if !l.IsOrdered() {
			t.Errorf("%q: the parts are not in order", tt.source)
		}
		if got := layoutText(strings.TrimPrefix(tt.source, "\ufeff"), l); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.source, got, tt.want)
		}
	}
	if n, l, ds := ParseLayout("f.yaml", []byte("a: [")); n != nil || l != nil || len(ds) != 1 {
		t.Errorf("got %v, %v, %v", n, l, ds)
	}
}

// layoutText writes a value with the texts of its scalars. A colon ends the anchor
// and tag of a value.
func layoutText(source string, l *Layout) string {
	head := ""
	if l.HasProperties() {
		head = strings.TrimRight(source[l.Start:l.Content], " \n") + ":"
	}
	var parts []string
	for i, item := range l.Items {
		if l.Kind == Map && i%2 == 0 {
			parts = append(parts, fmt.Sprintf("%s=%s", layoutText(source, item), layoutText(source, l.Items[i+1])))
		} else if l.Kind == List {
			parts = append(parts, layoutText(source, item))
		}
	}
	switch l.Kind {
	case Map:
		return head + "{" + strings.Join(parts, " ") + "}"
	case List:
		return head + "[" + strings.Join(parts, ", ") + "]"
	}
	return head + source[l.Content:l.End]
}
