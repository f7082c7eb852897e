package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// Problem returns a diagnostic about the node, with the severity of its code.
func (n *Node) Problem(code, message string) diag.Diagnostic {
	return diag.Diagnostic{
		File: n.File(), Pos: n.Pos(), End: n.End(),
		Severity: diag.SeverityOf(code), Code: code, Message: message,
	}
}

// Problem returns a diagnostic about the whole string, with the severity of its
// code.
func (t Text) Problem(code, message string) diag.Diagnostic {
	return t.node.Problem(code, message)
}

// ProblemAt returns a diagnostic about the bytes of the string from from up to
// to, with the severity of its code. Where to is not behind from it is about a
// single place.
func (t Text) ProblemAt(from, to int, code, message string) diag.Diagnostic {
	d := t.node.Problem(code, message)
	d.Pos, d.End = t.At(from), diag.Pos{}
	if to > from {
		d.End = t.After(to)
	}
	return d
}

// Expected returns the diagnostic for a value of the wrong type. what names the
// value (`"url"`), want is what it should be ("a string").
func (n *Node) Expected(what, want string) diag.Diagnostic {
	d := n.Problem(diag.CodeType, fmt.Sprintf("%s must be %s, found %s", what, want, n.Describe()))
	d.Hint = remedy(n, what)
	return d
}

// Missing returns the diagnostic for a required field that the Map n does not
// have. owner names n (`tool "count"`).
func (n *Node) Missing(owner, field string) diag.Diagnostic {
	d := n.Problem(diag.CodeMissing, fmt.Sprintf("missing required field %q in %s", field, owner))
	d.End, d.Hint = diag.Pos{}, missingRemedies[field]
	return d
}

// Unknown returns the diagnostic for a key that owner does not have: an error
// where it is within two edits of a valid one, else a warning.
func (t Text) Unknown(owner string, valid []string) diag.Diagnostic {
	message := fmt.Sprintf("unknown field %q in %s", t.String(), owner)
	if what, at := findSpaceLookalike([]byte(t.String())); at >= 0 {
		d := t.Problem(diag.CodeMisspelt, message)
		d.Hint = "it contains " + what + ": use a plain space"
		return d
	}
	if hint := diag.Meant(diag.Nearest(t.String(), valid)); hint != "" {
		d := t.Problem(diag.CodeMisspelt, message)
		d.Hint = hint
		return d
	}
	d := t.Problem(diag.CodeUnknownField, message+"; it is ignored")
	known := synonym(t.String(), valid)
	d.Hint = cmp.Or(diag.Meant(known, known != ""), "expected "+diag.List(valid)+"; fields that begin with \"x-\" are allowed too")
	return d
}

// IsFree reports whether a key is outside the language: those that begin with
// "x-" belong to other programs.
func IsFree(key string) bool { return strings.HasPrefix(key, "x-") }

// unknownFields reports each key of n that is not among valid.
func unknownFields(n *Node, owner string, valid []string) []diag.Diagnostic {
	var ds []diag.Diagnostic
	for _, f := range n.Fields() {
		if key := f.Key.String(); !IsFree(key) && !slices.Contains(valid, key) {
			ds = append(ds, f.Key.Unknown(owner, valid))
		}
	}
	return ds
}
