package jsonata_test

// path makes a path of several steps with what can follow each.
func (m *maker) path(kind byte, depth int) *piece {
	saved := m.vars
	defer func() { m.vars = saved }()
	p := of(m.head(depth))
	steps := m.IntN(3)
	for i := range steps {
		if i > 0 || m.one(2) {
			p.parts = append(p.parts, m.suffixes(depth-1))
		}
		p.parts = append(p.parts, option(".", m.step(kind, depth-1)))
	}
	p.parts = append(p.parts, m.suffixes(depth-1))
	if m.one(6) {
		p.parts = append(p.parts, option(m.object(depth-1)))
		if m.one(4) {
			p.parts = append(p.parts, option(m.pick(".k", ".*", "[0]", "[]", "^(k)")))
		}
	}
	return p
}

// head makes the first step of a path.
func (m *maker) head(depth int) *piece {
	switch m.IntN(16) {
	case 0:
		return of("(", m.expr('x', depth-1), ")")
	case 1:
		return m.array(depth - 1)
	case 2:
		return m.leaf("oax"[m.IntN(3)])
	case 3:
		return m.call("oa"[m.IntN(2)], depth-1)
	case 4:
		return of(m.pick(`"a"`, "*", "**", "%", "$list", "$nested", "$obj", "$single1", `"z"`))
	}
	return of(m.pick("a", "a", "a", "a", "d", "f", "g", "h", "$", "$$", "e", "$$.a", "$.a", "n"))
}

// step makes a step after a dot.
func (m *maker) step(kind byte, depth int) *piece {
	switch m.IntN(20) {
	case 0:
		return of("(", m.expr('x', depth-1), ")")
	case 1:
		return m.array(depth - 1)
	case 2:
		return m.object(depth - 1)
	case 3:
		return of("*")
	case 4:
		return of("**")
	case 5:
		return of(m.pick("%", "%.%", "%.b", "%.%.c", "%[0]", "(%)", "{'p':%.b}", "[%.c,c]"))
	case 6:
		return m.call(kind, depth-1)
	case 7:
		return of(m.pick("$", `"b"`, "$$", "`x y`", "$i", "$list", "$.c", "'z'", "(c;b)", "b[$='x']", "(c+1)"))
	case 8:
		return of(m.name(kind))
	}
	return of(m.pick("a", "b", "c", "c", "d", "d", "f", "g", "h", "e", "n"))
}

// suffixes makes what follows a step: often nothing.
func (m *maker) suffixes(depth int) *piece {
	p := of()
	for m.one(3) && len(p.parts) < 3 {
		p.parts = append(p.parts, option(m.suffix(depth)))
	}
	return p
}

func (m *maker) suffix(depth int) *piece {
	switch m.IntN(14) {
	case 0, 1:
		return of("[", m.pick("0", "0", "1", "-1", "2", "-2", "0.7", "[0,1]", "[0..1]", "[-1]", "$i", "c", "[]", `["a"]`, "[1,0]", "1.5", "[[0]]"), "]")
	case 2, 3:
		return of("[", m.pick("c>1", `b="x"`, "$exists(d)", "d", "$>1", "true", "false", `c in [1,2]`, "%.c=1", "$i=0", "b=%.b", "$not(d)", "n=null", "$$.c=c", `$type(c)="number"`, "c<$num", "d.c=2", "f[0]", "null", "$count($)=1"), "]")
	case 4, 5:
		return of("[]")
	case 6:
		return of("^(", m.pick("c", "b", ">c", "<b", "c,b", ">b,<c", "$", ">$", "%.c", "d.c", "$i", "$count(d)", "z", "-c"), ")")
	case 7:
		return m.bind("@", "$v")
	case 8:
		return m.bind("#", "$i")
	case 9:
		return of("[", m.expr('b', depth-1), "]")
	case 10:
		return of("^(", m.pick("", "<", ">"), m.expr('n', depth-1), ")")
	case 11:
		return of(m.bind("@", m.pick("$v", "$w")), m.pick("", "[c=1]", "#$i", "[0]", "[$v.c>1]", ".$v", ".c", "."+m.pick("a", "d", "$$.a", "%")+"@$w[$v.c=$w.c]"))
	case 12:
		return of("[", m.expr('n', depth-1), "]")
	}
	return of("(", m.expr('x', depth-1), ")")
}

func (m *maker) bind(op, name string) *piece {
	m.vars = append(m.vars[:len(m.vars):len(m.vars)], name)
	return of(op, name)
}

// joins makes the paths that bind and look up again, in full.
func (m *maker) join(depth int) *piece {
	saved := m.vars
	defer func() { m.vars = saved }()
	src := func() string {
		return m.pick("a", "$$.a", "d", "$.a", "a.d", "f", "g", "h", "z", "$list", "(a)", "a[c>1]", "a^(c)", "[a,d]", "**")
	}
	p := of(src())
	if m.one(3) {
		p.parts = append(p.parts, option(m.bind("#", "$j")))
	}
	p.parts = append(p.parts, option(m.bind("@", "$v")), m.suffixes(0))
	if m.one(2) {
		p.parts = append(p.parts, option(".", src()), option(m.bind("@", "$w")), option(m.bind("#", "$i")), option("[", m.pick("$v.c=$w.c", "$v.b=b", "c=$v.c", "$i=0", "$i<2", "0", "-1", "$v.c>1", "$w"), "]"))
	} else if m.one(2) {
		p.parts = append(p.parts, option(".", m.pick("d", "f", "a", "*")), option(m.bind("#", "$i")), m.suffixes(0))
	}
	if m.one(3) {
		p.parts = append(p.parts, option("^(", m.pick("$v.c", ">$w.c", "$i", "c", "$v.b,c", "%.c"), ")"))
	}
	if m.one(4) {
		p.parts = append(p.parts, option("[", m.pick("0", "-1", "1", "$i=0"), "]"))
	}
	end := of(".", m.pick(`{"v":$v.b,"w":$w.c,"i":$i}`, "$v", "$i", "[$i,$v.c]", "c", "$v.d.c", "%.b", "$", "{b:$v}", "(%.c + c)", "[$v,$w]"))
	if m.one(4) {
		end = of("{", m.pick("b", "$v.b", "$string($i)", "$w.b"), ":", m.pick("$v", "$i", "c", "$sum($v.c)", "$", "[$v.c]", "$count($w)"), "}")
	}
	p.parts = append(p.parts, option(end))
	if m.one(5) {
		p.parts = append(p.parts, option(m.suffix(0)))
	}
	return p
}
