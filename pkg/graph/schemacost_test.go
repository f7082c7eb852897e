package graph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// chainOfSchemas returns a schema of n definitions, each of which refers to the next.
func chainOfSchemas(t *testing.T, n int, format string) value.Value {
	t.Helper()
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/a0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"a%d":%s,`, i, strings.ReplaceAll(format, "NEXT", fmt.Sprintf(`{"$ref":"#/$defs/a%d"}`, i+1)))
	}
	fmt.Fprintf(&b, `"a%d":{"type":"string"}}}`, n)
	v, err := value.Parse(b.String())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestSchemasThatMultiplyAreRefused compiles chains that apply 2^n schemas to one value.
func TestSchemasThatMultiplyAreRefused(t *testing.T) {
	for _, format := range []string{
		`{"allOf":[NEXT,NEXT]}`, `{"anyOf":[NEXT,NEXT]}`, `{"oneOf":[NEXT,NEXT]}`, `{"if":NEXT,"then":NEXT}`, `{"not":NEXT,"allOf":[NEXT]}`,
		`{"dependentSchemas":{"x":NEXT,"y":NEXT}}`,
	} {
		if _, err := NewSchema(chainOfSchemas(t, 10, format)); err != nil {
			t.Errorf("%s: a short chain is refused: %v", format, err)
		}
		for _, n := range []int{14, 1000} {
			if _, err := NewSchema(chainOfSchemas(t, n, format)); err == nil || !strings.Contains(err.Error(), "more than 10000 schemas apply to one value") {
				t.Errorf("%s: a chain of %d: %v", format, n, err)
			}
		}
	}
	// Each of these applies to another value, or is the same one again.
	for _, format := range []string{`{"properties":{"x":NEXT,"y":NEXT}}`, `{"items":NEXT,"contains":NEXT}`, `{"allOf":[NEXT]}`, `NEXT`} {
		if _, err := NewSchema(chainOfSchemas(t, 1000, format)); err != nil {
			t.Errorf("%s: %v", format, err)
		}
	}
	cycle, _ := value.Parse(`{"$defs":{"node":{"properties":{"next":{"$ref":"#/$defs/node"},"all":{"type":"array","items":{"$ref":"#/$defs/node"}}}}},"$ref":"#/$defs/node"}`)
	if _, err := NewSchema(cycle); err != nil {
		t.Errorf("a recursive schema: %v", err)
	}
}
