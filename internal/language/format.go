package language

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/mcpgraph/mcpgraph/pkg/edit"
)

// Format returns the edits that format the file, none if it is formatted already.
// Lines at the beginning and the end that stay are not part of them. The error says
// why the file cannot be formatted.
func Format(d *Document) ([]Edit, error) {
	if d.Kind == Other || d.Kind == Blank || hasOnlyComments(d.Text) {
		return nil, nil
	}
	if len(d.Text) > MaxBytes {
		return nil, errors.New("the file is too long to be formatted in the editor; use `mcpgraph fmt`")
	}
	formatted, err := edit.Format(d.Path, []byte(d.Text))
	var invalid *edit.InvalidError
	if errors.As(err, &invalid) {
		return nil, errors.New("the file has a YAML error; correct it before you format")
	}
	if err != nil {
		return nil, err
	}
	return changes(d.Path, d.Text, string(formatted)), nil
}

// hasOnlyComments reports whether a text has nothing to format.
func hasOnlyComments(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return false
		}
	}
	return true
}

// changes returns the edit that makes one text of another: what lies between the
// lines that both begin with and those that both end with.
func changes(path, old, new string) []Edit {
	if old == new {
		return nil
	}
	from := 0
	for from < len(old) && from < len(new) && old[from] == new[from] {
		from++
	}
	from = strings.LastIndexByte(old[:from], '\n') + 1
	oldEnd, newEnd := len(old), len(new)
	for oldEnd > from && newEnd > from && old[oldEnd-1] == new[newEnd-1] {
		oldEnd--
		newEnd--
	}
	for oldEnd < len(old) && (!utf8.RuneStart(old[oldEnd]) || oldEnd > 0 && old[oldEnd-1] != '\n') {
		oldEnd++
		newEnd++
	}
	return []Edit{{Location{path, Span{from, oldEnd}}, new[from:newEnd]}}
}
