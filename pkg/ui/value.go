package ui

import (
	"strconv"
	"strings"

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

// Bounds of a value that somebody asked for.
const (
	maxWhole     = 256 << 10 // bytes of JSON
	maxString    = 4 << 20   // bytes of a string
	defaultItems = 100       // of a long array or object
	maxItems     = 1000
)

// slice stands in the place of a long array, or of an object with many members.
type slice struct {
	Slice sliceInfo `json:"$slice"`
}

type sliceInfo struct {
	From  int `json:"from"`
	Total int `json:"total"`
	// Items are the items or, of an object, pairs of key and value.
	Items  []any `json:"items"`
	Object bool  `json:"object,omitempty"`
}

// bounded returns a value or, where it is too long, its outermost level: items and
// members that are long themselves are cut. from and count choose items.
func bounded(v value.Value, from, count int) any {
	var none shower
	if !v.LongerThan(maxWhole) {
		return v
	}
	switch v.Kind() {
	case value.Array:
		elems := v.Elems()
		s := sliceInfo{From: min(from, len(elems)), Total: len(elems), Items: []any{}}
		for _, e := range elems[s.From:min(s.From+count, len(elems))] {
			s.Items = append(s.Items, none.short(e))
		}
		return slice{s}
	case value.Object:
		entries := v.Entries()
		if len(entries) > maxItems {
			s := sliceInfo{From: min(from, len(entries)), Total: len(entries), Items: []any{}, Object: true}
			for _, e := range entries[s.From:min(s.From+count, len(entries))] {
				s.Items = append(s.Items, []any{e.Key, none.short(e.Value)})
			}
			return slice{s}
		}
		return none.members(v)
	}
	if v.LongerThan(maxString) {
		return cut{cutInfo{v.TextSize(), v.Preview(maxWhole)}}
	}
	return v
}

// members returns an object in whose members long values are cut, in their order.
func (s shower) members(v value.Value) value.Value {
	b := value.NewBuilder(v.Len())
	for _, e := range v.Entries() {
		switch shown := s.short(e.Value).(type) {
		case value.Value:
			b.Set(s.text(e.Key), shown)
		case cut:
			inner := value.NewBuilder(2)
			inner.Set("bytes", value.FromInt(int64(shown.Cut.Bytes)))
			inner.Set("preview", value.FromString(shown.Cut.Preview))
			b.Set(s.text(e.Key), value.FromEntries([]value.Entry{{Key: "$cut", Value: inner.Value()}}))
		}
	}
	return b.Value()
}

// at returns what a JSON pointer (RFC 6901) leads to in a value.
func at(v value.Value, pointer string) (value.Value, error) {
	if pointer == "" {
		return v, nil
	}
	if pointer[0] != '/' {
		return v, badRequest("pointer is %q; expected it to begin with /", pointer)
	}
	for step := range strings.SplitSeq(pointer[1:], "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		next := value.Undef
		switch v.Kind() {
		case value.Object:
			next = v.Get(step)
		case value.Array:
			if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < v.Len() {
				next = v.Elems()[i]
			}
		}
		if v = next; v.IsUndefined() {
			return v, notFound("nothing is at %q", pointer)
		}
	}
	return v, nil
}
