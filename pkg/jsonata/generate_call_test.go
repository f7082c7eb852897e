package jsonata_test

import "strings"

// callables are the functions of the language by what they give, with the
// kinds of their arguments: those of maker.expr, w a width, r a regular expression or a
// string, R a regular expression, p, P and d the pictures of numbers, integers
// and dates, z a time zone, F a function of an element, C one that compares, A
// one that accumulates, O options of $formatNumber, S the text of an
// expression; ? after those that may be absent.
var callables = map[byte][]string{
	'n': {"sum a", "count x", "max a", "min a", "average a", "length s", "parseInteger s P", "number x", "floor n", "ceil n", "round n n?", "abs n", "sqrt n", "power n n", "toMillis s d?", "reduce a A x?", "millis"},
	's': {"string x b?", "substring s n n?", "substringBefore s s", "substringAfter s s", "lowercase s", "uppercase s", "trim s", "pad s w s?", "replace s r s n?", "replace s R M n?", "join a s?", "formatNumber n p O?", "formatBase n n?", "formatInteger n P", "type x", "base64encode s", "base64decode s", "encodeUrlComponent s", "encodeUrl s", "decodeUrl s", "decodeUrlComponent s", "fromMillis n d? z?", "now d? z?"},
	'b': {"contains s r", "boolean x", "not x", "exists x", "assert b s?"},
	'a': {"match s R n?", "split s r n?", "map a F", "zip a a a?", "filter a F", "keys x", "append x x", "spread x", "reverse a", "sort a C?", "distinct a", "each o E", "reduce a A x?"},
	'o': {"sift o E", "merge a", "lookup x s", "single a F?", "clone x", "spread o", "reduce a A o?"},
	'x': {"eval S x?", "lookup o s", "single a F?", "error s?", "clone x", "filter a F", "map a F", "shuffle a"},
}

// call makes the call of a function that gives the kind.
func (m *maker) call(kind byte, depth int) *piece {
	list := callables[kind]
	if list == nil || m.one(12) {
		list = callables["nsbaox"[m.IntN(6)]]
	}
	words := strings.Fields(m.pick(list...))
	args := words[1:]
	if m.one(16) && len(args) > 0 {
		args = args[1:] // the context takes its place
	}
	p := of("$", words[0], "(")
	for i, word := range args {
		if len(word) == 2 && m.one(2) {
			break
		}
		arg := m.argument(word[0], depth-1)
		switch m.IntN(60) {
		case 0, 1:
			arg = of("?")
		case 2:
			arg = m.expr('x', depth-1)
		case 3:
			arg = of(m.pick("$undef", "null", "[]", "z"))
		}
		if i > 0 {
			arg = option(", ", arg)
		}
		p.parts = append(p.parts, arg)
	}
	if m.one(40) {
		p.parts = append(p.parts, option(", ", m.expr('x', 0)))
	}
	p.parts = append(p.parts, ")")
	if words[0] == "shuffle" {
		return of("$count(", p, ")")
	}
	return p
}

func (m *maker) argument(kind byte, depth int) *piece {
	switch kind {
	case 'r':
		if m.one(2) {
			return m.expr('s', min(depth, 1))
		}
		return m.argument('R', depth)
	case 'R':
		return of(m.pick("/a/", "/[a-c]+/i", "/(b)(c)?/", "/^x/m", `/\d+/`, `/(a|b)*?c/`, `/\s/`, "/./", "/é/", "/a(?=b)/", "/a*/", `/,/`, "/ /", "/(a)|(b)/", `/[^\x00-\x7f]/`, "/b$/", `/(\w)(\w)/`))
	case 'w':
		return of(m.pick("0", "1", "5", "-4", "8", "$length(b)", "c", "-1", "2.5", "$num"))
	case 'p':
		return of(m.pick(`"0"`, `"#,##0.00"`, `"0.0%"`, `"0.0e0"`, `"(#)"`, `"#0.##;(#0.##)"`, `"00000"`, `"#"`, `".00"`, `"#,###"`, `"$0.00"`, `"0.###"`, `"#.e"`, `"0,0,0"`, `""`, `"a0b"`, `"0‰"`, `"#0;-"`))
	case 'O':
		return of(m.pick(`{"decimal-separator":","}`, `{"minus-sign":"~"}`, `{"percent":"p"}`, "{}", `{"zero-digit":"٠"}`, `{"grouping-separator":" "}`))
	case 'P':
		return of(m.pick(`"0"`, `"#,##0"`, `"I"`, `"i"`, `"A"`, `"a"`, `"w"`, `"Ww"`, `"W"`, `"000"`, `"1;o"`, `"w;o"`, `"#"`, `"x"`, `""`))
	case 'd':
		return of(m.pick(`"[Y0001]-[M01]-[D01]"`, `"[H01]:[m01]:[s01]"`, `"[FNn], [D1o] [MNn] [Y]"`, `"[h]:[m] [P]"`, `"[X0001]-W[W01]-[F1]"`, `"[Y]-[M]-[D] [H]:[m]:[s].[f001] [Z]"`, `"[Y]-[d001]"`, `"[M01]/[D01]/[Y,2-2]"`, `"[Dwo] of [MNn,3-3]"`, `"[YI]"`, `"[q]"`, `"[Y"`, "$undef", `"[Z0101t]"`, `"[D#1]"`, `"[C] [E]"`))
	case 'z':
		return of(m.pick(`"+0100"`, `"-0530"`, `"0000"`, `"+1300"`, `""`, `"x"`))
	case 'F':
		return m.function("xna", depth)
	case 'E':
		return m.function("xsxo", depth)
	case 'C':
		return of(m.pick("function($l,$r){$l>$r}", "function($l,$r){$l.c<$r.c}", "λ($l,$r){$l.b>$r.b}", "function($l,$r){true}", "function($l,$r){false}", "function($l,$r){$string($l)>$string($r)}", "function($l){$l}", "function($l,$r){$count($l)>$count($r)}"))
	case 'A':
		return of(m.pick("function($l,$r){$l+$r}", "function($l,$r){$l&$r}", "$append", "function($l,$r,$i){$l&$i}", "function($l,$r,$i,$a){$count($a)+$i}", "function($l){$l}", "$max", "function($l,$r){[$l,$r]}", "function($l,$r){$merge([$l,$r])}", "$join"))
	case 'M':
		return of(m.pick(`function($m){$m.match & "!"}`, "$uppercase", "function($m){$m.groups[0]}", "function($m){$string($m.index)}", "function($m){1}", "function($m){$string($m)}", "function($m){$string($m.start)}"))
	case 'S':
		return of(m.pick(`"1+1"`, `"a.c"`, `"$"`, `"1+"`, `"\"a\"+1"`, `"$i"`, `"[1,2]"`, `"{\"a\":1}"`, `"%"`, `"$x := 1"`, `"function($q){$q}"`, `"a["`, `""`, `"c"`, `"$num"`))
	}
	return m.expr(kind, depth)
}

// function makes a function of parameters of the kinds.
func (m *maker) function(kinds string, depth int) *piece {
	switch m.IntN(9) {
	case 0:
		return of(m.pick("$string", "$uppercase", "$sum", "$count", "$type", "$boolean", "$not", "$length", "$exists", "$keys", "$append", "$number", "$merge", "$spread", "$reverse", "$distinct", "$abs", "$lookup", "$contains", "$substring", "$sort", "$max", "$zip"))
	case 1:
		return of(m.pick(`$contains(?, "a")`, "$substring(?, 1)", "$append(?, [1])", "$append([1], ?)", "$power(2, ?)", "$lookup(?, 'b')", "$map(?, $string)", "$filter(?, function($q){$q})", "$join(?, '-')", "$round(?, 1)", "$pad(?, 5, '#')", "$replace(?, /a/, ?)", "$number(?)", "$match(?, /a/)", "$lookup($obj, ?)", "$substring('abc', ?, ?)"))
	case 2:
		return of("(", m.function(kinds, 0), " ~> ", m.function("x", 0), ")")
	case 3:
		return of(m.pick("/a/", "/b/i"))
	}
	return m.lambda(kinds[0], depth)
}

// lambda makes a function with up to three parameters.
func (m *maker) lambda(kind byte, depth int) *piece {
	saved := m.vars
	defer func() { m.vars = saved }()
	params := []string{"$p", "$q", "$r"}[:m.IntN(4)]
	m.vars = append(m.vars[:len(m.vars):len(m.vars)], params...)
	sig := ""
	if m.one(6) {
		sig = m.pick("<n:n>", "<s:s>", "<x:x>", "<a:a>", "<n-n:n>", "<s?:s>", "<a<n>:n>", "<(ns)-:x>", "<j:j>", "<f:x>", "<n+:n>", "<o:x>", "<b:b>", "<xx?:x>", "<a<s>s?:s>", "<s-nn?:s>", "<u:x>", "<l:x>", "<x-:x>", "<j-x:x>", "<a-n:x>", "<(sao)n?:x>", "<:n>", "<n-:x>")
	}
	body := m.expr(kind, depth-1)
	if len(params) > 0 && m.one(2) {
		body = of(m.pick("$p", "$p.c", "$p > 1", "$p.b = 'x'", "$p & 'y'", "$p + 1", "[$p]", "{'k':$p}", "$q", "$p[0]", "$type($p)", "$", "$p = $", "$string($p) & $q", "$p.d.c", "$count($r)", "$exists($p.c)", "[$p,$q]"))
	}
	return of(m.pick("function", "function", "λ"), "(", strings.Join(params, m.pick(",", ", ")), ")", sig, m.pick("{", " { "), body, "}")
}
