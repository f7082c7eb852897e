package jsonata

// parseInfix parses an operator and what stands right of it.
func parseInfix(p *parser, left *ast) (*ast, *Error) {
	t := p.tok
	switch t.text {
	case "[":
		return p.predicate(left)
	case "(":
		return parseCall(p, left)
	case "{":
		return p.groupBy(left)
	case "^":
		return p.orderBy(left)
	case "@", "#":
		return p.bindStep(left)
	}
	if t.text == ":=" && (left.kind != astVariable || left.predicate != nil || left.group != nil || left.keepArray) {
		return nil, newError("S0212", left.off, details{token: p.src[left.off:left.end]})
	}
	power := p.power()
	if err := p.advance(true); err != nil {
		return nil, err
	}
	switch t.text {
	case "?", "?:", "??":
		power = 0
	case ":=":
		power--
	}
	right, err := p.expression(power)
	if err != nil {
		return nil, err
	}
	if t.text == "." {
		return p.dot(left, right), nil
	}
	if t.text == "&" {
		return concatenation(left, right, t), nil
	}
	n := &ast{kind: astBinary, text: t.text, off: t.off, end: t.end, lhs: left, rhs: right}
	switch t.text {
	case ":=":
		n.kind = astBind
		n.raise(right)
		pushAncestry(n, right)
		return n, nil
	case "~>":
		n.kind = astApply
		n.keepArray = left.keepArray || right.keepArray
		n.raise(left)
		n.raise(right)
		// The parents of an application are not looked up.
		return n, nil
	case "?":
		n.kind = astCondition
		if p.is(":") {
			if err := p.advance(true); err != nil {
				return nil, err
			}
			if n.els, err = p.expression(0); err != nil {
				return nil, err
			}
		}
	case "?:":
		n.kind = astDefault
	case "??":
		n.kind = astCoalesce
	}
	for _, part := range []*ast{left, right, n.els} {
		n.raise(part)
		pushAncestry(n, part)
	}
	return n, nil
}

// concatenation joins a chain of & in one node, however long it is.
func concatenation(left, right *ast, t token) *ast {
	n := left
	if left.kind != astBinary || left.text != "&" {
		n = &ast{kind: astBinary, text: "&", off: t.off, end: t.end, list: []*ast{left}}
		n.raise(left)
		pushAncestry(n, left)
	}
	n.list = append(n.list, right)
	n.raise(right)
	pushAncestry(n, right)
	return n
}
