package jsonata

// dot appends right to the path that left is or begins.
func (p *parser) dot(left, right *ast) *ast {
	path := left
	if left.kind != astPath {
		path = &ast{kind: astPath, off: left.off, end: left.end, list: []*ast{left}}
		path.raise(left)
		if left.tuple && left.focus == "" && left.kind != astBlock {
			// The predicates see the parents that the step binds.
			left.stages = append(left.predicate, left.stages...)
			left.predicate = nil
		}
		if left.kind == astParent {
			path.seeking = append(path.seeking, left.slot)
		}
		p.adoptStep(path, left)
	} else {
		p.adoptStep(path, left.list[0])
	}
	path.fromName = false
	if right.kind == astPath {
		path.list = append(path.list, right.list...)
		for _, s := range right.list {
			p.adoptStep(path, s)
		}
	} else {
		right.stages = append(right.predicate, right.stages...)
		right.predicate = nil
		path.list = append(path.list, right)
		p.adoptStep(path, right)
	}
	path.end = right.end
	for i, n := 0, len(path.list); i < n; i += max(n-1, 1) {
		if s := path.list[i]; s.kind == astArray {
			s.consArray = true
		}
	}
	resolveAncestry(p, path)
	return path
}

// adoptStep checks a step that becomes part of a path.
func (p *parser) adoptStep(path, s *ast) {
	path.raise(s)
	switch s.kind {
	case astNumber, astValue:
		p.semantic(newError("S0213", s.off, details{token: p.src[s.off:s.end]}))
	case astString:
		s.kind = astName
	}
	if s.keepArray {
		path.keepSingleton = true
	}
}

// predicate parses [filter], or [] which keeps an array of one.
func (p *parser) predicate(left *ast) (*ast, *Error) {
	open := p.tok
	if err := p.advance(true); err != nil {
		return nil, err
	}
	if p.is("]") {
		left.keepArray = true
		if left.kind == astPath && left.fromName {
			left.list[0].keepArray = true
			left.keepSingleton = true
		}
		if last := len(left.list) - 1; left.kind == astPath && left.list[last].focused {
			left.list[last].keepArray = true
		}
		return left, p.advance(false)
	}
	e, err := p.expression(0)
	if err != nil {
		return nil, err
	}
	end := p.tok.end
	if err := p.expect("]", false); err != nil {
		return nil, err
	}
	step := left
	if left.kind == astPath {
		step = left.list[len(left.list)-1]
	}
	// The grouping of a path comes after the predicates of its last step,
	// wherever those stand.
	if step.group != nil {
		p.semantic(newError("S0209", open.off, details{token: "["}))
	}
	for _, s := range e.seeking {
		if s.level == 1 {
			seekParent(p, step, s)
		} else {
			s.level--
		}
	}
	if e.kind == astParent {
		if e.slot.level == 1 {
			seekParent(p, step, e.slot)
		} else {
			e.slot.level--
		}
	}
	pushAncestry(step, e)
	st := stage{expr: e, off: open.off}
	if left.kind == astPath {
		step.stages = append(step.stages, st)
	} else {
		step.predicate = append(step.predicate, st)
	}
	left.raise(e)
	left.end = end
	return left, nil
}

func (p *parser) groupBy(left *ast) (*ast, *Error) {
	open := p.tok
	if left.group != nil {
		p.semantic(newError("S0210", open.off, details{token: "{"}))
	}
	left.fromName = false
	probe := &ast{kind: astPath, end: left.end}
	pairs, err := p.members(probe)
	if err != nil {
		return nil, err
	}
	left.group = &group{pairs: pairs, off: open.off}
	left.height = max(left.height, probe.height)
	left.closes = left.closes || probe.closes
	left.end = probe.end
	return left, nil
}

func (p *parser) orderBy(left *ast) (*ast, *Error) {
	s := &ast{kind: astSort, off: p.tok.off, height: 1}
	if err := p.advance(true); err != nil {
		return nil, err
	}
	if err := p.expect("(", true); err != nil {
		return nil, err
	}
	err := p.items(func() *Error {
		var term sortTerm
		if p.is("<") || p.is(">") {
			term.descending = p.is(">")
			if err := p.advance(true); err != nil {
				return err
			}
		}
		var err *Error
		if term.expr, err = p.expression(0); err != nil {
			return err
		}
		s.raise(term.expr)
		pushAncestry(s, term.expr)
		s.terms = append(s.terms, term)
		return nil
	})
	s.end = p.tok.end
	if err := p.closed(")", err); err != nil {
		return nil, err
	}
	path := left
	if left.kind != astPath {
		path = &ast{kind: astPath, off: left.off, list: []*ast{left}}
		path.raise(left)
	}
	path.fromName = false
	path.list = append(path.list, s)
	path.raise(s)
	path.end = s.end
	resolveAncestry(p, path)
	return path, nil
}

// bindStep parses @$focus or #$index.
func (p *parser) bindStep(left *ast) (*ast, *Error) {
	op := p.tok
	if err := p.advance(true); err != nil {
		return nil, err
	}
	v, err := p.expression(80)
	if err != nil {
		return nil, err
	}
	if v.kind != astVariable || v.predicate != nil {
		return nil, newError("S0214", v.off, details{token: op.text})
	}
	path := left
	if op.text == "#" && left.kind != astPath {
		path = &ast{kind: astPath, off: left.off, list: []*ast{left}}
		path.raise(left)
		left.stages = append(left.predicate, left.stages...)
		left.predicate = nil
	}
	step := path
	if path.kind == astPath {
		step = path.list[len(path.list)-1]
	}
	path.fromName = false
	path.end = v.end
	step.tuple = true
	step.focused = op.text == "@"
	if op.text == "#" {
		if len(step.stages) == 0 {
			step.index = v.text
		} else {
			step.stages = append(step.stages, stage{index: v.text, off: op.off})
		}
		return path, nil
	}
	if len(step.stages) > 0 || len(step.predicate) > 0 {
		p.semantic(newError("S0215", op.off, details{token: "@"}))
	}
	if step.kind == astSort {
		p.semantic(newError("S0216", op.off, details{token: "@"}))
	}
	step.focus = v.text
	return path, nil
}
