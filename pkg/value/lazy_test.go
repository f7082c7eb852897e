package value

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

// counter is a Meter that refuses what goes beyond most.
type counter struct{ sum, most atomic.Int64 }

func (c *counter) Grow(n int64) error {
	if c.sum.Load()+n > c.most.Load() {
		return errors.New("full")
	}
	c.sum.Add(n)
	return nil
}

// allocated returns what f allocates in bytes.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

func readAll(v Value) (n int) {
	for _, e := range v.Elems() {
		n += 1 + readAll(e)
	}
	for _, e := range v.Entries() {
		n += 1 + readAll(e.Value)
	}
	return n
}

func TestDecodingCostsWhatIsCounted(t *testing.T) {
	const n = 100_000
	list := func(item string) string { return "[" + strings.Repeat(item+",", n-1) + item + "]" }
	var keys strings.Builder
	for i := range n {
		fmt.Fprintf(&keys, `"%d":1,`, i)
	}
	for name, text := range map[string]string{
		"numbers":     list("1"),
		"long":        list("12345678901234567890"),
		"lists":       list("[]"),
		"ones":        list("[1]"),
		"objects":     list("{}"),
		"members":     list(`{"a":1}`),
		"escapes":     list(`"\n"`),
		"strings":     list(`"abc"`),
		"keys":        "{" + keys.String() + `"z":1}`,
		"nested":      `{"a":{"b":{"c":` + list("1") + `}}}`,
		"nested deep": strings.Repeat(`[`, 100) + list("1") + strings.Repeat("]", 100),
	} {
		c := &counter{}
		c.most.Store(1 << 40)
		v, err := ParseLazy(text)
		if err != nil {
			t.Fatal(name, err)
		}
		v = v.Metered(c)
		got := allocated(func() { readAll(v) })
		counted := c.sum.Load()
		if got > counted*5/4+4096 {
			t.Errorf("%s: %d bytes of text allocate %d, of which %d are counted", name, len(text), got, counted)
		}
		if counted > 4*got && name != "nested deep" {
			t.Errorf("%s: %d bytes are counted for %d", name, counted, got)
		}
		t.Logf("%-12s %8d bytes of text, %9d allocated, %9d counted", name, len(text), got, counted)
	}
}

func TestWhatIsNotReadStaysText(t *testing.T) {
	c := &counter{}
	c.most.Store(1 << 40)
	v, _ := ParseLazy(`{"id":1,"params":{"name":"x","arguments":{"list":[` + strings.Repeat("1,", 1<<20) + `1]}}}`)
	v = v.Metered(c)
	list := v.Get("params").Get("arguments").Get("list")
	if list.Kind() != Array || c.sum.Load() > 4096 {
		t.Fatalf("%d bytes for three members", c.sum.Load())
	}
	if got := allocated(func() { sink = FromInt(int64(len(list.JSON()))) }); got > 4096 {
		t.Errorf("the text of a list costs %d bytes", got)
	}
	if list.Len() != 1<<20+1 || list.Elems()[1<<20].Float() != 1 {
		t.Error("the list reads wrong")
	}
}

func TestAMeterThatRefusesLeavesTheValueAsText(t *testing.T) {
	text := `[` + strings.Repeat("1,", 10_000) + `1]`
	whole, _ := ParseLazy(text)
	full := &counter{}
	v := whole.Metered(full).WithFlags(Sequence)
	if v.Len() != 0 || v.Elems() != nil || v.JSON() != text {
		t.Errorf("a refused value reads as %d elements", v.Len())
	}
	full.most.Store(1 << 30)
	if v.Len() != 10_001 || whole.Len() != 10_001 {
		t.Error("what was refused once cannot be read when there is room")
	}
	if again := v.Metered(full); again.Flags() != Sequence {
		t.Error("flags are lost")
	}
	if s := FromString("x"); !Equal(s.Metered(full), s) {
		t.Error("what is no text changes")
	}
}

func TestDeepTextsAreDecodedInLinearTime(t *testing.T) {
	// Levels that are decoded one at a time are walked through again each: there
	// must be few of them.
	deep := strings.Repeat(`[`, MaxDepth) + strings.Repeat("1,", 1<<19) + "1" + strings.Repeat("]", MaxDepth)
	v, err := ParseLazy(deep)
	if err != nil {
		t.Fatal(err)
	}
	for v.Len() == 1 {
		v = v.Elems()[0]
	}
	if v.Len() != 1<<19+1 {
		t.Errorf("%d elements", v.Len())
	}
}

func TestSizes(t *testing.T) {
	v := mustParse(t, `{"a":[1,2,3],"b":"text"}`)
	if n := v.TextSize(); n < 20 || n > 40 {
		t.Errorf("the text takes %d bytes", n)
	}
	if n := v.Footprint(1 << 20); n < 3*24+2*40+4 || n > 300 {
		t.Errorf("it holds %d bytes", n)
	}
	if n := v.Footprint(10); n != 10 {
		t.Errorf("of 10 bytes it holds %d", n)
	}
	list := mustParse(t, "["+strings.Repeat(`{"a":1,"b":"x"},`, 10_000)+"1]")
	var x any
	got := allocated(func() { x = list.Any() })
	if n := list.AnySize(); n < got*3/4 || n > 4*got {
		t.Errorf("converting allocates %d bytes, %d are said", got, n)
	}
	_ = x
}
