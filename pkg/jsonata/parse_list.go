package jsonata

func (p *parser) block(n *ast) (*ast, *Error) {
	n.kind = astBlock
	if err := p.advance(true); err != nil {
		return nil, err
	}
	for !p.is(")") {
		e, err := p.expression(0)
		if err != nil {
			return nil, err
		}
		n.list = append(n.list, e)
		n.raise(e)
		pushAncestry(n, e)
		if e.consArray || e.kind == astPath && e.list[0].consArray {
			n.consArray = true
		}
		if !p.is(";") {
			break
		}
		if err := p.advance(true); err != nil {
			return nil, err
		}
	}
	n.end = p.tok.end
	return n, p.expect(")", false)
}

func (p *parser) array(n *ast) (*ast, *Error) {
	n.kind = astArray
	err := p.list("]", func() *Error {
		item, err := p.expression(0)
		if err != nil {
			return err
		}
		if p.is("..") {
			r := &ast{kind: astBinary, text: "..", off: p.tok.off, end: p.tok.end, lhs: item}
			if err := p.advance(true); err != nil {
				return err
			}
			if r.rhs, err = p.expression(0); err != nil {
				return err
			}
			r.raise(r.lhs)
			r.raise(r.rhs)
			pushAncestry(r, r.lhs)
			pushAncestry(r, r.rhs)
			item = r
		}
		n.list = append(n.list, item)
		n.raise(item)
		pushAncestry(n, item)
		return nil
	})
	n.end = p.tok.end
	return n, p.closed("]", err)
}

// list parses what stands between commas from the opening bracket up to the
// closing one.
func (p *parser) list(closing string, item func() *Error) *Error {
	if err := p.advance(true); err != nil || p.is(closing) {
		return err
	}
	return p.items(item)
}

// items parses what stands between commas.
func (p *parser) items(item func() *Error) *Error {
	for {
		if err := item(); err != nil || !p.is(",") {
			return err
		}
		if err := p.advance(true); err != nil {
			return err
		}
	}
}

// closed steps over the bracket at the end of a list that was parsed with err.
func (p *parser) closed(closing string, err *Error) *Error {
	if err != nil {
		return err
	}
	return p.expect(closing, false)
}

// members parses { key: value, … } for n, whose brace is the current token.
func (p *parser) members(n *ast) ([][2]*ast, *Error) {
	var pairs [][2]*ast
	err := p.list("}", func() *Error {
		k, err := p.expression(0)
		if err != nil {
			return err
		}
		if err := p.expect(":", true); err != nil {
			return err
		}
		v, err := p.expression(0)
		if err != nil {
			return err
		}
		pairs = append(pairs, [2]*ast{k, v})
		n.raise(k)
		n.raise(v)
		if n.kind == astObject {
			pushAncestry(n, k)
			pushAncestry(n, v)
		}
		return nil
	})
	n.end = p.tok.end
	return pairs, p.closed("}", err)
}
