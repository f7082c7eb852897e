package jsonata

// parseCall parses the arguments of a call, or a function definition where left is
// the word that begins one.
func parseCall(p *parser, left *ast) (*ast, *Error) {
	n := &ast{kind: astCall, off: left.off, end: p.tok.end, lhs: left}
	n.raise(left)
	err := p.list(")", func() *Error {
		if p.is("?") {
			n.kind = astPartial
			n.list = append(n.list, &ast{kind: astPlaceholder, off: p.tok.off, end: p.tok.end, text: "?"})
			return p.advance(true)
		}
		e, err := p.expression(0)
		if err != nil {
			return err
		}
		n.list = append(n.list, e)
		n.raise(e)
		pushAncestry(n, e)
		return nil
	})
	n.end = p.tok.end
	if err := p.closed(")", err); err != nil {
		return nil, err
	}
	if left.fromName && len(left.list[0].stages) == 0 && !left.keepArray {
		if word := left.list[0].text; p.src[left.off] != '`' && (word == "function" || word == "λ") {
			return parseLambda(p, n)
		}
	}
	return n, nil
}

// parseLambda makes a function definition of the call that was read so far.
func parseLambda(p *parser, n *ast) (*ast, *Error) {
	for i, a := range n.list {
		if a.kind != astVariable || a.predicate != nil || a.group != nil || a.focus != "" {
			return nil, newError("S0208", a.off, details{token: p.src[a.off:a.end], index: i + 1})
		}
	}
	n.kind = astLambda
	n.lhs = nil
	n.seeking = nil
	if p.is("<") {
		start := p.tok.off
		depth := 1
		text := []byte("<")
		for depth > 0 && !p.is("{") && p.tok.kind != tokEnd {
			if err := p.advance(false); err != nil {
				return nil, err
			}
			switch {
			case p.is(">"):
				depth--
			case p.is("<"):
				depth++
			}
			if depth > 0 {
				text = append(text, p.src[p.tok.off:p.tok.end]...)
			}
		}
		if err := p.expect(">", false); err != nil {
			return nil, err
		}
		sig, err := parseSignature(string(append(text, '>')))
		if err != nil {
			err.Offset = start
			return nil, err
		}
		n.sig = sig
	}
	if err := p.expect("{", true); err != nil {
		return nil, err
	}
	body, err := p.expression(0)
	if err != nil {
		return nil, err
	}
	n.rhs = body
	n.end = p.tok.end
	n.raise(body)
	n.closes = true
	return n, p.expect("}", false)
}
