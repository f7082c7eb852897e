package value_test

import (
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestMapTextReachesEveryString(t *testing.T) {
	f := strings.NewReplacer("a/b", "X", "471", "Y").Replace
	for _, c := range []struct{ in, want string }{
		{`"a/b"`, `"X"`}, {`"a\/b"`, `"X"`}, {`"\u0061/b"`, `"X"`}, {`4712`, `"Y2"`}, {`47`, `47`}, {`null`, `null`}, {`true`, `true`},
		{`[1,["a/b c"],{"k a/b":{"a/b":"z"}}]`, `[1,["X c"],{"k X":{"X":"z"}}]`},
		{`{"b":"q\/r","a":1.50}`, `{"b":"q/r","a":1.50}`},
	} {
		for _, parse := range []func(string) (value.Value, error){value.Parse, value.ParseLazy} {
			v, err := parse(c.in)
			if err != nil {
				t.Fatal(err)
			}
			for name, got := range map[string]value.Value{"MapText": v.MapText(f), "Rewritten": v.Rewritten(f)} {
				want, err := value.Parse(c.want)
				if err != nil {
					t.Fatal(err)
				}
				if !value.Equal(got, want) {
					t.Errorf("%s of %s gives %s, want %s", name, c.in, got.JSON(), c.want)
				}
			}
		}
	}
	if v := value.Undef.MapText(f); !v.IsUndefined() {
		t.Errorf("undefined became %s", v.JSON())
	}
}
