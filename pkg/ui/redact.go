package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// redact takes the secrets of the program out of a text.
func (p *Page) redact(text string) string {
	if e := p.engine.Load(); e != nil && text != "" {
		return e.Redact(nil, text)
	}
	return text
}

// redactor returns redact, or nil if there is no program yet.
func (p *Page) redactor() func(string) string {
	if p.engine.Load() == nil {
		return nil
	}
	return p.redact
}

// redactValue takes the secrets of the program out of a value.
func (p *Page) redactValue(v value.Value) value.Value {
	if e := p.engine.Load(); e != nil {
		return e.RedactValue(nil, v)
	}
	return v
}

// clean returns an error without secrets.
func (p *Page) clean(err error) error {
	var known *apiError
	if !errors.As(err, &known) {
		return errors.New(p.redact(err.Error()))
	}
	clean := *known
	clean.Message = p.redact(known.Message)
	return &clean
}

func (p *Page) answer(w http.ResponseWriter, v any) { writeJSON(w, http.StatusOK, v) }

// strictJSON reads one JSON value whose keys are all known.
func strictJSON(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		if errors.Is(err, io.EOF) {
			return errors.New("expected JSON, found nothing")
		}
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("expected one JSON value, found more behind it")
	}
	return nil
}
