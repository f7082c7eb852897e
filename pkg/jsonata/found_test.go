package jsonata

import "testing"

// TestCasesFoundByComparing runs the cases of testdata/found.jsonl, which
// comparisons with the reference have brought up: its outcomes, kept so that
// they hold without node.
func TestCasesFoundByComparing(t *testing.T) {
	for _, c := range readCases(t, "testdata/found.jsonl") {
		if err := c.run(t, c.Expr); err != nil {
			t.Errorf("%s: %s on %s\n%v", c.ID, c.Expr, c.Data, err)
		}
	}
}
