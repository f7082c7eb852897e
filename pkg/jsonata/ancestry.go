package jsonata

// maxSought bounds the steps that the search for parents goes through.
const maxSought = 1 << 22

// pushAncestry passes the parents that part still looks for on to n.
func pushAncestry(n, part *ast) {
	if part == nil {
		return
	}
	n.seeking = append(n.seeking, part.seeking...)
	if part.kind == astParent {
		n.seeking = append(n.seeking, part.slot)
	}
}

// seekParent lets step answer for a parent lookup, or counts the level that it
// takes up.
func seekParent(p *parser, step *ast, s *slot) {
	switch step.kind {
	case astName, astWildcard:
		s.level--
		if s.level == 0 {
			if step.ancestor == nil {
				step.ancestor = s
			} else {
				*s.label = *step.ancestor.label
				s.label = step.ancestor.label
			}
			step.tuple = true
		}
	case astParent:
		s.level++
	case astBlock:
		if len(step.list) > 0 {
			step.tuple = true
			seekParent(p, step.list[len(step.list)-1], s)
		}
	case astPath:
		step.tuple = true
		for i := len(step.list) - 1; i >= 0; i-- {
			seekParent(p, step.list[i], s)
			if s.level <= 0 {
				break
			}
		}
	default:
		p.semantic(newError("S0217", step.off, details{token: astNames[step.kind]}))
		s.level = 0
	}
}

// resolveAncestry resolves the parents that the last step of a path looks for
// among the steps before it, and leaves the rest to whatever surrounds it.
func resolveAncestry(p *parser, path *ast) {
	last := path.list[len(path.list)-1]
	slots := last.seeking
	if last.kind == astParent {
		slots = append(slots[:len(slots):len(slots)], last.slot)
	}
	for _, s := range slots {
		i := len(path.list) - 2
		for s.level > 0 {
			if p.sought++; p.sought > maxSought {
				p.semantic(newError("U1001", last.off, details{text: "the expression asks for too many parents"}))
				return
			}
			if i < 0 {
				path.seeking = append(path.seeking, s)
				break
			}
			step := path.list[i]
			i--
			// Steps that bind a focus one after the other have one parent.
			for i >= 0 && step.focus != "" && path.list[i].focus != "" {
				step = path.list[i]
				i--
			}
			seekParent(p, step, s)
		}
	}
}
