package language

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// Action is a change that a diagnostic proposes.
type Action struct {
	Title      string
	Diagnostic int // index in Diagnostics
	Edits      []Edit
}

// Actions returns what can be done about the diagnostics that touch a range.
func Actions(d *Document, in Span) []Action {
	var list []Action
	for i, p := range d.Diagnostics {
		s := DiagnosticSpan(d, p)
		if p.File != d.Path || s.To < in.From || in.To < s.From {
			continue
		}
		old := d.Text[s.From:s.To]
		if by := replacement(old, p); by != "" && by != old {
			list = append(list, Action{"Replace " + old + " by " + by, i, []Edit{{Location{d.Path, s}, by}}})
		}
	}
	return list
}

// DiagnosticSpan returns the bytes that a diagnostic of this file is about: at
// least one character, if there is one.
func DiagnosticSpan(d *Document, p diag.Diagnostic) Span {
	s := Span{d.Offset(p.Pos), 0}
	if s.To = s.From; !p.End.IsZero() {
		s.To = max(s.From, d.Offset(p.End))
	} else if _, end := lineAt(d.Text, s.From); s.From < end {
		s.To = s.From + wordLen(d.Text[s.From:end])
	}
	return s
}

// wordLen returns the length of the word that a text begins with, at least that
// of one character.
func wordLen(s string) int {
	n := 0
	for n < len(s) && isNameByte(s[n]) {
		n++
	}
	if n > 0 || s == "" {
		return n
	}
	_, size := firstRune(s)
	return size
}

func firstRune(s string) (rune, int) {
	for i, r := range s {
		if i > 0 {
			return r, i
		}
	}
	return 0, len(s)
}

var proposed = regexp.MustCompile(`^(?:did you mean|names of functions begin with \$:) ("(?:[^"\\]|\\.)*"|[^\s?]+)\??$`)

// replacement returns what a hint proposes to write in the place of a text, or "".
func replacement(old string, p diag.Diagnostic) string {
	m := proposed.FindStringSubmatch(p.Hint)
	if m == nil || strings.Contains(old, "\n") {
		return ""
	}
	by := m[1]
	if name, err := strconv.Unquote(by); err == nil {
		by = name
	}
	inExpression := slices.Contains([]string{
		diag.CodeUnknownReference, diag.CodeUnknownProperty, diag.CodeFunction, diag.CodeVariable, diag.CodeUnknownVariable,
	}, p.Code)
	switch {
	case inExpression:
		return inPath(old, by, p.Code)
	case len(old) >= 2 && (old[0] == '"' || old[0] == '\''):
		return old[:1] + quoteValue(by, old[0], false) + old[:1]
	}
	return quoteValue(by, 0, false)
}

// inPath returns a part of an expression with the name that a diagnostic with this
// code is about replaced.
func inPath(old, by, code string) string {
	switch quote := strings.IndexAny(old, `"'`); {
	case strings.HasPrefix(by, "$"): // as it is written
		return by
	case code == diag.CodeFunction, code == diag.CodeVariable, code == diag.CodeUnknownVariable:
		return "$" + by
	case code == diag.CodeUnknownProperty:
		return exprName(by)
	case strings.Contains(old, "("): // $nodeExecution("id")
		end := -1
		if quote >= 0 {
			end = strings.IndexByte(old[quote+1:], old[quote])
		}
		if end < 0 {
			return ""
		}
		return old[:quote+1] + by + old[quote+1+end:]
	case strings.HasPrefix(old, "$"):
		root, path, _ := strings.Cut(old, ".")
		return root + "." + inPath(path, by, code)
	}
	_, below, more := strings.Cut(old, ".")
	if more {
		return exprName(by) + "." + below
	}
	return exprName(by)
}
