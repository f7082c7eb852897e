// Package diag holds problems found in files: where they are, what they are
// called, and how they are printed.
package diag

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Pos is a place in a file. Line and Col count from 1; Col counts Unicode code
// points, a tab being one. The zero Pos means that the place is not known.
type Pos struct{ Line, Col int }

// IsZero reports whether the place is unknown.
func (p Pos) IsZero() bool { return p.Line == 0 }

// Before reports whether p comes earlier in a file than q.
func (p Pos) Before(q Pos) bool {
	return p.Line < q.Line || p.Line == q.Line && p.Col < q.Col
}

// String returns "line:column", or "?" for the zero Pos.
func (p Pos) String() string {
	if p.IsZero() {
		return "?"
	}
	return strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Col)
}

// Severity is the severity of a problem.
type Severity uint8

const (
	// Error is a problem that keeps a file from being used.
	Error Severity = iota
	// Warning is something that is probably not what the author meant.
	Warning
	// Info is worth knowing and may well be meant.
	Info
)

// String returns "error", "warning" or "info".
func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	default:
		return "info"
	}
}

// Related is another place that has to do with a problem, such as the first of
// two definitions. File may be empty where it is the diagnostic's own.
type Related struct {
	File    string
	Pos     Pos
	Message string
}

// Diagnostic is one problem at one place. End is the first position behind the
// place; where it is zero the place is a single character. Message is one plain
// sentence without a final full stop; Hint is what to do and may be empty.
type Diagnostic struct {
	File     string
	Pos, End Pos
	Severity Severity
	Code     string
	Message  string
	Hint     string
	Related  []Related
}

// Error returns the problem as one line of plain text: "file:line:col:
// severity: message [code]".
func (d Diagnostic) Error() string {
	var b strings.Builder
	b.WriteString(d.place())
	fmt.Fprintf(&b, "%s: %s", d.Severity, d.Message)
	if d.Code != "" {
		fmt.Fprintf(&b, " [%s]", d.Code)
	}
	return b.String()
}

// place returns "file:line:col: " or as much of it as is known.
func (d Diagnostic) place() string {
	return placeOf(d.File, d.Pos)
}

func placeOf(file string, pos Pos) string {
	var b strings.Builder
	if file != "" {
		b.WriteString(file + ":")
	}
	if !pos.IsZero() {
		b.WriteString(pos.String() + ":")
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	return b.String()
}

// Sort orders problems by file, then by place, then by severity, code and
// message, so that the order is always the same. It cuts their texts as
// [Sentence] does.
func Sort(ds []Diagnostic) {
	for i := range ds {
		ds[i] = ds[i].bounded()
	}
	slices.SortStableFunc(ds, func(a, b Diagnostic) int {
		switch {
		case a.File != b.File:
			return strings.Compare(a.File, b.File)
		case a.Pos.Before(b.Pos):
			return -1
		case b.Pos.Before(a.Pos):
			return 1
		case a.Severity != b.Severity:
			return int(a.Severity) - int(b.Severity)
		case a.Code != b.Code:
			return strings.Compare(a.Code, b.Code)
		default:
			return strings.Compare(a.Message, b.Message)
		}
	})
}

// HasErrors reports whether any of the problems is an Error.
func HasErrors(ds []Diagnostic) bool {
	return slices.ContainsFunc(ds, func(d Diagnostic) bool { return d.Severity == Error })
}
