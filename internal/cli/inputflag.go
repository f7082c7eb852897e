package cli

import (
	"errors"
	"strings"
)

// inputFlag collects the values of --input by id.
type inputFlag struct{ values *map[string]string }

// String returns nothing: the values are secrets.
func (f inputFlag) String() string { return "" }

// Type names the kind of flag in help.
func (f inputFlag) Type() string { return "ID=VALUE" }

// Set takes one ID=VALUE.
func (f inputFlag) Set(text string) error {
	id, value, ok := strings.Cut(text, "=")
	if !ok || id == "" {
		return errors.New("expected ID=VALUE")
	}
	if *f.values == nil {
		*f.values = map[string]string{}
	}
	(*f.values)[id] = value
	return nil
}
