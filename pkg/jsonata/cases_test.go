package jsonata

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestEveryOperatorAndFunction runs the cases of testdata/cases.jsonl over the
// document beside it, and sees to it that every function of the language has
// one.
func TestEveryOperatorAndFunction(t *testing.T) {
	document, err := os.ReadFile("testdata/document.json")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, c := range readCases(t, "testdata/cases.jsonl") {
		c.Data = json.RawMessage(document)
		if err := c.run(t, c.Expr); err != nil {
			t.Errorf("%s: %s\n%v", c.ID, c.Expr, err)
		}
		all.WriteString(c.Expr + "\n")
	}
	for name := range builtins {
		if !strings.Contains(all.String(), "$"+name) {
			t.Errorf("no case uses $%s", name)
		}
	}
}
