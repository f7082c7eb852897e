package server

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestMirroredArgumentsAloneAreDecodedAgain(t *testing.T) {
	schema := `{"type":"object","properties":{
		"a":{"type":"string","x-mcp-header":"A"},
		"in":{"type":"object","properties":{"b":{"type":"integer","x-mcp-header":"B"},"c":{"type":"boolean","x-mcp-header":"C"}}}}}`
	tool := &mcp.Tool{Name: "t", RawInputSchema: json.RawMessage(schema)}
	m := newMirroredTool(tool)
	if m == nil || len(m.paths) != 3 || newMirroredTool(&mcp.Tool{Name: "t", RawInputSchema: json.RawMessage(`{"type":"object"}`)}) != nil {
		t.Fatalf("%+v", m)
	}
	headers := map[string]string{"Mcp-Param-A": "x", "Mcp-Param-B": "7"}
	lookup := func(name string) (string, bool) { v, ok := headers[name]; return v, ok }
	long := `"long":[` + strings.Repeat(`{"n":1},`, 10_000) + `0]`
	for _, args := range []string{
		`{"a":"x","in":{"b":7}}`, `{"a":"x","in":{"b":7,"c":null}}`, `{"a":"x","in":{"b":7,"c":true}}`, `{"a":"y","in":{"b":7}}`,
		`{"a":"x"}`, `{"a":"x","in":null}`, `{"a":"x","in":[1]}`, `{"a":"x","in":"b"}`, `{"a":"x","in":{"b":[7]}}`, `{"a":"x","in":{"b":{"b":7}}}`,
		`{"a":["x"],"in":{"b":7}}`, `{"A":"x","in":{"b":7}}`, `{}`, `{"a":"x","in":{"b":7.0}}`, `{"a":"x","in":{"b":8}}`,
	} {
		for _, text := range []string{args, strings.TrimSuffix(args, "}") + map[bool]string{true: "", false: ","}[args == "{}"] + long + "}"} {
			v, err := value.ParseLazy(text)
			if err != nil {
				t.Fatal(err)
			}
			// The library looks at the headers in no order.
			want := map[string]bool{}
			for range 20 {
				message := ""
				if err := mcp.ValidateParamHeadersLookup(lookup, tool, json.RawMessage(`{"arguments":`+text+`}`)); err != nil {
					message = err.Error()
				}
				want[message] = true
			}
			got := ""
			if err := m.check(lookup, v); err != nil {
				got = err.Message
			}
			if !want[got] {
				t.Errorf("%.60s: %q, want one of %v", text, got, want)
			}
			if size := len(m.params(v)); size > 100 {
				t.Errorf("%.60s: the library decodes %d bytes", text, size)
			}
		}
	}
	v, _ := value.Parse(`{"a":"` + strings.Repeat("x", maxHeaders+1) + `"}`)
	if got := m.check(lookup, v); got == nil || !strings.Contains(got.Message, "too long") {
		t.Errorf("an argument that no header can repeat: %v", got)
	}
	if got := m.check(func(string) (string, bool) { return "", false }, value.Undef); got != nil {
		t.Errorf("without arguments: %v", got)
	}
}
