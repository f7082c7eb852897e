package value

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func orders(n int) string {
	var b strings.Builder
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"name":"order %d","price":%d.25,"tags":["a","b"],"open":true}`, i, i, i%100)
	}
	b.WriteByte(']')
	return b.String()
}

var sink Value

func BenchmarkParse(b *testing.B) {
	text := orders(1000)
	b.Run("value", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			sink, _ = Parse(text)
		}
	})
	b.Run("value-lazy", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			sink, _ = ParseLazy(text)
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			var x any
			if err := json.Unmarshal([]byte(text), &x); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	text := orders(1000)
	v, err := Parse(text)
	if err != nil {
		b.Fatal(err)
	}
	x := v.Any()
	buf := make([]byte, 0, len(text))
	b.Run("value", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			buf = v.Append(buf[:0])
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(x); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkGet(b *testing.B) {
	for _, n := range []int{3, 20, 3000} {
		build := NewBuilder(n)
		m := make(map[string]any, n)
		for i := range n {
			k := fmt.Sprintf("key%d", i)
			build.Set(k, FromInt(int64(i)))
			m[k] = float64(i)
		}
		v := FromEntries(build.Value().Entries())
		key := fmt.Sprintf("key%d", n/2)
		b.Run(fmt.Sprintf("value/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink = v.Get(key)
			}
		})
		b.Run(fmt.Sprintf("map/%d", n), func(b *testing.B) {
			for b.Loop() {
				_ = m[key]
			}
		})
	}
}
