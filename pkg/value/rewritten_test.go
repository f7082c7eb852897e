package value_test

import (
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// A run looks for secrets in each of its values, and seldom finds one.
func TestRewrittenCostsNothingWhereNothingChanges(t *testing.T) {
	b := value.NewBuilder(1)
	b.Set("text", value.FromString("a \"quoted\" text"))
	v := b.Value()
	same := func(text string) string { return text }
	// One for the text without its escapes, and some of -race, where pools forget.
	if n := testing.AllocsPerRun(100, func() { v.Rewritten(same) }); n > 2 {
		t.Errorf("%v allocations", n)
	}
	changed := v.Rewritten(func(text string) string {
		if text == `a "quoted" text` {
			return "another"
		}
		return text + "!"
	})
	if got := changed.JSON(); got != `{"text!":"another"}` {
		t.Errorf("got %s", got)
	}
	if got := v.JSON(); got != `{"text":"a \"quoted\" text"}` {
		t.Errorf("the value itself is %s now", got)
	}
}
