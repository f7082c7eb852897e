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

func (p *Page) getFile(w http.ResponseWriter, _ *http.Request) error {
	f := p.texts.refresh()
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

func (p *Page) putFile(w http.ResponseWriter, r *http.Request) error {
	text, err := readBody(w, r, language.MaxBytes, "text/plain")
	if err != nil {
		return err
	}
	given := r.Header.Values("If-Match")
	if len(given) != 1 {
		return &apiError{Status: http.StatusPreconditionRequired, Code: "no_revision", Message: "If-Match has to name the revision of the text that was changed"}
	}
	answer, err := p.save(r.Context(), strings.Trim(given[0], `"`), text, r.URL.Query().Get("force") == "1")
	if err != nil {
		return err
	}
	p.answer(w, answer)
	return nil
}

// save writes the file, if it still has the revision. A text with errors is written
// only where force is true. What is written is loaded.
func (p *Page) save(ctx context.Context, revision string, text []byte, force bool) (*saved, error) {
	p.saving.Lock()
	defer p.saving.Unlock()
	if f := p.texts.refresh(); f.revision != revision {
		return nil, conflict(f)
	}
	d := p.texts.check(ctx, string(text))
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	problems := p.problems(d)
	if diag.HasErrors(d.Diagnostics) && !force {
		return nil, &apiError{
			Status: http.StatusUnprocessableEntity, Code: "file_errors", Message: p.name() + " has errors; it was not saved", Problems: problems,
		}
	}
	err := edit.Write(p.opts.Path, edit.Revision(revision), text)
	if errors.Is(err, edit.ErrConflict) {
		return nil, conflict(p.texts.refresh())
	}
	if err != nil {
		return nil, err
	}
	if p.opts.Reload != nil {
		if err := p.opts.Reload(); err != nil {
			p.opts.Log.Debug("the page saved a file that cannot be loaded", "error", err)
			p.FileChanged()
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
func (p *Page) document(w http.ResponseWriter, r *http.Request) (*language.Document, int, error) {
	var body textBody
	if err := decode(w, r, maxText, &body); err != nil {
		return nil, 0, err
	}
	d := p.texts.check(r.Context(), body.Text)
	return d, byteAt(d.Text, body.Offset), nil
}

func (p *Page) checkText(w http.ResponseWriter, r *http.Request) error {
	d, _, err := p.document(w, r)
	if err != nil {
		return err
	}
	p.answer(w, map[string]any{"problems": p.problems(d)})
	return nil
}

func (p *Page) formatText(w http.ResponseWriter, r *http.Request) error {
	d, _, err := p.document(w, r)
	if err != nil {
		return err
	}
	edits, err := d.Format()
	if err != nil {
		return &apiError{Status: http.StatusUnprocessableEntity, Code: "not_formatted", Message: err.Error(), Problems: p.problems(d)}
	}
	var changes []edit.TextEdit
	for _, e := range edits {
		changes = append(changes, edit.TextEdit{Start: e.From, End: e.To, Text: e.New})
	}
	p.answer(w, map[string]any{"text": string(edit.Apply([]byte(d.Text), changes))})
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

func (p *Page) completeText(w http.ResponseWriter, r *http.Request) error {
	d, at, err := p.document(w, r)
	if err != nil {
		return err
	}
	items, _ := d.Complete(at)
	list := []completion{}
	units := newUnits(d.Text)
	for _, i := range items {
		s := units.span(i.Span)
		list = append(list, completion{
			Label: i.Label, Insert: i.Insert, From: s.From, To: s.To, Detail: i.Detail, Doc: i.Doc, Kind: itemKinds[i.Kind], First: i.First,
		})
	}
	p.answer(w, map[string]any{"items": list})
	return nil
}

func (p *Page) hoverText(w http.ResponseWriter, r *http.Request) error {
	d, at, err := p.document(w, r)
	if err != nil {
		return err
	}
	answer := map[string]any{}
	if text, in, ok := d.Hover(at); ok {
		s := newUnits(d.Text).span(in)
		answer["markdown"], answer["from"], answer["to"] = text, s.From, s.To
	}
	p.answer(w, answer)
	return nil
}
