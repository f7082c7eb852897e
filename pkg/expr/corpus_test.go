package expr

import (
	"bufio"
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/diegoholiveira/jsonlogic/v3"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// run is a history for tests: what each node gave, in order.
type run struct {
	document value.Value // where set, the document as a whole
	nodes    []string
	outputs  []value.Value
}

var _ History = (*run)(nil)

func (r *run) Document() value.Value {
	if !r.document.IsUndefined() {
		return r.document
	}
	b := value.NewBuilder(len(r.nodes))
	for i := len(r.nodes) - 1; i >= 0; i-- {
		if b.Get(r.nodes[i]).IsUndefined() && !r.outputs[i].IsUndefined() {
			b.Set(r.nodes[i], r.outputs[i])
		}
	}
	return b.Value()
}

func (r *run) Previous(n int) (value.Value, bool) {
	if n < 1 || n > len(r.outputs) {
		return value.Undef, false
	}
	return r.outputs[len(r.outputs)-n], true
}

func (r *run) Outputs(id string) []value.Value {
	var out []value.Value
	for i, n := range r.nodes {
		if n == id {
			out = append(out, r.outputs[i])
		}
	}
	return out
}

func envOver(document value.Value) *Env { return &Env{History: &run{document: document}} }

func parse(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// show writes a value so that undefined, NaN and infinities can be told apart.
func show(v value.Value) string {
	switch v.Kind() {
	case value.Undefined:
		return "undefined"
	case value.Number:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return value.FormatNumber(f)
		}
	case value.Array:
		parts := make([]string, v.Len())
		for i, e := range v.Elems() {
			parts[i] = show(e)
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return v.JSON()
}

// corpus reads the lines of a file of the corpora.
func corpus(t *testing.T, name string) []value.Value {
	dir := os.Getenv("MCPGRAPH_CORPORA")
	if dir == "" {
		t.Skip("MCPGRAPH_CORPORA names no folder of corpora")
	}
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []value.Value
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		out = append(out, parse(t, lines.Text()))
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestLogicCorpusPassesHereAndInTheLibrary(t *testing.T) {
	const want = 551
	cases := corpus(t, "jsonlogic/suite.jsonl")
	if len(cases) != want {
		t.Errorf("the corpus has %d cases, expected %d", len(cases), want)
	}
	library := 0
	for _, c := range cases {
		id, rule, data := c.Get("id").Str(), c.Get("rule"), c.Get("data")
		prog, errs := CompileLogic(rule)
		if errs != nil {
			t.Errorf("%s: %s does not compile: %v", id, rule.JSON(), errs[0])
			continue
		}
		got, err := prog.Eval(context.Background(), envOver(data))
		if err != nil || !value.Equal(normal(got), c.Get("want")) {
			t.Errorf("%s: %s over %s = %s, %v; want %s", id, rule.JSON(), data.JSON(), show(got), err, c.Get("want").JSON())
		}
		if v, ok := libraryApply(rule, data); ok && value.Equal(v, c.Get("want")) {
			library++
		}
	}
	if library != len(cases) {
		t.Errorf("the library passes %d of %d: it is no oracle for this corpus any more", library, len(cases))
	}
}

// normal returns undefined as the null that it is in JSON.
func normal(v value.Value) value.Value {
	if v.IsUndefined() {
		return value.NullValue
	}
	return v
}

// libraryApply asks github.com/diegoholiveira/jsonlogic; it reports false for
// an error and for a panic.
func libraryApply(rule, data value.Value) (v value.Value, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	out, err := jsonlogic.ApplyInterface(rule.Any(), data.Any())
	if err != nil {
		return value.Undef, false
	}
	v, err = value.FromAny(out)
	return v, err == nil
}
