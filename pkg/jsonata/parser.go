package jsonata

import (
	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// maxNesting bounds how deeply an expression may be nested, so that neither
// the parser nor anything that walks its tree runs out of stack.
const maxNesting = 5000

// parser is a top-down operator precedence parser (V. Pratt, 1973) over the
// tokens of a lexer.
type parser struct {
	lexer
	tok    token
	last   token   // the one before it
	open   []token // the brackets around it
	depth  int
	labels int // parents seen so far
	sought int // steps that were looked at for parents
	// sem is the first error that is not one of syntax: syntax errors are
	// reported before it, wherever they stand.
	sem *Error
	// tokens are those read so far, if they are recorded.
	record bool
	tokens []Token
}

// parse returns the syntax tree of a source.
func parse(src string) (*ast, *Error) {
	p := &parser{lexer: lexer{src: src}}
	n, err := p.whole()
	if err != nil {
		return nil, explain(p, err)
	}
	return n, nil
}

// whole parses the source from its beginning to its end.
func (p *parser) whole() (*ast, *Error) {
	if err := p.advance(true); err != nil {
		return nil, err
	}
	n, err := p.expression(0)
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tokEnd {
		return nil, newError("S0201", p.tok.off, details{token: p.tokenText(), shown: p.shownToken()})
	}
	if p.sem != nil {
		return nil, p.sem
	}
	if n.kind == astParent || len(n.seeking) > 0 {
		return nil, newError("S0217", n.off, details{token: astNames[n.kind]})
	}
	return n, nil
}

func (p *parser) semantic(err *Error) {
	if p.sem == nil {
		p.sem = err
	}
}

// tokenText returns the current token as it stands in the source.
func (p *parser) tokenText() string {
	if p.tok.kind == tokEnd {
		return "(end)"
	}
	if p.tok.kind == tokString || p.tok.kind == tokQuotedName || p.tok.kind == tokVariable {
		return p.tok.text
	}
	return p.src[p.tok.off:p.tok.end]
}

// shownTokenRunes is how much of a token a sentence shows.
const shownTokenRunes = 40

// shownToken returns the current token as a sentence shows it.
func (p *parser) shownToken() string {
	if p.tok.kind == tokEnd {
		return "(end)"
	}
	return textline.Shorten(p.src[p.tok.off:p.tok.end], shownTokenRunes)
}

// advance moves to the next token; operand means that a value is expected.
func (p *parser) advance(operand bool) *Error {
	t, err := p.next(operand)
	if err != nil {
		return err
	}
	if p.tok.kind == tokOperator {
		switch p.tok.text {
		case "(", "[", "{":
			p.open = append(p.open, p.tok)
		case ")", "]", "}":
			p.open = p.open[:max(0, len(p.open)-1)]
		}
	}
	p.last, p.tok = p.tok, t
	if p.record && t.kind != tokEnd {
		p.tokens = append(p.tokens, Token{t.off, t.end, t.text, t.kind == tokOperator, t.kind, t.flags})
	}
	return nil
}

func (p *parser) is(op string) bool { return p.tok.kind == tokOperator && p.tok.text == op }

// expect moves behind an operator that must stand here.
func (p *parser) expect(op string, operand bool) *Error {
	if !p.is(op) {
		code := "S0202"
		if p.tok.kind == tokEnd {
			code = "S0203"
		}
		return newError(code, p.tok.off, details{token: p.tokenText(), shown: p.shownToken(), text: op})
	}
	return p.advance(operand)
}

// power is how tightly an operator binds to what stands left of it; 0 ends an
// expression.
func (p *parser) power() int {
	if p.tok.kind != tokOperator {
		return 0
	}
	switch p.tok.text {
	case "[", "(", "@", "#":
		return 80
	case ".":
		return 75
	case "{":
		return 70
	case "*", "/", "%":
		return 60
	case "+", "-", "&":
		return 50
	case "=", "!=", "<", "<=", ">", ">=", "^", "~>", "?:", "??", "in":
		return 40
	case "and":
		return 30
	case "or":
		return 25
	case "?":
		return 20
	case ":=":
		return 10
	}
	return 0
}

func tooDeep(off int) *Error {
	return newError("U1001", off, details{text: "the expression is nested too deeply"})
}

func (p *parser) expression(limit int) (*ast, *Error) {
	p.depth++
	if p.depth > maxNesting {
		return nil, tooDeep(p.tok.off)
	}
	left, err := p.prefix()
	if err != nil {
		return nil, err
	}
	for p.power() > limit {
		left, err = parseInfix(p, left)
		if err != nil {
			return nil, err
		}
		if left.height > maxNesting {
			return nil, tooDeep(left.off)
		}
	}
	p.depth--
	return left, nil
}

// prefix parses what stands at the beginning of an expression.
func (p *parser) prefix() (*ast, *Error) {
	t := p.tok
	n := &ast{off: t.off, end: t.end, text: t.text, height: 1}
	switch t.kind {
	case tokEnd:
		// What was to close the expression is missing too, and named first.
		p.semantic(newError("S0207", t.off, details{token: "(end)"}))
		return &ast{kind: astValue, off: t.off, end: t.end}, nil
	case tokName, tokQuotedName:
		return p.name(n)
	case tokVariable:
		n.kind = astVariable
	case tokString:
		n.kind = astString
		n.val = value.FromString(t.text)
	case tokNumber:
		n.kind = astNumber
		n.val = value.FromFloat(t.num)
	case tokLiteral:
		n.kind = astValue
		switch t.text {
		case "true":
			n.val = value.True
		case "false":
			n.val = value.False
		default:
			n.val = value.NullValue
		}
	case tokRegex:
		n.kind = astRegex
		n.flags = t.flags
	case tokOperator:
		switch t.text {
		case "and", "or", "in":
			return p.name(n)
		case "*":
			n.kind = astWildcard
		case "**":
			n.kind = astDescendant
		case "%":
			n.kind = astParent
			p.labels++
			label := p.labels
			n.slot = &slot{label: &label, level: 1}
		case "-":
			return p.negation(n)
		case "(":
			return p.block(n)
		case "[":
			return p.array(n)
		case "{":
			n.kind = astObject
			var err *Error
			n.pairs, err = p.members(n)
			return n, err
		case "|":
			return p.transform(n)
		default:
			// What cannot be read behind it is named first.
			if err := p.advance(false); err != nil {
				return nil, err
			}
			return nil, newError("S0211", t.off, details{token: t.text})
		}
	}
	return n, p.advance(false)
}

// name makes the path of one step that a name is.
func (p *parser) name(n *ast) (*ast, *Error) {
	n.kind = astName
	path := &ast{kind: astPath, off: n.off, end: n.end, list: []*ast{n}, height: 2, fromName: true}
	return path, p.advance(false)
}

func (p *parser) negation(n *ast) (*ast, *Error) {
	if err := p.advance(true); err != nil {
		return nil, err
	}
	operand, err := p.expression(70)
	if err != nil {
		return nil, err
	}
	if operand.kind == astNumber {
		operand.val = value.FromFloat(-operand.val.Float())
		operand.off = n.off
		return operand, nil
	}
	n.kind = astNegate
	n.lhs = operand
	n.end = operand.end
	n.raise(operand)
	pushAncestry(n, operand)
	return n, nil
}

func (p *parser) transform(n *ast) (*ast, *Error) {
	n.kind = astTransform
	n.closes = true
	parts := []**ast{&n.lhs, &n.rhs, &n.els}
	if err := p.advance(true); err != nil {
		return nil, err
	}
	for i, part := range parts {
		e, err := p.expression(0)
		if err != nil {
			return nil, err
		}
		*part = e
		n.raise(e)
		if i == 0 {
			if err := p.expect("|", true); err != nil {
				return nil, err
			}
			continue
		}
		if i == 2 || !p.is(",") {
			break
		}
		if err := p.advance(true); err != nil {
			return nil, err
		}
	}
	n.end = p.tok.end
	return n, p.expect("|", false)
}
