package language

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzEdits cuts a text, writes something there and asks everything at that place:
// nothing panics, and all places are inside of the text.
func FuzzEdits(f *testing.F) {
	f.Add(house, uint(200), uint(10), "x: {")
	f.Add(house, uint(700), uint(0), "$.")
	f.Add(house, uint(0), uint(1000), "|\n \"")
	f.Add(offers, uint(800), uint(0), "$call(\"")
	f.Add(offers, uint(900), uint(20), "{expr: ")
	f.Add(houseTest, uint(120), uint(3), "[{")
	f.Add("a: |\r\n  b\r\rc: 🏠", uint(5), uint(1), "`")
	f.Add("tools: [{nodes: [{id: a, type: mcp, args: {\"", uint(44), uint(0), "")
	f.Fuzz(func(t *testing.T, text string, at, n uint, by string) {
		if len(text) > 4000 || len(by) > 100 || !utf8.ValidString(text) || !utf8.ValidString(by) {
			return
		}
		from := int(at % uint(len(text)+1))
		to := min(from+int(n%100), len(text))
		for from > 0 && !utf8.RuneStart((text + "x")[from]) {
			from--
		}
		for to < len(text) && !utf8.RuneStart(text[to]) {
			to++
		}
		var test *Document
		opts := Options{}
		cfg := New("house.yaml", house, opts, nil)
		opts.Open = func(string) *Document { return cfg }
		for _, path := range []string{"house.yaml", "house.test.yaml"} {
			doc := New(path, text[:from]+by+text[to:], opts, New(path, text, opts, nil))
			if path != "house.yaml" {
				test = doc
			}
			checkAll(t, doc, from+len(by), test)
		}
	})
}

// checkAll asks a document everything at an offset.
func checkAll(t *testing.T, d *Document, offset int, test *Document) {
	t.Helper()
	inside := func(what string, s Span) {
		if s.From < 0 || s.To < s.From || s.To > len(d.Text) {
			t.Errorf("%s has the bytes %d to %d of %d", what, s.From, s.To, len(d.Text))
		}
	}
	offset = min(offset, len(d.Text))
	items, _ := Complete(d, offset)
	for _, i := range items {
		inside("item "+i.Label, i.Span)
		if i.From > offset || i.To < offset {
			t.Errorf("item %q replaces %v, not around %d", i.Label, i.Span, offset)
		}
	}
	if _, s, ok := Hover(d, offset); ok {
		inside("hover", s)
	}
	for _, s := range d.Highlights(offset) {
		inside("highlight", s)
	}
	d.Definition(offset)
	d.References(offset, true, []*Document{test})
	for _, p := range d.Diagnostics {
		inside("diagnostic", DiagnosticSpan(d, p))
	}
	for _, a := range Actions(d, Span{0, len(d.Text)}) {
		inside("action", a.Edits[0].Span)
	}
	edits, err := Rename(d, offset, "renamed", []*Document{test})
	for _, e := range edits {
		if e.Path == d.Path {
			inside("edit", e.Span)
		}
	}
	_ = err // it may say anything
	var outline func(list []Symbol)
	outline = func(list []Symbol) {
		for _, s := range list {
			inside("symbol", s.Span)
			inside("name of a symbol", s.Selection)
			outline(s.Children)
		}
	}
	outline(Symbols(d))
}

// large returns a file of 2,000 lines with 200 nodes.
func large() string {
	var b strings.Builder
	b.WriteString("version: \"1.0\"\nserver: {name: big, version: 1.0.0}\nmcpServers:\n  files:\n    command: go\ntools:\n")
	for tool := range 10 {
		fmt.Fprintf(&b, "  - name: tool%d\n    description: A tool\n    inputSchema:\n      type: object\n      properties:\n        directory: {type: string}\n    nodes:\n      - {id: entry, type: entry, next: list0}\n", tool)
		for n := range 10 {
			next := fmt.Sprintf("list%d", n+1)
			if n == 9 {
				next = "exit"
			}
			fmt.Fprintf(&b, "      # step %[1]d\n      - id: list%[1]d\n        type: mcp\n        server: files\n        tool: list_directory\n        args:\n          path: {expr: $.entry.directory}\n        next: count%[1]d\n\n"+
				"      - id: count%[1]d\n        type: transform\n        transform:\n          expr: |\n            {\n              \"count\": $count($split($.list%[1]d.content, \"\\n\")),\n              \"n\": $.list%[1]d.x\n            }\n        next: %[2]s\n\n", n, next)
		}
		b.WriteString("      - {id: exit, type: exit}\n")
	}
	return b.String()
}

// BenchmarkKeystroke is what one keystroke in a file of 2,000 lines costs: the
// diagnostics of the new text, and a completion in it.
func BenchmarkKeystroke(b *testing.B) {
	text := large()
	last := New("big.yaml", text, Options{}, nil)
	for _, c := range []struct{ name, line, by string }{
		{"valid", "        next: count5\n", "        next: cou"},
		{"broken", "        next: count5\n", "        nex"},
		{"expression", "              \"n\": $.list5.x\n", "              \"n\": $."},
		{"flow", "          path: {expr: $.entry.directory}\n", "          path: {expr: $.entry."},
	} {
		at := strings.Index(text[len(text)/2:], c.line) + len(text)/2
		edited, offset := text[:at]+c.by+"\n"+text[at+len(c.line):], at+len(c.by)
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				doc := New("big.yaml", edited, Options{}, last)
				if items, _ := Complete(doc, offset); len(items) == 0 {
					b.Fatal("nothing completes it")
				}
			}
		})
	}
}
