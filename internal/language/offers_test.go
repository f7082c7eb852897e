package language

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const offers = `version: "1.0"
server: {name: test, version: "1"}
tools:
  - name: diff
    description: Changes
    inputSchema: {type: object, properties: {n: {type: string}}}
    nodes:
      - {id: entry, type: entry, next: exit}
      - {id: exit, type: exit}
  - name: pulls
    description: Pulls
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: ask}
      - {id: ask, type: call, tool: diff, next: exit}
      - {id: exit, type: exit}
prompts:
  - name: review
    arguments:
      - {name: number, description: The pull request, complete: {expr: '$call("pulls") ~> $append($call("diff"))'}}
    messages:
      - {role: user, text: {expr: '$call("diff", {"n": number}).n & $call("diff", {"n": "2"}).n'}}
resources:
  - name: by-day
    uriTemplate: day://{day}
    complete: {day: {expr: $call("diff")}}
    nodes:
      - {id: entry, type: entry, next: make}
      - {id: make, type: transform, transform: {expr: $.entry.day}, next: exit}
      - {id: exit, type: exit}
`

func TestCompletePromptsAndResources(t *testing.T) {
	last := New("test.yaml", offers, Options{}, nil)
	if len(last.Diagnostics) != 0 {
		t.Fatal(last.Diagnostics)
	}
	for _, c := range []struct{ line, by, want, not string }{
		{"    arguments:\n", "    ti‸\n    arguments:\n", "title description icons", "name"},
		{"{name: number, description", "{name: number, ‸, description", "title required", "text"},
		{"{role: user, text", "{role: ‸, text", "user assistant", ""},
		{"{role: user, text: {expr", "{role: user, ‸, text: {expr", "content", "next"},
		{"    uriTemplate: day://{day}\n", "    uriTemplate: day://{day}\n    ‸\n", "title mimeType annotations subscribe", "name"},
		{"resources:\n", "pass‸\nresources:\n", "passthrough executionLimits", "prompts"},
		{`& $call("diff", {"n": "2"}).n`, `& nu‸`, "number", "entry"},
		{`& $call("diff", {"n": "2"}).n`, `& $ca‸`, "$call $abs", "$.entry"},
		{`& $call("diff", {"n": "2"}).n`, `& $call("di‸`, "diff pulls", "prompts/review"},
		{`day: {expr: $call("diff")}`, `day: {expr: da‸}`, "day", "make"},
		{"transform: {expr: $.entry.day}", "transform: {expr: $.entry.‸}", "day", ""},
		{"{id: entry, type: entry, next: make}", "{id: entry, type: entry, next: ‸}", "make exit", "ask"},
		{"tool: diff, next", "tool: ‸, next", "diff pulls prompts/review resources/by-day", ""},
	} {
		t.Run(c.by, func(t *testing.T) {
			if strings.Count(offers, c.line) != 1 {
				t.Fatalf("%q is there %d times", c.line, strings.Count(offers, c.line))
			}
			text, offset := cut(t, strings.Replace(offers, c.line, c.by, 1))
			items, _ := Complete(New("test.yaml", text, Options{}, last), offset)
			got := labels(items)
			for _, want := range strings.Fields(c.want) {
				if !slices.Contains(got, want) {
					t.Errorf("%q is not among %q", want, got)
				}
			}
			if slices.Contains(got, c.not) {
				t.Errorf("%q is among %q", c.not, got)
			}
		})
	}
}

func TestNamesOfToolsInCallsOfMessages(t *testing.T) {
	docs := files(t, map[string]string{"offers.yaml": offers})
	doc := docs["offers.yaml"]
	for _, place := range []string{`$append($call("di‸ff"))`, `expr: '$call("di‸ff", {"n": number`, `{expr: $call("di‸ff")}`} {
		offset := at(t, offers, place)
		if got := fmt.Sprintf("%q", texts(docs, doc.Definition(offset))); got != `["diff in - name: diff"]` {
			t.Errorf("%s: defined at %s", place, got)
		}
		// The definition, the call node, two calls in a message, two completions.
		if got := doc.References(offset, true, nil); len(got) != 6 {
			t.Errorf("%s: %q", place, texts(docs, got))
		}
	}
	if _, _, err := Renamed(doc, at(t, offers, "role: us‸er")); err == nil {
		t.Error("a role can be renamed")
	}
	var names []string
	for _, s := range Symbols(doc) {
		for _, child := range s.Children {
			names = append(names, child.Name)
		}
	}
	if got := strings.Join(names, " "); got != "diff pulls review by-day" {
		t.Errorf("symbols: %s", got)
	}
}
