package ui

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/mcpgraph/mcpgraph/internal/graphedit"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// editFile changes the graphs in the file, and nothing else of its text.
func (t *texts) editFile(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Revision   string      `json:"revision"`
		Tool       string      `json:"tool"`
		Operations value.Value `json:"operations"`
		DryRun     bool        `json:"dryRun"`
	}
	if err := decode(w, r, maxCommand, &body); err != nil {
		return err
	}
	operations, err := graphedit.ParseOperations(body.Operations)
	if err != nil {
		return badRequest("operations: %v", err)
	}
	f := t.refresh()
	if f.err != nil {
		return notFound("%s", f.problems[0].Message)
	}
	if f.revision != body.Revision {
		return conflict(f)
	}
	result, err := graphedit.ApplyContext(r.Context(), t.page.opts.Path, f.text, operations, graphedit.Options{Tool: body.Tool, Memory: t.page.opts.Memory})
	var invalid *edit.InvalidError
	switch {
	case errors.As(err, &invalid):
		return &apiError{Status: http.StatusUnprocessableEntity, Code: "file_errors", Message: "the file is no valid YAML; correct it first", Problems: f.problems}
	case err != nil:
		return &apiError{Status: http.StatusUnprocessableEntity, Code: "bad_edit", Message: err.Error()}
	}
	answer := &saved{Revision: string(result.Revision), Text: string(result.Text), Diff: result.Diff}
	after := t.problems(t.check(r.Context(), string(result.Text)))
	refused := worse(f.problems, after)
	if body.DryRun {
		answer.Problems, answer.Refused = after, refused
		respond(w, answer)
		return nil
	}
	// A file with errors can be edited too, as long as it does not become worse.
	if len(refused) > 0 {
		return &apiError{
			Status: http.StatusUnprocessableEntity, Code: "file_errors", Problems: after,
			Message: fmt.Sprintf("%s would have an error in line %d: %s", t.name(), refused[0].Span.From.Line, refused[0].Message),
		}
	}
	written, err := t.save(r.Context(), body.Revision, result.Text, diag.HasErrors(f.doc.Diagnostics))
	if err != nil {
		return err
	}
	answer.Problems = written.Problems
	respond(w, answer)
	return nil
}

// worse returns the errors that a text has and the one before it had not: those of the
// codes of which there are more now. Messages name lines, which an edit moves.
func worse(before, after []problem) []problem {
	isError := func(e *problem) bool { return e.Severity == diag.Error.String() }
	more, known := map[string]int{}, map[string]bool{}
	for _, e := range before {
		if isError(&e) {
			more[e.Code]--
			known[e.Code+" "+e.Message] = true
		}
	}
	for _, e := range after {
		if isError(&e) {
			more[e.Code]++
		}
	}
	var list []problem
	for _, skip := range []bool{true, false} { // all of a code if the new ones read as the others
		for _, e := range after {
			if isError(&e) && more[e.Code] > 0 && !(skip && known[e.Code+" "+e.Message]) {
				list = append(list, e)
			}
		}
		if len(list) > 0 {
			break
		}
	}
	return list
}
