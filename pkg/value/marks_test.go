package value

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// walked returns v as text without marks, so that each level is walked through.
func walked(v Value, m Meter) Value {
	l := (*lazyText)(v.ptr)
	return (&lazyText{text: l.text, spaced: l.spaced, meter: m}).asValue()
}

func TestMarksTellWhatWalksFind(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var build func(depth int) string
	build = func(depth int) string {
		space := strings.Repeat(" ", r.IntN(20)/19)
		switch kind := r.IntN(8); {
		case depth > 6 || kind == 0:
			return strings.Repeat("9", 1+r.IntN(30))
		case kind == 1:
			return `"` + strings.Repeat(`é\n`, r.IntN(300)) + `"`
		case kind < 5:
			items := make([]string, r.IntN(12/(depth+1)+2))
			for i := range items {
				items[i] = build(depth+1) + space
			}
			return "[" + strings.Join(items, ",") + "]"
		}
		members := make([]string, r.IntN(12/(depth+1)+2))
		for i := range members {
			members[i] = fmt.Sprintf(`%s"k%d":%s`, space, r.IntN(40), build(depth+1))
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	long := 0
	for range 300 {
		text := "[" + build(0) + "," + build(0) + "]"
		want, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		v, err := ParseLazy(text)
		if err != nil {
			t.Fatal(err)
		}
		if v.repr() != lazy {
			continue
		}
		long++
		var marked, walking counter
		marked.most.Store(1 << 40)
		walking.most.Store(1 << 40)
		a, b := v.Metered(&marked), walked(v, &walking)
		readAll(a)
		readAll(b)
		if marked.sum.Load() != walking.sum.Load() {
			t.Errorf("%.200s: %d bytes are counted with marks, %d without", text, marked.sum.Load(), walking.sum.Load())
		}
		for _, got := range []Value{a, b} {
			if !Equal(got, want) || got.JSON() != want.JSON() {
				t.Errorf("%.200s came out as %.200s", text, got.JSON())
			}
		}
	}
	if long < 100 {
		t.Errorf("only %d texts were long enough to have marks", long)
	}
}

// A text of brackets has a container for each two of its bytes.
func TestDeepTextsHaveFewMarks(t *testing.T) {
	row := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	text := "[" + strings.Repeat(row+",", 20) + row + "]"
	v, err := ParseLazy(text)
	if err != nil {
		t.Fatal(err)
	}
	if n := len((*lazyText)(v.ptr).marks); n > len(text)/lazyFrom*markLevels {
		t.Errorf("%d bytes have %d marks", len(text), n)
	}
}

func TestRowsCostFewAllocations(t *testing.T) {
	text := strings.ReplaceAll(orders(1000), `,"open"`, `,"rate":0.125,"open"`)
	if n := testing.AllocsPerRun(3, func() { sink, _ = Parse(text) }); n > 100 {
		t.Errorf("1,000 rows of six members take %v allocations", n)
	}
	v, err := ParseLazy(text)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(3, func() { readAll(v.Undecoded(nil)) }); n > 100 {
		t.Errorf("1,000 rows of six members that are decoded when they are read take %v allocations", n)
	}
}

// The keys of a row are compared with those of the row before it.
func TestRowsWithOtherKeysThanTheRowBefore(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`[{"a":1,"b":2},{"a":3}]`, ``},
		{`[{"a":1},{"a":3,"b":4}]`, ``},
		{`[{"a":1,"b":2},{"b":3,"a":4},{"a":5,"b":6}]`, ``},
		{`[{"a":1,"b":2},{"a":3,"a":4}]`, `[{"a":1,"b":2},{"a":4}]`},
		{`[{"a":1,"a":2},{"a":3,"a":4}]`, `[{"a":2},{"a":4}]`},
		{`[{"a":1,"ab":2},{"ab":3,"a":4}]`, ``},
		{`[{"a\"b":1},{"a\"b":2}]`, ``},
		{`[{"\u0061":1},{"a":2},{"\u0061":3}]`, `[{"a":1},{"a":2},{"a":3}]`},
		{`[{"a":{"a":{"a":1}}},{"a":{"b":{"a":1}}}]`, ``},
		{`[{},{"":1},{}]`, ``},
	} {
		if c.want == "" {
			c.want = c.text
		}
		for _, text := range []string{c.text, "[" + c.text + "," + c.text + "]"} {
			want := c.want
			if text != c.text {
				want = "[" + c.want + "," + c.want + "]"
			}
			if v, err := Parse(text); err != nil || v.JSON() != want {
				t.Errorf("%s: %s, %v", text, v.JSON(), err)
			}
		}
	}
	for _, text := range []string{`[{"a\"b":1},{"a"b":2}]`, `[{"a":1},{"a:2}]`, `[{"a":1},{"a"`, `[{"a":1},{"a"}]`} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%s is taken for JSON", text)
		}
	}
	if _, err := ParseStrict(`[{"a":1,"b":2},{"a":3,"a":4}]`); err == nil {
		t.Error("a key that is there twice is taken")
	}
}
