package value

import (
	"strings"
	"testing"
)

func TestPlainBytesAreCountedAsOneByOne(t *testing.T) {
	slow := func(s string, wide bool) int {
		for i := range len(s) {
			if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x80 && !wide {
				return i
			}
		}
		return len(s)
	}
	for _, wide := range []bool{false, true} {
		for c := range 256 {
			for before := range 20 {
				for _, around := range []string{"a", "~", " ", "!", "#", "[", "]", "\x7f", "\xff", "\x80"} {
					s := strings.Repeat(around, before) + string([]byte{byte(c)}) + strings.Repeat(around, 20-before)
					if got, want := plainLen(s, wide), slow(s, wide); got != want {
						t.Fatalf("plainLen(%q, %v) = %d, want %d", s, wide, got, want)
					}
				}
			}
		}
	}
}

func BenchmarkLongString(b *testing.B) {
	text := strings.Repeat(`The quick brown fox "jumps" over the lazy dog. äöü `, 1<<20/50)
	encoded := string(AppendString(nil, text))
	b.Run("encode", func(b *testing.B) {
		dst := make([]byte, 0, 2*len(text))
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			dst = AppendString(dst[:0], text)
		}
	})
	b.Run("encode-json", func(b *testing.B) { // a JSON text inside another one
		text := strings.Repeat(`{"id": 12, "name": "some name", "tags": ["a", "b"], "nested": {"x": 1.5, "y": null}}`+"\n", 1<<20/80)
		once, twice := make([]byte, 0, 2*len(text)), make([]byte, 0, 4*len(text))
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			once = AppendString(once[:0], text)
			twice = AppendText(twice[:0], once)
		}
	})
	b.Run("check", func(b *testing.B) {
		list := "[" + encoded + "]"
		b.SetBytes(int64(len(list)))
		for b.Loop() {
			sink, _ = ParseLazy(list)
		}
	})
	b.Run("read", func(b *testing.B) {
		list := "[" + encoded + "]"
		b.SetBytes(int64(len(list)))
		for b.Loop() {
			v, _ := ParseLazy(list)
			sink = v.Elems()[0]
		}
	})
}
