package graphedit

import (
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// set replaces the value at a pointer.
func (w *work) set(pointer string, v value.Value) error {
	return w.write(edit.Set(pointer, v), pointer, v)
}

// insert adds a key to a map or an element to a list.
func (w *work) insert(pointer string, v value.Value) error {
	return w.write(edit.Insert(pointer, v), pointer, v)
}

// write applies an edit that writes a value. A text of several lines stays one: what
// is in braces or brackets around it is written as a block.
func (w *work) write(op edit.Operation, pointer string, v value.Value) error {
	if err := w.edit(op); err != nil {
		return err
	}
	line := longLine(v)
	if line == "" || w.hasLine(line) {
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
		around, err := w.at(pointer)
		if err != nil {
			return nil
		}
		before := w.doc
		if w.edit(edit.Set(pointer, around)) == nil && w.hasLine(line) {
			return nil
		}
		w.doc = before // such as for a comment in the brackets
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
func (w *work) hasLine(text string) bool {
	for line := range strings.Lines(string(w.doc.Source())) {
		if strings.TrimSpace(line) == text {
			return true
		}
	}
	return false
}
