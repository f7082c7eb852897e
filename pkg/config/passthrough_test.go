package config

import (
	"strings"
	"testing"
)

func TestURIsThatClimb(t *testing.T) {
	for uri, want := range map[string]bool{
		"docs:///a/b.md": false, "docs:///v1..v2": false, "docs:///..hidden": false, "docs:///a../b": false, "docs:///": false,
		"docs:///a%20b%zz": false, "docs:///é..è": false, "docs:///./a": false,
		"docs:///../x": true, "docs:///..": true, "docs:///a/..;/x": true, "docs:///..;v=1/x": true, "docs:///%2e%2e/x": true,
		"docs:///.%2E;/x": true, "docs:///%2e%2e%zz/x": true, `docs:///a\..\b`: true, "docs:///%252525252e%2e/x": true,
		"docs:///.. /x": true, "docs:///..%00/x": true, "docs:///..%20/x": true, "docs:///read?file=../../etc": true, "docs:///a#../b": true,
		"docs:///\uff0e\uff0e/x": true, "docs:///%EF%BC%8E%EF%BC%8E\uff0fx": true, "docs:///\u2025/x": true, "docs:///.../x": true,
		"docs:///%" + strings.Repeat("25", 20) + "2e": true,
	} {
		if got := climbs(uri); got != want {
			t.Errorf("climbs(%q) is %v, want %v", uri, got, want)
		}
	}
	p := Passthrough{Resources: []string{"docs:///*", "own:///../x"}}
	for uri, want := range map[string]bool{"docs:///a": true, "docs:///..;/x": false, "own:///../x": true, "own:///y": false} {
		if got := p.AllowsResource(uri); got != want {
			t.Errorf("AllowsResource(%q) is %v, want %v", uri, got, want)
		}
	}
}

func TestSameResource(t *testing.T) {
	for _, same := range [][2]string{
		{"docs:///a", "docs:///a"}, {"docs:///a b", "docs:///a%20b"}, {"HTTP://Host.example", "http://host.example/"}, {"memo:x", "memo:x"}, {"docs:///a/", "docs:///a"},
	} {
		if !SameResource(same[0], same[1]) {
			t.Errorf("%q differ", same)
		}
	}
	for _, other := range [][2]string{{"docs:///a", "docs:///A"}, {"docs:///a", "docs:///a/b"}, {"docs:///a", "http://a"}, {"docs:///a", ""}} {
		if SameResource(other[0], other[1]) {
			t.Errorf("%q are the same", other)
		}
	}
}
