package value

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPreviewIsTheStartOfTheJSON(t *testing.T) {
	inner := mustParse(t, `{"a":[1,2,{"b":"é\n\"𝄞"},[],{}],"c":null,"d":true,"e":1.5}`)
	spaced, err := ParseLazy(` { "a" : [ 1 , "x y" ] , "b" : { "c" : "é𝄞" } } `)
	if err != nil {
		t.Fatal(err)
	}
	compact, err := ParseLazy(`{"a":[1,"x y"],"b":{"c":"é𝄞"}}`)
	if err != nil {
		t.Fatal(err)
	}
	mixed := FromArray([]Value{inner, spaced, Undef, FromString(strings.Repeat("é", 50))})
	for _, v := range []Value{inner, spaced, compact, mixed, FromString("é𝄞"), NullValue, Undef, FromFloat(12345)} {
		whole := v.JSON()
		for limit := range len(whole) + 2 {
			got := v.Preview(limit)
			start, cut := strings.CutSuffix(got, CutMark)
			switch {
			case !utf8.ValidString(got) || !strings.HasPrefix(whole, start):
				t.Fatalf("%d bytes of %s are %s", limit, whole, got)
			case cut != (limit < len(whole)) || len(start) > limit || cut && len(start) < limit-utf8.UTFMax:
				t.Errorf("%d bytes of %s are %s", limit, whole, got)
			}
		}
	}
}

// BenchmarkPreview costs the same for a large value as for a small one.
func BenchmarkPreview(b *testing.B) {
	list := make([]Value, 1_000_000)
	for i := range list {
		list[i] = FromString("element")
	}
	v := FromArray(list)
	b.ReportAllocs()
	for b.Loop() {
		v.Preview(200)
	}
}
