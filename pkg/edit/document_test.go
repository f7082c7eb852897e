package edit_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func json(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

const edited = `# head
tools:
  # the first
  - name: a   # of name
    inputSchema: {type: object, required: [x]}
    nodes:

      # entry
      - {id: in, type: entry, next: b}

      - id: b # of b
        type: transform
        transform:
          expr: |
            $.in   # not a comment
        # of next
        next: out

      - {id: out, type: exit}
      # end of nodes
x-empty: []
x-text: 'it''s'
# tail
`

func TestEdit(t *testing.T) {
	tests := []struct {
		name string
		op   edit.Operation
		old  string // what is replaced in the text above
		new  string
	}{
		{"a scalar", edit.Set("/tools/0/name", json(t, `"b c"`)), "name: a   #", "name: b c   #"},
		{"quotes stay", edit.Set("/x-text", json(t, `"it is"`)), "'it''s'", "'it is'"},
		{"quotes where they are needed", edit.Set("/tools/0/name", json(t, `"a: #"`)), "name: a ", "name: 'a: #' "},
		{"in braces", edit.Set("/tools/0/nodes/0/next", json(t, `"out"`)), "next: b}", "next: out}"},
		{"a new key in braces", edit.Set("/tools/0/nodes/0/x", json(t, `{"a":[1]}`)), "next: b}", "next: b, x: {a: [1]}}"},
		{"a text becomes a block", edit.Set("/tools/0/name", json(t, `"a\n b\n"`)), "name: a   # of name\n", "name: |   # of name\n      a\n       b\n"},
		{"a block becomes a scalar", edit.Set("/tools/0/nodes/1/transform/expr", json(t, `"$.in"`)),
			"expr: |\n            $.in   # not a comment\n", "expr: $.in\n"},
		{"another block", edit.Set("/tools/0/nodes/1/transform/expr", json(t, `"(\n  1\n)"`)),
			"expr: |\n            $.in   # not a comment\n", "expr: |-\n            (\n              1\n            )\n"},
		{"a map in place of a map", edit.Set("/tools/0/nodes/1/transform", json(t, `{"expr":"1","y":{"z":{}}}`)),
			"transform:\n          expr: |\n            $.in   # not a comment\n", "transform:\n          expr: '1'\n          y:\n            z: {}\n"},
		{"a key in the documented order", edit.Set("/tools/0/description", json(t, `"D"`)), "# of name\n", "# of name\n    description: D\n"},
		{"a key at the end", edit.Set("/x-new", json(t, `{"a":1}`)), "# tail\n", "x-new: {a: 1}\n# tail\n"},
		{"a map of several lines", edit.Set("/x-text", json(t, `{"a":{"b":["c\nd"]}}`)), "x-text: 'it''s'\n", "x-text:\n  a:\n    b:\n      - |-\n        c\n        d\n"},
		{"a node at the front", edit.Insert("/tools/0/nodes/0", json(t, `{"id":"z","type":"wait"}`)), "nodes:\n", "nodes:\n      - {id: z, type: wait}\n"},
		{"a node in the middle", edit.Insert("/tools/0/nodes/1", json(t, `{"id":"z","type":"transform","transform":{"expr":"1\n+2"}}`)),
			"next: b}\n", "next: b}\n\n      - id: z\n        type: transform\n        transform:\n          expr: |-\n            1\n            +2\n"},
		{"a node at the end", edit.Insert("/tools/0/nodes/-", json(t, `{"id":"z","type":"wait"}`)),
			"type: exit}\n", "type: exit}\n\n      - {id: z, type: wait}\n"},
		{"an element in brackets", edit.Insert("/tools/0/inputSchema/required/0", json(t, `"a"`)), "[x]", "[a, x]"},
		{"an element in empty brackets", edit.Insert("/x-empty/0", json(t, `"a"`)), "x-empty: []", "x-empty: [a]"},
		{"a node is removed", edit.Remove("/tools/0/nodes/2"), "      - {id: out, type: exit}\n", ""},
		{"a key in braces is removed", edit.Remove("/tools/0/nodes/0/type"), "id: in, type: entry,", "id: in,"},
		{"the last key in braces is removed", edit.Remove("/tools/0/nodes/0/next"), ", next: b}", "}"},
		{"the only element is removed", edit.Remove("/tools/0/inputSchema/required/0"), "[x]", "[]"},
		{"the only key is removed", edit.Remove("/tools/0/nodes/1/transform/expr"),
			"transform:\n          expr: |\n            $.in   # not a comment\n", "transform: {}\n"},
		{"the first key behind a dash is removed", edit.Remove("/tools/0/name"), "- name: a   # of name\n    inputSchema", "- inputSchema"},
		{"a key is renamed", edit.Rename("/x-text", "x y"), "x-text:", "x y:"},
		{"a node is moved down", edit.Move("/tools/0/nodes/0", 1), "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, breaks := range []string{"\n", "\r\n"} {
				source := "\ufeff" + strings.ReplaceAll(edited, "\n", breaks)
				want := strings.Replace(source, strings.ReplaceAll(tt.old, "\n", breaks), strings.ReplaceAll(tt.new, "\n", breaks), 1)
				if tt.old == "" {
					want = strings.ReplaceAll("\ufeff"+movedNode, "\n", breaks)
				}
				d, err := edit.Parse("tools.yaml", []byte(source))
				if err != nil {
					t.Fatal(err)
				}
				edits, result, err := d.Edit(tt.op)
				if err != nil {
					t.Fatal(err)
				}
				if got := string(result.Source()); got != want {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
				if got := edit.Apply([]byte(source), edits); !bytes.Equal(got, result.Source()) {
					t.Errorf("the edits make\n%s", got)
				}
				if d.Revision() == result.Revision() || d.Revision() != edit.RevisionOf([]byte(source)) {
					t.Error("wrong revisions")
				}
			}
		})
	}
}

var movedNode = strings.Replace(strings.Replace(edited, `
      # entry
      - {id: in, type: entry, next: b}

`, "\n", 1), `        next: out

`, `        next: out

      # entry
      - {id: in, type: entry, next: b}

`, 1)

func TestOperationsApplyInTurnOrNotAtAll(t *testing.T) {
	d, err := edit.Parse("tools.yaml", []byte(edited))
	if err != nil {
		t.Fatal(err)
	}
	edits, result, err := d.Edit(
		edit.Insert("/tools/0/nodes/1", json(t, `{"id":"n","type":"wait","ms":1}`)),
		edit.Set("/tools/0/nodes/0/next", json(t, `"n"`)),
		edit.Set("/tools/0/nodes/1/next", json(t, `"b"`)),
		edit.Rename("/x-text", "x-other"),
	)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(edited, "next: b}\n", "next: n}\n\n      - {id: n, type: wait, ms: 1, next: b}\n", 1)
	want = strings.Replace(want, "x-text", "x-other", 1)
	if got := string(result.Source()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for i, e := range edits {
		if i > 0 && e.Start < edits[i-1].End {
			t.Errorf("edits overlap: %v", edits)
		}
	}
	if _, _, err := d.Edit(edit.Set("/x-text", json(t, `1`)), edit.Remove("/nothing")); !errors.Is(err, edit.ErrPath) {
		t.Errorf("got %v", err)
	} else if !strings.Contains(err.Error(), "operation 2, remove /nothing") {
		t.Errorf("got %v", err)
	}
	if string(d.Source()) != edited {
		t.Error("the document has changed")
	}
}

func TestEditRefusesWhatItCannotDo(t *testing.T) {
	const source = "a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n  e: [1]\n? f\n: 1\n"
	for _, tt := range []struct {
		op   edit.Operation
		want error
	}{
		{edit.Set("/c/b", json(t, `2`)), edit.ErrPath},
		{edit.Set("/a/b", json(t, `2`)), edit.ErrUnsafe},
		{edit.Remove("/a"), edit.ErrUnsafe},
		{edit.Remove("/d/b"), edit.ErrPath},
		{edit.Remove(""), edit.ErrPath},
		{edit.Remove("a"), edit.ErrPath},
		{edit.Set("/d/e/01", json(t, `2`)), edit.ErrPath},
		{edit.Insert("/d/e/5", json(t, `2`)), edit.ErrPath},
		{edit.Insert("/d/e", json(t, `2`)), edit.ErrPath},
		{edit.Move("/d/e/0", 1), edit.ErrPath},
		{edit.Rename("/d/e", "<<"), edit.ErrPath},
		{edit.Set("/f", json(t, `2`)), edit.ErrUnsafe},
	} {
		d, err := edit.Parse("f.yaml", []byte(source))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := d.Edit(tt.op); !errors.Is(err, tt.want) {
			t.Errorf("%v: got %v, want %v", tt.op, err, tt.want)
		}
	}
	var invalid *edit.InvalidError
	if _, err := edit.Parse("f.yaml", []byte("a: [")); !errors.As(err, &invalid) || len(invalid.Diagnostics) == 0 {
		t.Errorf("got %v", err)
	}
}

// TestValuesAsText shows that a value that came as JSON with escapes is written like
// any other.
func TestValuesAsText(t *testing.T) {
	v, err := value.ParseLazy(`{"rule": {"\u003e": [1.0, "\u0041"]}}`)
	if err != nil {
		t.Fatal(err)
	}
	d, err := edit.Parse("a.yaml", []byte("tools:\n  - {name: a}\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, next, err := d.Edit(edit.Insert("/tools/-", v))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(next.Source()); got != "tools:\n  - {name: a}\n  - {rule: {'>': [1, A]}}\n" {
		t.Errorf("got %q", got)
	}
}
