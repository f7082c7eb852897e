package graphedit

import (
	"context"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// text is the text of a file that an edit changes.
type text struct {
	ctx  context.Context
	path string
	doc  *edit.Document
}

// root returns the file as it is now.
func (t *text) root() value.Value { return t.doc.Value() }

// edit applies edits of the text.
func (t *text) edit(ops ...edit.Operation) error {
	if err := t.ctx.Err(); err != nil {
		return err
	}
	_, doc, err := t.doc.Edit(ops...)
	if err != nil {
		return err
	}
	t.doc = doc
	return nil
}

// at returns what a pointer leads to.
func (t *text) at(pointer string) (value.Value, error) {
	_, v, err := descend("", t.root(), strings.Split(pointer, "/")[1:], false)
	return v, err
}

// set replaces the value at a pointer.
func (t *text) set(pointer string, v value.Value) error {
	return t.write(edit.Set(pointer, v), pointer, v)
}

// insert adds a key to a map or an element to a list.
func (t *text) insert(pointer string, v value.Value) error {
	return t.write(edit.Insert(pointer, v), pointer, v)
}

// write applies an edit that writes a value. A text of several lines stays one: what
// is in braces or brackets around it is written as a block.
func (t *text) write(op edit.Operation, pointer string, v value.Value) error {
	if err := t.edit(op); err != nil {
		return err
	}
	line := longLine(v)
	if line == "" || t.hasLine(line) {
		return nil
	}
	for {
		i := strings.LastIndexByte(pointer, '/')
		if i <= 0 {
			return nil
		}
		if pointer = pointer[:i]; strings.HasSuffix(pointer, "/nodes") || strings.HasSuffix(pointer, "/tools") {
			return nil // one text is no reason to write other nodes again
		}
		around, err := t.at(pointer)
		if err != nil {
			return nil
		}
		before := t.doc
		if t.edit(edit.Set(pointer, around)) == nil && t.hasLine(line) {
			return nil
		}
		t.doc = before // such as for a comment in the brackets
	}
}

// longLine returns a line of a text of several lines in a value, the longest one of
// that text; empty if there is no such text.
func longLine(v value.Value) string {
	switch v.Kind() {
	case value.String:
		if !strings.Contains(strings.TrimRight(v.Str(), "\n"), "\n") {
			return ""
		}
		longest := ""
		for line := range strings.Lines(v.Str()) {
			if line = strings.TrimSpace(line); len(line) > len(longest) {
				longest = line
			}
		}
		return longest
	case value.Array:
		for _, item := range v.Elems() {
			if line := longLine(item); line != "" {
				return line
			}
		}
	case value.Object:
		for _, e := range v.Entries() {
			if line := longLine(e.Value); line != "" {
				return line
			}
		}
	}
	return ""
}

// hasLine reports whether a line of the file is a text, apart from the white space
// around it.
func (t *text) hasLine(text string) bool {
	for line := range strings.Lines(string(t.doc.Source())) {
		if strings.TrimSpace(line) == text {
			return true
		}
	}
	return false
}
