package expr

import (
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
)

// FindingKind is what is wrong with a part of a program.
type FindingKind uint8

// The kinds of findings.
const (
	// UnknownFunction is a call of a function that does not exist.
	UnknownFunction FindingKind = iota
	// UnboundVariable is a variable that is never assigned.
	UnboundVariable
	// WrongCall is a call, or an operator, with arguments that it never takes.
	WrongCall
	// OddCharacter is a character in a name that was hardly meant to be in it.
	OddCharacter
	// ForeignForm is a form of another language, which means something else here.
	ForeignForm
	// ForeignField is the field length, which lists and texts do not have.
	ForeignField
	// ConstantRule is a rule, or a condition in one, whose truth no run
	// changes.
	ConstantRule
	// LiteralExpression is a text that looks like an expression and is data.
	LiteralExpression
)

var kindsOfFindings = map[jsonata.FindingKind]FindingKind{
	jsonata.UnknownFunction: UnknownFunction,
	jsonata.UnboundVariable: UnboundVariable,
	jsonata.WrongCall:       WrongCall,
	jsonata.OddCharacter:    OddCharacter,
	jsonata.ForeignForm:     ForeignForm,
	jsonata.ForeignField:    ForeignField,
}

// Finding is a part of a program that compiles and cannot do what it was meant
// for.
type Finding struct {
	Kind FindingKind
	// Name is the function or variable without its dollar sign; empty where
	// the finding is about neither.
	Name string
	// Message is one sentence. Hint is what to do; it may be empty.
	Message, Hint string
	// Path leads to the part of a rule; it is nil in a JSONata program. Offset
	// and End span the part in bytes of the JSONata source or of the string at
	// Path; both are -1 for the whole of it.
	Path        []any
	Offset, End int
	// Of is the path before a ForeignField, or nil if it is not known.
	Of *jsonata.Read
}

// Findings lists what is surely wrong in the program. The slice is shared and
// must not be modified.
func (p *Program) Findings() []Finding { return p.findings }

// sourceFindings returns the findings of an expression at path.
func sourceFindings(e *jsonata.Expr, path []any) []Finding {
	return foundIn(e.Findings(), path)
}

// foundIn returns findings in an expression at path.
func foundIn(found []jsonata.Finding, path []any) []Finding {
	var out []Finding
	for _, f := range found {
		nearest := diag.Nearest
		if f.Kind == jsonata.UnboundVariable {
			nearest = diag.Misspelt // it may as well be the name of a node
		}
		if near, ok := nearest(f.Name, f.Visible); ok && f.Hint == "" {
			f.Hint = fmt.Sprintf("did you mean $%s?", near)
		}
		if f.Kind == jsonata.UnknownFunction && f.Name == CallName {
			f.Hint = "$call works in messages of prompts and in complete; elsewhere, add a call node before this one and read its output"
		}
		out = append(out, Finding{
			Kind: kindsOfFindings[f.Kind], Name: f.Name, Message: f.Message, Hint: f.Hint,
			Path: path, Offset: f.Offset, End: f.End, Of: f.Of,
		})
	}
	return out
}

// TypedFindings lists what else is surely wrong in a JSONata program if the paths that
// it reads are what typeOf returns, which gets them as [WholeOf] has them.
func (p *Program) TypedFindings(typeOf func(root string, steps []string) jsonata.Kinds) []Finding {
	if p.json == nil {
		return nil
	}
	return foundIn(p.json.TypedFindings(typesOf(typeOf)), nil)
}

// Kinds returns what the value of a program can be if its paths are what typeOf
// returns, which may be nil.
func (p *Program) Kinds(typeOf func(root string, steps []string) jsonata.Kinds) jsonata.Kinds {
	if p.json == nil {
		return jsonata.AnyKinds()
	}
	return p.json.Kinds(typesOf(typeOf))
}

func typesOf(typeOf func(root string, steps []string) jsonata.Kinds) func(jsonata.Read) jsonata.Kinds {
	if typeOf == nil {
		return nil
	}
	return func(r jsonata.Read) jsonata.Kinds {
		root, steps, ok := WholeOf(r, true)
		if !ok {
			return jsonata.AnyKinds()
		}
		return typeOf(root, steps)
	}
}

// Shape is what is sure about the value of a program before any run.
type Shape = jsonata.Shape

// Shape returns what is sure about the value of a JSONata program, or nil.
func (p *Program) Shape() *Shape {
	if p.json == nil {
		return nil
	}
	return p.json.Shape()
}
