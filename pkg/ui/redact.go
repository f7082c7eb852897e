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
func (c *current) redact(text string) string {
	if e := c.engine.Load(); e != nil && text != "" {
		return e.Redact(nil, text)
	}
	return text
}

// redactor returns redact, or nil if there is no program yet.
func (c *current) redactor() func(string) string {
	if c.engine.Load() == nil {
		return nil
	}
	return c.redact
}

// redactValue takes the secrets of the program out of a value.
func (c *current) redactValue(v value.Value) value.Value {
	if e := c.engine.Load(); e != nil {
		return e.RedactValue(nil, v)
	}
	return v
}

// clean returns an error without secrets.
func (c *current) clean(err error) error {
	var known *apiError
	if !errors.As(err, &known) {
		return errors.New(c.redact(err.Error()))
	}
	clean := *known
	clean.Message = c.redact(known.Message)
	return &clean
}

func respond(w http.ResponseWriter, v any) { writeJSON(w, http.StatusOK, v) }

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
