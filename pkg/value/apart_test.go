package value

import (
	"runtime"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/testscale"
)

func TestApartIsTheSameValue(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2000)
	for _, text := range []string{
		`null`, `true`, `1.50`, `12345678901234567890123`, `"a\u00e9\n"`, `[]`, `{}`, `{"b":1,"a":[null,{"c":"d"}]}`,
		`{"a":"` + long + `","b":{"c":["` + long + `",12345678901234567890]}}`, `[1, 2,  {"spaced": true}]`,
	} {
		for name, parse := range map[string]func(string) (Value, error){"at once": Parse, "lazily": ParseLazy} {
			v, err := parse(text)
			if err != nil {
				t.Fatal(err)
			}
			if got := v.Apart(); !Equal(got, v) || got.JSON() != v.JSON() || got.Kind() != v.Kind() {
				t.Errorf("%s, %s: got %s", text, name, got.JSON())
			}
		}
	}
	if !Undef.Apart().IsUndefined() {
		t.Error("undefined became something")
	}
	if got := FromArray([]Value{FromString("\xff"), Undef}).Apart(); got.Len() != 2 {
		t.Errorf("got %s", got.JSON())
	}
}

// A copy keeps nothing of the text around the value, whether that was decoded or not.
func TestApartKeepsNoMessage(t *testing.T) {
	const messages, padding = 8, 4 << 20
	for name, part := range map[string]string{
		"a short text": `"short"`, "a long object": `{"a":"` + strings.Repeat("y", 2000) + `"}`, "digits": `12345678901234567890123`,
	} {
		for _, decoded := range []bool{false, true} {
			var kept []Value
			before := testscale.Heap()
			for range messages {
				v, err := ParseLazy(`{"pad":"` + strings.Repeat("x", padding) + `","part":` + part + `}`)
				if err != nil {
					t.Fatal(err)
				}
				own := v.Get("part")
				if decoded {
					own.Get("a").Str()
				}
				kept = append(kept, own.Apart())
			}
			if held := testscale.Heap() - before; held > padding {
				t.Errorf("%s, decoded %v: %d bytes are held", name, decoded, held)
			}
			runtime.KeepAlive(kept)
		}
	}
}
