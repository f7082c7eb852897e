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
}

// Findings lists what is surely wrong in the program. The slice is shared and
// must not be modified.
func (p *Program) Findings() []Finding { return p.findings }

// sourceFindings returns the findings of an expression at path.
func sourceFindings(e *jsonata.Expr, path []any) []Finding {
	var out []Finding
	for _, f := range e.Findings() {
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
			Path: path, Offset: f.Offset, End: f.End,
		})
	}
	return out
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
