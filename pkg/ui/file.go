package ui

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/language"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/edit"
)

func (t *texts) getFile(w http.ResponseWriter, _ *http.Request) error {
	f := t.refresh()
	if f.err != nil {
		return notFound("%s", f.problems[0].Message)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("ETag", `"`+f.revision+`"`)
	_, _ = w.Write(f.text)
	return nil
}

type saved struct {
	Revision string    `json:"revision"`
	Text     string    `json:"text,omitempty"`
	Diff     string    `json:"diff,omitempty"`
	Problems []problem `json:"problems"`
	// Refused are the errors for which an edit that is tried would not be saved.
	Refused []problem `json:"refused,omitempty"`
}

func (t *texts) putFile(w http.ResponseWriter, r *http.Request) error {
	text, err := readBody(w, r, language.MaxBytes, "text/plain")
	if err != nil {
		return err
	}
	given := r.Header.Values("If-Match")
	if len(given) != 1 {
		return &apiError{Status: http.StatusPreconditionRequired, Code: "no_revision", Message: "If-Match has to name the revision of the text that was changed"}
	}
	answer, err := t.save(r.Context(), strings.Trim(given[0], `"`), text, r.URL.Query().Get("force") == "1")
	if err != nil {
		return err
	}
	respond(w, answer)
	return nil
}

// save writes the file, if it still has the revision. A text with errors is written
// only where force is true. What is written is loaded.
func (t *texts) save(ctx context.Context, revision string, text []byte, force bool) (*saved, error) {
	t.saving.Lock()
	defer t.saving.Unlock()
	if f := t.refresh(); f.revision != revision {
		return nil, conflict(f)
	}
	d := t.check(ctx, string(text))
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	problems := t.problems(d)
	if diag.HasErrors(d.Diagnostics) && !force {
		return nil, &apiError{
			Status: http.StatusUnprocessableEntity, Code: "file_errors", Message: t.name() + " has errors; it was not saved", Problems: problems,
		}
	}
	err := edit.Write(t.page.opts.Path, edit.Revision(revision), text)
	if errors.Is(err, edit.ErrConflict) {
		return nil, conflict(t.refresh())
	}
	if err != nil {
		return nil, err
	}
	if t.page.opts.Reload != nil {
		if err := t.page.opts.Reload(); err != nil {
			t.page.opts.Log.Debug("the page saved a file that cannot be loaded", "error", err)
			t.page.FileChanged()
		}
	}
	return &saved{Revision: string(edit.RevisionOf(text)), Problems: problems}, nil
}

// conflict is the error of a change to a text that is not there any more.
func conflict(f *onDisk) error {
	return &apiError{
		Status: http.StatusPreconditionFailed, Code: "conflict", Message: "the file has changed on disk since it was read",
		more: map[string]any{"current": string(f.text), "revision": f.revision},
	}
}

type textBody struct {
	Text   string `json:"text"`
	Offset int    `json:"offset"`
}

// document reads a body with a text.
func (t *texts) document(w http.ResponseWriter, r *http.Request) (*language.Document, int, error) {
	var body textBody
	if err := decode(w, r, maxText, &body); err != nil {
		return nil, 0, err
	}
	d := t.check(r.Context(), body.Text)
	return d, byteAt(d.Text, body.Offset), nil
}

func (t *texts) checkText(w http.ResponseWriter, r *http.Request) error {
	d, _, err := t.document(w, r)
	if err != nil {
		return err
	}
	respond(w, map[string]any{"problems": t.problems(d)})
	return nil
}

func (t *texts) formatText(w http.ResponseWriter, r *http.Request) error {
	d, _, err := t.document(w, r)
	if err != nil {
		return err
	}
	edits, err := language.Format(d)
	if err != nil {
		return &apiError{Status: http.StatusUnprocessableEntity, Code: "not_formatted", Message: err.Error(), Problems: t.problems(d)}
	}
	var changes []edit.TextEdit
	for _, e := range edits {
		changes = append(changes, edit.TextEdit{Start: e.From, End: e.To, Text: e.New})
	}
	respond(w, map[string]any{"text": string(edit.Apply([]byte(d.Text), changes))})
	return nil
}

type completion struct {
	Label  string `json:"label"`
	Insert string `json:"insert"`
	From   int    `json:"from"`
	To     int    `json:"to"`
	Detail string `json:"detail,omitempty"`
	Doc    string `json:"doc,omitempty"`
	Kind   string `json:"kind"`
	First  bool   `json:"first,omitempty"`
}

var itemKinds = map[language.ItemKind]string{
	language.KeyItem: "key", language.ValueItem: "value", language.NodeItem: "node", language.ServerItem: "server",
	language.ToolItem: "tool", language.FunctionItem: "function", language.VariableItem: "variable", language.PropertyItem: "property",
}

func (t *texts) completeText(w http.ResponseWriter, r *http.Request) error {
	d, at, err := t.document(w, r)
	if err != nil {
		return err
	}
	items, _ := language.Complete(d, at)
	list := []completion{}
	units := newUnits(d.Text)
	for _, i := range items {
		s := units.span(i.Span)
		list = append(list, completion{
			Label: i.Label, Insert: i.Insert, From: s.From, To: s.To, Detail: i.Detail, Doc: i.Doc, Kind: itemKinds[i.Kind], First: i.First,
		})
	}
	respond(w, map[string]any{"items": list})
	return nil
}

func (t *texts) hoverText(w http.ResponseWriter, r *http.Request) error {
	d, at, err := t.document(w, r)
	if err != nil {
		return err
	}
	answer := map[string]any{}
	if text, in, ok := language.Hover(d, at); ok {
		s := newUnits(d.Text).span(in)
		answer["markdown"], answer["from"], answer["to"] = text, s.From, s.To
	}
	respond(w, answer)
	return nil
}
