package diag

import (
	"encoding/json"
	"io"
)

type jsonDocument struct {
	Diagnostics []jsonDiagnostic `json:"diagnostics"`
	Errors      int              `json:"errors"`
	Warnings    int              `json:"warnings"`
	Infos       int              `json:"infos"`
}

type jsonDiagnostic struct {
	jsonPlace
	Severity string        `json:"severity"`
	Code     string        `json:"code"`
	Message  string        `json:"message"`
	Hint     string        `json:"hint,omitempty"`
	Related  []jsonRelated `json:"related,omitempty"`
}

type jsonRelated struct {
	jsonPlace
	Message string `json:"message"`
}

// jsonPlace leaves out what is not known.
type jsonPlace struct {
	File      string `json:"file,omitempty"`
	Line      int    `json:"line,omitempty"`
	Column    int    `json:"column,omitempty"`
	EndLine   int    `json:"endLine,omitempty"`
	EndColumn int    `json:"endColumn,omitempty"`
}

// WriteJSON prints problems as one JSON document: an object with the list
// "diagnostics" (file, line, column, endLine, endColumn, severity, code,
// message, hint, related) and the counts "errors", "warnings" and "infos".
// Lines and columns count from 1, columns in code points; the end is the first
// position behind the place. The list has at most maxProblems of one file, errors
// first, or all if that is 0; the counts are of all. It returns the first error of w.
func WriteJSON(w io.Writer, ds []Diagnostic, maxProblems int) error {
	doc := jsonDocument{Diagnostics: make([]jsonDiagnostic, 0, len(ds))}
	for _, d := range ds {
		switch d.Severity {
		case Error:
			doc.Errors++
		case Warning:
			doc.Warnings++
		default:
			doc.Infos++
		}
	}
	kept, _ := worst(ds, maxProblems)
	for _, d := range kept {
		out := jsonDiagnostic{
			jsonPlace: jsonPlace{d.File, d.Pos.Line, d.Pos.Col, d.End.Line, d.End.Col},
			Severity:  d.Severity.String(),
			Code:      d.Code,
			Message:   d.Message,
			Hint:      d.Hint,
		}
		for _, r := range d.Related {
			out.Related = append(out.Related, jsonRelated{
				jsonPlace: jsonPlace{File: fileOf(r, d), Line: r.Pos.Line, Column: r.Pos.Col},
				Message:   r.Message,
			})
		}
		doc.Diagnostics = append(doc.Diagnostics, out)
	}
	return encode(w, doc)
}

func fileOf(r Related, d Diagnostic) string {
	if r.File != "" {
		return r.File
	}
	return d.File
}

func encode(w io.Writer, doc any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(doc)
}
