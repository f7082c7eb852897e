package expr

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// TestGeneratedRulesAgreeWithJSONLogicJS compares with json-logic-js, which
// `npm ci` installs in testdata/realservers.
func TestGeneratedRulesAgreeWithJSONLogicJS(t *testing.T) {
	node, err := exec.LookPath("node")
	reference, _ := filepath.Abs("../../testdata/realservers/node_modules/json-logic-js")
	if err == nil {
		_, err = os.Stat(reference)
	}
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("json-logic-js is not installed: %v", err)
		}
		t.Skipf("json-logic-js is not installed: %v", err)
	}

	const count = 6000
	g := &generator{rand.New(rand.NewPCG(2, 5))}
	type pair struct{ rule, data value.Value }
	cases := make([]pair, count)
	var in bytes.Buffer
	for i := range cases {
		cases[i] = pair{parse(t, g.rule(4, false)), parse(t, g.document())}
		fmt.Fprintf(&in, `{"rule":%s,"data":%s}`+"\n", cases[i].rule.JSON(), cases[i].data.JSON())
	}
	cmd := exec.Command(node, "testdata/reference.cjs", reference)
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	wants := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(wants) != count {
		t.Fatalf("json-logic-js gave %d answers to %d rules", len(wants), count)
	}

	library, wrong := 0, 0
	for i, c := range cases {
		if v, ok := libraryApply(c.rule, c.data); ok && agrees(v, wants[i]) || !ok && wants[i] == "error" {
			library++
		}
		got := "error"
		prog, errs := CompileLogic(c.rule)
		if errs != nil {
			t.Fatalf("%s does not compile: %v", c.rule.JSON(), errs[0])
		}
		v, err := prog.Eval(context.Background(), envOver(c.data))
		if err == nil {
			got = show(v)
		}
		if got != wants[i] {
			if wrong++; wrong <= 20 {
				t.Errorf("%s over %s = %s, json-logic-js gives %s", c.rule.JSON(), c.data.JSON(), got, wants[i])
			}
		}
	}
	t.Logf("of %d generated rules %d agree with json-logic-js; github.com/diegoholiveira/jsonlogic agrees on %d", count, count-wrong, library)
	if wrong > 0 {
		t.Errorf("%d of %d rules differ from json-logic-js", wrong, count)
	}
}

// agrees reports whether v is what json-logic-js gave, whatever the order of
// keys, which the library's maps do not keep.
func agrees(v value.Value, want string) bool {
	if show(v) == want {
		return true
	}
	w, err := value.Parse(want)
	return err == nil && value.Equal(v, w)
}

// generator writes rules and documents as JSON text. Outside bodies it only
// refers to what is in every document, and never through a list: there var is
// JSONata, and a reference that yields nothing is undefined rather than null.
type generator struct{ *rand.Rand }

func (g *generator) pick(of ...string) string { return of[g.IntN(len(of))] }

func (g *generator) scalar() string {
	return g.pick("0", "1", "-1", "2", "3", "10", "-2.5", "0.1", "1e21", "1e-7", "123456789012345680000",
		"true", "false", "null",
		`""`, `"a"`, `"b"`, `"abc"`, `"0"`, `"1"`, `" 12 "`, `"-3.5kg"`, `"0x1F"`, `"0b11"`, `"1e3"`, `".5"`, `"5."`,
		`"Infinity"`, `"-Infinity"`, `"NaN"`, `"\u00a0\ufeff7\n"`, `"1,2"`, `"[object Object]"`, `"null"`, `"true"`,
		`"żółw"`, `"😀x😀"`, `"\ud83d"`, `"\uffee"`)
}

func (g *generator) json(depth int) string {
	switch n := g.IntN(10); {
	case n < 2 && depth > 0:
		return "[" + g.many(1, 3, func() string { return g.json(depth - 1) }) + "]"
	case n == 2 && depth > 0:
		return fmt.Sprintf(`{"x":%s,"y":%s}`, g.json(depth-1), g.json(depth-1))
	}
	return g.scalar()
}

func (g *generator) many(least, most int, one func() string) string {
	parts := make([]string, least+g.IntN(most-least+1))
	for i := range parts {
		parts[i] = one()
	}
	return strings.Join(parts, ",")
}

func (g *generator) document() string {
	return fmt.Sprintf(`{"1":[%s,%s],"a":%s,"b":%s,"s":%s,"nothing":null,"list":[%s],"items":[%s],"nested":{"x":%s,"y":{"z":%s}}}`,
		g.scalar(), g.scalar(), g.json(0), g.json(2), g.scalar(),
		g.many(1, 4, g.scalar),
		g.many(1, 4, func() string { return fmt.Sprintf(`{"x":%s,"q":%s}`, g.scalar(), g.json(1)) }),
		g.json(1), g.scalar())
}

// variable writes a var.
func (g *generator) variable(depth int, body bool) string {
	if !body {
		name := g.pick(`"a"`, `"b"`, `"s"`, `"nothing"`, `"list"`, `"items"`, `"nested"`, `"nested.x"`, `"nested.y.z"`,
			`"1"`, `1`, `"1.0"`, `1.1`, `"list.0"`, `"items.0.x"`, `"1.1"`, `""`, `null`, `"$.a"`, `"$.nested.y.z"`)
		switch {
		case strings.HasPrefix(name, `"$`):
			// json-logic-js has no expressions; the same thing in its words.
			return `{"var":` + `"` + name[3:] + `}`
		case g.IntN(8) == 0:
			return `{"var":{"if":[` + g.rule(depth-1, false) + `,"a","nested.x"]}}`
		case g.IntN(6) == 0:
			return `{"var":[` + g.pick(`"absent"`, `"nested.absent"`, `"nothing.x"`, `"list.7"`, name) + `,` + g.rule(depth-1, false) + `]}`
		}
		return g.pick(`{"var":`+name+`}`, `{"var":[`+name+`]}`)
	}
	name := g.pick(`""`, `"x"`, `"q"`, `"q.x"`, `"current"`, `"current.x"`, `"accumulator"`, `"accumulator"`, `"0"`, `0`, `1`,
		`"length"`, `"q.length"`, `"absent"`, `null`, `"x.y.0"`)
	if g.IntN(5) == 0 {
		return `{"var":[` + name + `,` + g.rule(depth-1, true) + `]}`
	}
	return `{"var":` + name + `}`
}

func (g *generator) rule(depth int, body bool) string {
	if depth <= 0 || g.IntN(8) == 0 {
		if g.IntN(2) == 0 {
			return g.json(2)
		}
		return g.variable(depth, body)
	}
	sub := func() string { return g.rule(depth-1, body) }
	op := func(name, args string) string { return `{"` + name + `":[` + args + `]}` }
	switch g.IntN(12) {
	case 0, 1:
		return op(g.pick("==", "===", "!=", "!=="), g.many(2, 2, sub))
	case 2:
		return op(g.pick("<", "<=", ">", ">="), g.many(2, 3, sub))
	case 3:
		return op(g.pick("+", "*"), g.many(0, 3, sub))
	case 4:
		return op(g.pick("-", "/", "%"), g.many(1, 2, sub))
	case 5:
		return op(g.pick("min", "max", "cat", "merge"), g.many(0, 3, sub))
	case 6:
		switch g.IntN(3) {
		case 0:
			return op("substr", g.many(1, 3, sub))
		case 1:
			text := g.pick(`"abcdef"`, `"żółw"`, `"😀x😀"`, `{"var":"b"}`)
			return op("substr", text+","+g.many(1, 2, func() string {
				return g.pick("0", "1", "-1", "2", "-2", "1.5", "-9", `"1"`, `"-1"`, "null", "[-1]", sub())
			}))
		}
		return op("in", g.many(2, 2, sub))
	case 7:
		return op(g.pick("if", "?:", "and", "or", "if"), g.many(1, 5, sub))
	case 8:
		if g.IntN(3) == 0 {
			return `{"` + g.pick("!", "!!", "log", "cat", "-", "max", "if") + `":` + sub() + `}`
		}
		return op(g.pick("!", "!!", "log"), sub())
	case 9:
		key := func() string {
			return g.pick(`"a"`, `"nested.x"`, `"absent"`, `"nothing"`, `"s"`, `"list.0"`, `"x"`, `0`, sub())
		}
		if g.IntN(2) == 0 {
			return op("missing", g.many(0, 3, key))
		}
		return op("missing_some", g.pick("0", "1", "2", `"1"`, sub())+",["+g.many(0, 3, key)+"]")
	case 10:
		return "[" + g.many(1, 3, sub) + "]"
	}
	data := g.pick(`{"var":"list"}`, `{"var":"items"}`, `{"var":"1"}`, sub())
	if body {
		data = g.pick(`{"var":""}`, `{"var":"q"}`, sub())
	}
	inner := g.rule(depth-1, true)
	switch name := g.pick("map", "filter", "all", "some", "none", "reduce"); name {
	case "reduce":
		if g.IntN(4) == 0 {
			return op("reduce", data+","+inner)
		}
		return op("reduce", data+","+inner+","+sub())
	default:
		return op(name, data+","+inner)
	}
}
