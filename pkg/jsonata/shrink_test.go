package jsonata_test

import (
	"encoding/json"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// shrinker makes a question on which the engines differ smaller, as long as
// they differ.
type shrinker struct {
	r      *reference
	rounds int
}

func (s *shrinker) shrink(p *piece, q question) question {
	for lost := s.r.lost; s.rounds > 0 && s.r.lost < lost+3; s.rounds-- {
		var candidates []question
		var trees []*piece
		for _, smaller := range smallerPieces(p) {
			text := smaller.String()
			if len(text) < len(q.Expr) {
				candidates = append(candidates, question{Expr: text, Data: q.Data})
				trees = append(trees, smaller)
			}
		}
		if len(q.Data) > 0 {
			if data, err := value.Parse(string(q.Data)); err == nil {
				for _, smaller := range smallerData(data) {
					candidates = append(candidates, question{Expr: q.Expr, Data: json.RawMessage(smaller.JSON())})
					trees = append(trees, p)
				}
			}
		}
		best := -1
		for i, want := range s.r.ask(candidates) {
			got := evaluate(candidates[i])
			if same(got, want) || difference(candidates[i], got, want) != "" {
				continue
			}
			if size := len(candidates[i].Expr) + len(candidates[i].Data); best < 0 || size < len(candidates[best].Expr)+len(candidates[best].Data) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		p, q = trees[best], candidates[best]
	}
	return q
}

// smallerPieces returns the pieces that have one piece less or replaced.
func smallerPieces(p *piece) []*piece {
	var all []*piece
	if p.optional {
		all = append(all, &piece{optional: true})
	} else {
		for _, atom := range []string{"a", "1", `"a"`, "$", "[]", "z"} {
			all = append(all, of(atom))
		}
		all = append(all, within(p)...)
	}
	for i, part := range p.parts {
		child, ok := part.(*piece)
		if !ok {
			continue
		}
		for _, smaller := range smallerPieces(child) {
			parts := append([]any(nil), p.parts...)
			parts[i] = smaller
			all = append(all, &piece{parts: parts, optional: p.optional})
		}
	}
	return all
}

// within returns the expressions inside a piece.
func within(p *piece) []*piece {
	var all []*piece
	for _, part := range p.parts {
		if child, ok := part.(*piece); ok {
			if !child.optional {
				all = append(all, child)
			}
			all = append(all, within(child)...)
		}
	}
	return all
}

// smallerData returns values with a part less.
func smallerData(v value.Value) []value.Value {
	var all []value.Value
	switch v.Kind() {
	case value.Array:
		elems := v.Elems()
		all = append(all, elems...)
		for i := range elems {
			all = append(all, value.FromArray(append(append([]value.Value(nil), elems[:i]...), elems[i+1:]...)))
			for _, smaller := range smallerData(elems[i]) {
				list := append([]value.Value(nil), elems...)
				list[i] = smaller
				all = append(all, value.FromArray(list))
			}
		}
	case value.Object:
		entries := v.Entries()
		for i := range entries {
			all = append(all, entries[i].Value, value.FromEntries(append(append([]value.Entry(nil), entries[:i]...), entries[i+1:]...)))
			for _, smaller := range smallerData(entries[i].Value) {
				list := append([]value.Entry(nil), entries...)
				list[i].Value = smaller
				all = append(all, value.FromEntries(list))
			}
		}
	case value.String, value.Number, value.Bool:
		if s := v.JSON(); s != "1" {
			all = append(all, value.FromInt(1))
		}
	}
	return all
}
