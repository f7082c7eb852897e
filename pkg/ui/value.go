package ui

import (
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Bounds of the values of lists and events, in bytes of JSON.
const (
	maxValue   = 8 << 10
	maxPreview = 1 << 10
)

// cut stands in the place of a value that is too long.
type cut struct {
	Cut cutInfo `json:"$cut"`
}

type cutInfo struct {
	Bytes   int    `json:"bytes"`
	Preview string `json:"preview"`
}

// shower shows the values of a run. Its redact takes out secrets; nil if there are
// none, or if they are out already.
type shower struct{ redact func(string) string }

// text returns a text without secrets.
func (s shower) text(t string) string {
	if s.redact == nil {
		return t
	}
	return s.redact(t)
}

// whole returns a value without secrets. What is read of it is not counted on the
// account of its run.
func (s shower) whole(v value.Value) value.Value {
	if s.redact == nil || v.IsUndefined() {
		return v
	}
	if again, err := value.ParseLazy(v.JSON()); err == nil {
		v = again
	}
	return v.Rewritten(s.redact)
}

// short returns a value to be shown, or what stands for one that is too long; nil for
// undefined.
func (s shower) short(v value.Value) any {
	switch {
	case v.IsUndefined():
		return nil
	case v.LongerThan(maxValue):
		// The redactor knows secrets that are cut.
		return cut{cutInfo{v.TextSize(), s.text(v.Preview(maxPreview))}}
	}
	return s.whole(v)
}
