package jsonata_test

import (
	"strconv"
	"strings"
)

// data makes an input as JSON text. Its names have the same role wherever they
// stand, with exceptions: a and d hold objects, b a string, c a number, e a
// boolean, f scalars, g arrays, h an object, n null.
func (m *maker) data() string {
	switch m.IntN(12) {
	case 0:
		return "[" + m.record(2) + "," + m.record(2) + "," + m.record(1) + "]"
	case 1:
		return m.anything(3)
	}
	return m.record(3)
}

func (m *maker) record(depth int) string {
	var b strings.Builder
	b.WriteByte('{')
	names := strings.Split("a b c d e f g h n", " ")
	m.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	extra := []string{"x y", "ü", "😀", "k", "z2"}
	if m.one(4) {
		names = append(names, extra[m.IntN(len(extra))])
	}
	first := true
	for _, name := range names {
		absent := 5
		if depth < 3 {
			absent = 2 // inner objects are small
		}
		switch name {
		case "b", "c":
			absent = 8
		case "a", "d":
			if depth == 3 {
				absent = 10
			}
		}
		if m.one(absent) {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		b.WriteString(strconv.Quote(name) + ":" + m.field(name, depth-1))
	}
	b.WriteByte('}')
	return b.String()
}

func (m *maker) field(name string, depth int) string {
	if m.one(12) {
		return m.anything(depth)
	}
	switch name {
	case "a", "d":
		if depth <= 0 || m.one(16) {
			return "[]"
		}
		return m.list(func() string { return m.record(depth) })
	case "b":
		return m.pick(`"x"`, `"x"`, `"y"`, `"a"`, `"B"`, `"ä"`, `""`, `"10"`)
	case "c":
		return m.pick("1", "1", "2", "2", "3", "0", "-1", "2.5", "10")
	case "e":
		return m.pick("true", "false")
	case "f":
		return m.list(func() string { return m.scalar() })
	case "g":
		return m.list(func() string { return m.list(func() string { return m.anything(depth - 2) }) })
	case "h":
		if depth <= 0 {
			return "{}"
		}
		return m.record(depth)
	case "n":
		return "null"
	}
	return m.scalar()
}

// list makes an array, often of one element and sometimes of none.
func (m *maker) list(item func() string) string {
	n := []int{0, 1, 1, 2, 2, 3, 4}[m.IntN(7)]
	items := make([]string, n)
	for i := range items {
		items[i] = item()
	}
	return "[" + strings.Join(items, ",") + "]"
}

func (m *maker) scalar() string {
	return m.pick("1", "2", "3", "-1", "0", "0.1", "1e21", "-0.5", "1e-7", "123456789012", "5e-324", "1.7976931348623157e308", `"x"`, `"a"`, `"ab c"`, `""`, `"ä"`, `"😀"`, `"e\u0301"`, `"2"`, "true", "false", "null")
}

func (m *maker) anything(depth int) string {
	if depth > 0 {
		switch m.IntN(6) {
		case 0, 1:
			return m.list(func() string { return m.anything(depth - 1) })
		case 2:
			return m.record(depth - 1)
		case 3:
			return m.pick("[]", "{}", "[[]]", "[null]", "[{}]", "[[],[]]")
		}
	}
	return m.scalar()
}
