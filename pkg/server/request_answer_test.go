package server

import (
	"strconv"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestAnswersHoldTheirValueTwice(t *testing.T) {
	texts := []string{"", "short", strings.Repeat("long ", 50_000)}
	for _, n := range []int{10, 1000, 5000} { // they outgrow what is estimated
		texts = append(texts, strings.Repeat(`"`, n), strings.Repeat("\x01", n), strings.Repeat(`{"a":"\n"}`, n))
	}
	for _, text := range texts {
		for _, v := range []value.Value{value.FromString(text), value.FromEntries([]value.Entry{{Key: "k", Value: value.FromString(text)}})} {
			for _, anyKind := range []bool{false, true} {
				inner := v.JSON()
				want := `before[{"type":"text","text":` + string(value.AppendString(nil, inner)) + `}]`
				if anyKind || v.Kind() == value.Object {
					want += `,"structuredContent":` + inner
				}
				if got := string(appendValue([]byte("before"), v, anyKind)); got != want {
					t.Errorf("%d bytes %.20s: the answer is %.80s… (%d bytes), want %.80s… (%d bytes)", len(text), strconv.Quote(text), got, len(got), want, len(want))
				}
			}
		}
	}
}

func TestALongAnswerHoldsItsTextOnce(t *testing.T) {
	v := value.FromEntries([]value.Entry{{Key: "k", Value: value.FromString(strings.Repeat("x", 1<<20))}})
	answer := appendValue(nil, v, false)
	if most := v.TextSize() * resultFactor / 8; cap(answer) > most {
		t.Errorf("an answer takes %d bytes, %d are counted", cap(answer), most)
	}
	if n := testing.AllocsPerRun(2, func() { appendValue(nil, v, false) }); n > 2 { // one more with -race
		t.Errorf("an answer takes %v allocations", n)
	}
}
