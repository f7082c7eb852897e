// Package edit changes the text of configuration and test files: it formats
// them, and it edits single values. What an edit does not concern stays as it
// is, byte for byte.
package edit

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// InvalidError is the error for a text that is not valid YAML.
type InvalidError struct {
	// Diagnostics holds at least one error.
	Diagnostics []diag.Diagnostic
}

// Error returns the first error in the text.
func (e *InvalidError) Error() string {
	for _, d := range e.Diagnostics {
		if d.Severity == diag.Error {
			return d.Error()
		}
	}
	return "the file is not valid YAML"
}

// ErrUnsafe is in the error of an edit whose result would not mean what it must.
// Nothing has been changed.
var ErrUnsafe = errors.New("the edit would change more than it should")

var byteOrderMark = []byte("\ufeff")

// Format returns the text of a configuration or a test file with the usual
// indentation and order of keys. Data, comments and expressions mean the same as
// before, and formatting the result again changes nothing.
//
// The error is an *InvalidError if the text is not valid YAML, and wraps
// ErrUnsafe if the result would not mean the same. It is safe for concurrent use.
func Format(path string, source []byte) ([]byte, error) {
	text, mark := bytes.CutPrefix(source, byteOrderMark)
	breaks := "\n"
	if i := bytes.IndexAny(text, "\r\n"); i >= 0 && bytes.HasPrefix(text[i:], []byte("\r\n")) {
		breaks = "\r\n"
	}
	if bytes.IndexByte(text, '\r') >= 0 {
		text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	}
	out, err := format(path, text)
	if err != nil {
		return nil, err
	}
	if breaks != "\n" {
		out = bytes.ReplaceAll(out, []byte("\n"), []byte(breaks))
	}
	if mark {
		out = append(bytes.Clone(byteOrderMark), out...)
	}
	return out, nil
}

// format formats a text whose only line break is LF.
func format(path string, text []byte) ([]byte, error) {
	first, err := parse(path, text)
	if err != nil {
		return nil, err
	}
	kind := rootPart(path, first.layout)
	now := first
	// Once is enough. Where unusual constructs need one more round, the result is
	// the one that does not change any more.
	for range maxRounds {
		out, ok := printed(now, kind)
		if !ok || bytes.Equal(out, now.text) {
			return now.text, same(kind, first, now)
		}
		if now, err = parse(path, out); err != nil {
			return nil, fmt.Errorf("%w: the result would not be valid YAML", ErrUnsafe)
		}
	}
	return nil, fmt.Errorf("%w: formatting the result would change it again", ErrUnsafe)
}

func parse(path string, text []byte) (version, error) {
	n, l, ds := config.ParseLayout(path, text)
	if l == nil || diag.HasErrors(ds) {
		return version{}, &InvalidError{ds}
	}
	return version{text, l, n.Value()}, nil
}

// maxRounds is how often a text is printed before Format gives up.
const maxRounds = 5

// printed returns the text of a file in its usual form; ok is false for a file
// without a usual form.
func printed(v version, kind part) (out []byte, ok bool) {
	p := &printer{src: v.text, out: make([]byte, 0, len(v.text)+len(v.text)/8), grammar: theGrammar()}
	if !v.layout.IsOrdered() || !p.file(v.layout, kind) {
		return nil, false
	}
	return p.out, true
}
