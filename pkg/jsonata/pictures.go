package jsonata

import (
	"github.com/mcpgraph/mcpgraph/pkg/jsonata/internal/picture"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// pictures holds compiled pictures by their text: those that stand in the
// source of an expression, compiled with it, and those that an evaluation met.
type pictures struct {
	numbers  map[string]*picture.Number
	integers map[string]*picture.Integer
	dates    map[string]*picture.DateTime
}

const (
	maxPicture   = 1 << 16 // bytes of a picture
	keptPictures = 64      // pictures of a kind
)

// compiled returns the picture of a text, compiling it where neither the
// expression nor the evaluation has done so.
func compiled[P any](known map[string]P, cache *map[string]P, text string, compile func(string) (P, error)) (P, *Error) {
	if p, ok := known[text]; ok {
		return p, nil
	}
	if p, ok := (*cache)[text]; ok {
		return p, nil
	}
	if len(text) > maxPicture {
		var none P
		return none, stopped(-1, "a picture is too long")
	}
	p, err := compile(text)
	if err != nil {
		return p, pictureError(err)
	}
	if *cache == nil {
		*cache = map[string]P{}
	}
	if len(*cache) < keptPictures {
		(*cache)[text] = p
	}
	return p, nil
}

func compileNumber(text string) (*picture.Number, error) { return picture.CompileNumber(text, nil) }

// foresee compiles the pictures among the arguments of a call of a function of
// the language. An invalid picture is reported at evaluation.
func (p *pictures) foresee(function string, args []*ast) {
	for _, a := range args {
		if a.kind != astString || a.val.Kind() != value.String {
			continue
		}
		switch text := a.val.Str(); function {
		case "formatNumber":
			compiled(nil, &p.numbers, text, compileNumber)
		case "formatInteger", "parseInteger":
			compiled(nil, &p.integers, text, picture.CompileInteger)
		case "now", "fromMillis", "toMillis":
			compiled(nil, &p.dates, text, picture.CompileDateTime)
		}
	}
}
