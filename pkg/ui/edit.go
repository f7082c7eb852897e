package ui

import (
	"errors"
	"net/http"

	"github.com/mcpgraph/mcpgraph/internal/graphedit"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// editFile changes the graphs in the file, and nothing else of its text.
func (p *Page) editFile(w http.ResponseWriter, r *http.Request) error {
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
	f := p.texts.refresh()
	if f.err != nil {
		return notFound("%s", f.problems[0].Message)
	}
	if f.revision != body.Revision {
		return conflict(f)
	}
	result, err := graphedit.Apply(p.opts.Path, f.text, operations, graphedit.Options{Tool: body.Tool})
	var invalid *edit.InvalidError
	switch {
	case errors.As(err, &invalid):
		return &apiError{Status: http.StatusUnprocessableEntity, Code: "file_errors", Message: "the file is no valid YAML; correct it first", Problems: f.problems}
	case err != nil:
		return &apiError{Status: http.StatusUnprocessableEntity, Code: "bad_edit", Message: err.Error()}
	}
	answer := &saved{Revision: string(result.Revision), Text: string(result.Text), Diff: result.Diff}
	if body.DryRun {
		answer.Problems = p.problems(p.texts.check(string(result.Text)))
		p.answer(w, answer)
		return nil
	}
	// A file with errors can be edited too, as long as it does not become worse.
	force := diag.HasErrors(f.doc.Diagnostics)
	written, err := p.save(body.Revision, result.Text, force)
	if err != nil {
		return err
	}
	answer.Problems = written.Problems
	p.answer(w, answer)
	return nil
}
