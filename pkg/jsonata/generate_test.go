package jsonata_test

import (
	"math/rand/v2"
	"strings"
)

// piece is a part of a generated expression: text and pieces in turn. A piece
// that is optional can be left out and leaves an expression behind, any other
// can be replaced by a smaller expression.
type piece struct {
	parts    []any
	optional bool
}

func of(parts ...any) *piece     { return &piece{parts: parts} }
func option(parts ...any) *piece { return &piece{parts: parts, optional: true} }

func (p *piece) write(b *strings.Builder) {
	for _, part := range p.parts {
		switch part := part.(type) {
		case string:
			b.WriteString(part)
		case *piece:
			part.write(b)
		}
	}
}

func (p *piece) String() string {
	var b strings.Builder
	p.write(&b)
	return b.String()
}

// maker generates expressions and data. What it makes depends on its source of
// random numbers alone.
type maker struct {
	*rand.Rand
	vars []string // variables in scope
}

func (m *maker) pick(from ...string) string { return from[m.IntN(len(from))] }
func (m *maker) one(in int) bool            { return m.IntN(in) == 0 }

// expr makes an expression that probably gives what kind asks for: n a number,
// s a string, b a boolean, a an array, o an object, f a function of values, x
// anything.
func (m *maker) expr(kind byte, depth int) *piece {
	if m.one(14) {
		kind = "nsbaofx"[m.IntN(7)]
	}
	if kind == 'x' {
		kind = "nsbaaooxx"[m.IntN(9)]
	}
	if depth <= 0 {
		return m.leaf(kind)
	}
	switch m.IntN(24) {
	case 0, 1, 2:
		return m.leaf(kind)
	case 3, 4, 5, 6, 7, 8:
		return m.path(kind, depth)
	case 9:
		return of("(", m.expr('b', depth-1), " ? ", m.expr(kind, depth-1), option(" : ", m.expr(kind, depth-1)), ")")
	case 10:
		return m.block(kind, depth)
	case 11:
		return of("(", m.expr(kind, depth-1), m.pick(" ?: ", " ?? "), m.expr(kind, depth-1), ")")
	case 12:
		return m.apply(kind, depth)
	case 13:
		return m.call(kind, depth)
	case 14:
		return of("(", m.lambda('x', depth-1), ")(", m.expr('x', depth-1), option(", ", m.expr('x', depth-1)), ")")
	case 15:
		if m.one(3) {
			return of(m.expr('x', depth-1), m.pick(" ~> ", "~>"), m.transform(depth-1))
		}
		return of(m.expr(kind, depth-1), option(m.suffix(depth-1)))
	}
	return m.compound(kind, depth)
}

// compound makes an expression whose outermost part gives the kind.
func (m *maker) compound(kind byte, depth int) *piece {
	d := depth - 1
	switch kind {
	case 'n':
		switch m.IntN(4) {
		case 0:
			return of(m.expr('n', d), m.pick(" + ", " - ", " * ", " / ", " % "), m.expr('n', d))
		case 1:
			return of("(", m.expr('n', d), m.pick("+", "-", "*", "/", "%"), m.expr('n', d), ")")
		case 2:
			return of("-", m.expr('n', d))
		}
	case 's':
		if m.one(3) {
			return of("(", m.expr('x', d), " & ", m.expr('s', d), ")")
		}
	case 'b':
		switch m.IntN(5) {
		case 0:
			return of(m.expr('x', d), m.pick(" = ", " != ", " in "), m.expr('x', d))
		case 1:
			return of("(", m.expr('n', d), m.pick(" < ", " <= ", " > ", " >= ", "="), m.expr('n', d), ")")
		case 2:
			return of("(", m.expr('b', d), m.pick(" and ", " or "), m.expr('b', d), ")")
		case 3:
			return of(m.expr('s', d), m.pick(" in ", " < ", " >= ", " = "), m.expr('x', d))
		}
	case 'a':
		switch m.IntN(5) {
		case 0, 1:
			return m.array(d)
		case 2:
			return of("[", m.pick("0", "1", "-2", "3", "a", "c"), "..", m.pick("3", "0", "5", "c", "$count(a)"), "]")
		}
	case 'o':
		switch m.IntN(4) {
		case 0, 1:
			return m.object(d)
		case 2:
			return of(m.path('o', d), " ~> ", m.transform(d))
		}
	case 'f':
		return m.function("x", d)
	}
	return m.call(kind, depth)
}

// leaf makes a literal, a variable or a short path.
func (m *maker) leaf(kind byte) *piece {
	if m.one(4) && len(m.vars) > 0 {
		return of(m.vars[m.IntN(len(m.vars))])
	}
	if m.one(3) {
		return of(m.name(kind))
	}
	switch kind {
	case 'n':
		return of(m.pick("0", "1", "2", "3", "-1", "-2", "10", "0.5", "2.5", "1e3", "100", "1e21", "1.5e-7", "0.1", "1e300", "123456789", "255", "$num"))
	case 's':
		return of(m.text())
	case 'b':
		return of(m.pick("true", "false"))
	case 'a':
		return of(m.pick("[]", "[1]", "[1,2,3]", `["a","b"]`, "[[]]", "[[1,2],[3]]", "[null]", `[{"b":"x"}]`, "[3,1,2]", "$list", "$single1", "$nested", `["b","a","ä","B","😀"]`))
	case 'o':
		return of(m.pick("{}", `{"a":1}`, `{"b":"x","a":[1,2]}`, `{"c":null}`, `{"a":{"b":1}}`, "$obj"))
	case 'f':
		return m.function("x", 0)
	}
	return of(m.pick("null", "$", "$$", "$undef", "z", "1", `"a"`, "[]", "{}", "true", "*", "**"))
}

func (m *maker) text() string {
	return m.pick(`""`, `"a"`, `'b'`, `"abc"`, `"a b"`, `"x"`, `"10"`, `"-2.5"`, `"ä"`, `"😀"`, `"a😀b"`, `"Straße"`, `" trim  me "`, `"\u00e9\n"`, `"true"`, `"a,b,c"`, `"1e3"`, `"null"`, `"é"`, `"0x1F"`, `"2020-01-02T03:04:05Z"`, `"{\"a\":1}"`, "$str")
}

// name makes a name of the data that probably holds the kind.
func (m *maker) name(kind byte) string {
	if m.one(8) {
		kind = 'x'
	}
	switch kind {
	case 'n':
		return m.pick("c", "c", "c", "$.c", "a.c", "a[0].c", "d.c", "f[0]", "h.c", "`x y`", "$$.c", "a.d.c", "$sum(a.c)")
	case 's':
		return m.pick("b", "b", "b", "$.b", "a.b", "a[0].b", "d.b", "h.b", "ü", "$$.b", "a[1].d[0].b")
	case 'b':
		return m.pick("e", "h.e", "c = 1", "c > 2", `b = "x"`, "d", "a", "$")
	case 'a':
		return m.pick("a", "a", "a", "d", "f", "f", "g", "g", "a.d", "a.f", "$$.a", "a.d.c", "a.c", "a.b", "$", "d.f", "e")
	case 'o':
		return m.pick("h", "h", "$", "$$", "a[0]", "a", "d[0]", "h.h", "d", "a.h")
	}
	return m.pick("a", "b", "c", "d", "e", "f", "g", "h", "n", "z", "$", "$$", "*", "**", "`x y`", "ü", "😀")
}

func (m *maker) array(depth int) *piece {
	p := of("[")
	for i := range m.IntN(4) {
		item := m.expr("xnsa"[m.IntN(4)], depth-1)
		if m.one(10) {
			item = of(m.leaf('n'), "..", m.pick("3", "c", "1", "$num"))
		}
		if i > 0 {
			item = option(", ", item)
		}
		p.parts = append(p.parts, item)
	}
	p.parts = append(p.parts, "]")
	return p
}

// object makes an object constructor, which after a path is a grouping.
func (m *maker) object(depth int) *piece {
	p := of("{")
	for i := range 1 + m.IntN(2) + m.IntN(2)*m.IntN(2) {
		key := of(m.pick(`"k"`, `"b"`, `"a"`, `"u"`, "b", "b", "$string(c)", "$type($)", `"k" & c`, "'ü'", `a.b`, `"k" & $`))
		if m.one(8) {
			key = m.expr('s', depth-1)
		}
		entry := of(key, m.pick(":", ": "), m.expr('x', depth-1))
		if i > 0 {
			entry = option(", ", entry)
		}
		p.parts = append(p.parts, entry)
	}
	p.parts = append(p.parts, "}")
	return p
}

func (m *maker) block(kind byte, depth int) *piece {
	saved := m.vars
	defer func() { m.vars = saved }()
	p := of("(")
	for range 1 + m.IntN(2) {
		name := m.pick("$i", "$j", "$k", "$x", "$f")
		p.parts = append(p.parts, option(name, " := ", m.expr("xnsaof"[m.IntN(6)], depth-1), "; "))
		m.vars = append(m.vars[:len(m.vars):len(m.vars)], name)
	}
	p.parts = append(p.parts, m.expr(kind, depth-1), m.pick("", "", ";", " "), ")")
	return p
}

// apply makes a chain with ~>.
func (m *maker) apply(kind byte, depth int) *piece {
	fn := m.function("x", depth-1)
	switch m.IntN(4) {
	case 0:
		fn = of(m.pick("$sum", "$count", "$string", "$uppercase", "$reverse", "$keys", "$distinct", "$type", "$length", "$sort", "$max", "$boolean", "$not", "$exists", "$spread", "$merge"))
	case 1:
		fn = m.call(kind, depth-1) // the left side becomes its first argument
	}
	p := of(m.expr("xan"[m.IntN(3)], depth-1), m.pick(" ~> ", "~>"), fn)
	if m.one(3) {
		p.parts = append(p.parts, option(" ~> ", m.function("x", depth-1)))
	}
	return of("(", p, ")")
}

func (m *maker) transform(depth int) *piece {
	p := of("|", m.pick("$", "a", "a.d", "h", "d", "**", "*", "a[c>1]", "a[0]", "z", "f"), "|", m.pick("", "", " ")+m.pick(`{"c":1}`, `{"new":c+1}`, `{}`, `{"b":$uppercase(b)}`, `{"k":%.b}`, "h", "c", "$merge([{'q':1}])", `{"d":[]}`))
	if m.one(2) {
		p.parts = append(p.parts, option(", ", m.pick(`"c"`, `["b","c"]`, `"z"`, "[]", "b", "c", `["a",1]`, `"d"`)))
	}
	return of(p, "|")
}

// mutate damages a text, for the errors of the parser.
func (m *maker) mutate(src string) string {
	tokens := []string{"(", ")", "[", "]", "{", "}", ",", ".", ":=", "~>", "?", ":", "@$v", "#$i", "^(", "%", "and", "or", "in", "function", "λ", `"`, "/", "|", "$", "`", "..", "!", "=", "1", "/*", "a", "null", "*", "**", "<", ">", "&", "-", "??", "?:", "\\", ";"}
	runes := []rune(src)
	for range 1 + m.IntN(2) {
		if len(runes) == 0 {
			break
		}
		i := m.IntN(len(runes))
		switch m.IntN(4) {
		case 0:
			runes = append(runes[:i:i], runes[i+1:]...)
		case 1:
			runes = append(append(append([]rune{}, runes[:i]...), []rune(m.pick(tokens...))...), runes[i:]...)
		case 2:
			runes = runes[:i]
		case 3:
			j := min(len(runes), i+1+m.IntN(6))
			runes = append(append([]rune{}, runes[:i]...), append([]rune(m.pick(tokens...)), runes[j:]...)...)
		}
	}
	return string(runes)
}

// spaced puts comments and line breaks where spaces are.
func (m *maker) spaced(src string) string {
	if strings.ContainsAny(src, `"'/`+"`") {
		return src
	}
	return strings.ReplaceAll(src, " ", m.pick("\n", "  ", " /* note */ ", "\t"))
}
