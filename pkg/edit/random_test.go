package edit_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/testscale"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// randomValue returns a value with texts that YAML could take for something else.
func randomValue(r *rand.Rand, depth int) value.Value {
	texts := []string{
		"plain", "", " ", "null", "true", "yes", "1", "1.5", "0x10", "~", "a: b", "a #b", "#c", "- d", "[e", "{f}", "it's", "\"q\"",
		"&a", "*b", "!c", "%d", "@e", "`f`", "|", ">", "é😀", "a\nb", "a\n", "\n", "\na", "  a\nb\n", "a\n\n", "a\n  b\n\n  c\n",
		"tab\there", "\tx\ny", "\u0085", "\u2028", "\ufeff", "\x00\x7f", "---", "...", "? x", "a:", "$.x[0]", "trailing ", "<<",
		"=", "2026-01-01", ".5", "+1", "long " + strings.Repeat("word ", 30) + "end",
	}
	switch n := r.IntN(10); {
	case n < 6 || depth == 0:
		return value.FromString(texts[r.IntN(len(texts))])
	case n == 6:
		return value.FromInt(int64(r.IntN(1000)))
	case n == 7:
		return value.FromBool(r.IntN(2) == 0)
	case n == 8:
		var list []value.Value
		for range r.IntN(4) {
			list = append(list, randomValue(r, depth-1))
		}
		return value.FromArray(list)
	default:
		b := value.NewBuilder(4)
		for range r.IntN(4) {
			b.Set(texts[r.IntN(len(texts))], randomValue(r, depth-1))
		}
		return b.Value()
	}
}

// randomOperation returns an operation on some part of a value.
func randomOperation(r *rand.Rand, v value.Value) edit.Operation {
	path := ""
	step := func(s string) {
		path += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(s)
	}
	for {
		deeper := r.IntN(4) > 0
		switch v.Kind() {
		case value.Array:
			n := v.Len()
			if n == 0 || r.IntN(8) == 0 {
				step(strconv.Itoa(r.IntN(n + 1)))
				return edit.Insert(path, randomValue(r, 2))
			}
			i := r.IntN(n)
			item := v.Elems()[i]
			step(strconv.Itoa(i))
			if deeper && (item.Kind() == value.Array || item.Kind() == value.Object) {
				v = item
				continue
			}
			switch r.IntN(3) {
			case 0:
				return edit.Set(path, randomValue(r, 2))
			case 1:
				return edit.Remove(path)
			default:
				return edit.Move(path, r.IntN(n))
			}
		case value.Object:
			n := v.Len()
			if n == 0 || r.IntN(8) == 0 {
				step("k" + strconv.Itoa(r.IntN(1000)))
				return edit.Insert(path, randomValue(r, 2))
			}
			f := v.Entries()[r.IntN(n)]
			step(f.Key)
			if deeper && (f.Value.Kind() == value.Array || f.Value.Kind() == value.Object) {
				v = f.Value
				continue
			}
			switch r.IntN(4) {
			case 0:
				return edit.Remove(path)
			case 1:
				return edit.Rename(path, "k"+strconv.Itoa(r.IntN(1000)))
			default:
				return edit.Set(path, randomValue(r, 2))
			}
		default:
			return edit.Set(path, randomValue(r, 2))
		}
	}
}

// checkEdits checks what must hold for the result of every edit: all lines that no
// edit touches are there, and so are all marked comments.
func checkEdits(t *testing.T, op edit.Operation, before, after *edit.Document, edits []edit.TextEdit) {
	t.Helper()
	source := before.Source()
	if got := edit.Apply(source, edits); !bytes.Equal(got, after.Source()) {
		t.Fatalf("%v: the edits do not make the result", op)
	}
	touched, removed, added := 0, 0, 0
	for _, e := range edits {
		touched += e.End - e.Start
		removed += bytes.Count(source[e.Start:e.End], []byte("#mark"))
		added += strings.Count(e.Text, "#mark")
	}
	count := func(d *edit.Document) int { return bytes.Count(d.Source(), []byte("#mark")) }
	if count(after) != count(before)-removed+added {
		t.Fatalf("%v: comments are lost", op)
	}
	if strings.Contains(after.Value().JSON(), "#mark") {
		t.Fatalf("%v: a comment became a part of a value:\n%s", op, after.Source())
	}
	if touched > len(source)/2 && len(source) > 100_000 {
		t.Fatalf("%v: %d of %d bytes were replaced", op, touched, len(source))
	}
}

func TestRandomEditsOfEveryFileChangeNothingElse(t *testing.T) {
	files := yamlFiles(t)
	r := rand.New(rand.NewPCG(1, 2))
	edited, withMarks, refused := 0, 0, map[string]int{}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		for _, variant := range []func([]byte) []byte{
			func(b []byte) []byte { return b },
			marked,
			func(b []byte) []byte { return bytes.ReplaceAll(marked(b), []byte("\n"), []byte("\r\n")) },
		} {
			d, err := edit.Parse(path, variant(files[path]))
			if err != nil {
				continue
			}
			if bytes.Contains(d.Source(), []byte("#mark")) {
				withMarks++
			}
			for range testscale.Of(1, 10) {
				if k := d.Value().Kind(); k != value.Object && k != value.Array {
					break
				}
				op := randomOperation(r, d.Value())
				edits, next, err := d.Edit(op)
				if err != nil {
					if !errors.Is(err, edit.ErrPath) && !errors.Is(err, edit.ErrUnsafe) {
						t.Fatal(err)
					}
					refused[reason(err)]++
					continue
				}
				checkEdits(t, op, d, next, edits)
				edited++
				d = next
			}
		}
	}
	total := 0
	for _, n := range refused {
		total += n
	}
	t.Logf("%d edits, %d files with marks, refused: %v", edited, withMarks, refused)
	if withMarks < 100 || edited < 300 || total > edited/10 {
		t.Errorf("%d edits, and %d refused: %v", edited, total, refused)
	}
}

func reason(err error) string {
	s := err.Error()
	return s[strings.LastIndex(s, ": ")+2:]
}

// marked returns a text with a comment of its own above and behind each line where
// one can stand.
func marked(source []byte) []byte {
	_, root, _ := config.ParseLayout("f.yaml", source)
	if root == nil || bytes.Contains(source, []byte("#mark")) {
		return source
	}
	inside := map[int]bool{} // lines that end within a scalar
	line := func(offset int) int { return bytes.Count(source[:offset], []byte("\n")) }
	var visit func(l *config.Layout)
	visit = func(l *config.Layout) {
		for _, item := range l.Items {
			visit(item)
		}
		if l.Kind == config.Scalar {
			for n := line(l.Start); n < line(l.End); n++ {
				inside[n] = true
			}
		}
	}
	visit(root)
	var b bytes.Buffer
	for i, text := range strings.Split(strings.TrimSuffix(string(source), "\n"), "\n") {
		if !inside[i-1] {
			fmt.Fprintf(&b, "%s#mark%d\n", text[:len(text)-len(strings.TrimLeft(text, " "))], 2*i)
		}
		if !inside[i] && !inside[i-1] && !strings.HasPrefix(text, "%") {
			text += fmt.Sprintf("  #mark%d", 2*i+1)
		}
		b.WriteString(text + "\n")
	}
	return b.Bytes()
}

// TestALargeFileSurvivesManyEdits edits a file of 300 kB with comments everywhere.
func TestALargeFileSurvivesManyEdits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	source := longFile(t, 3000)
	for len(source) < 300_000 {
		source = append(source, fmt.Sprintf("# section %d\nx-%d:   # of x-%d\n  - {a: 1, b: [1, 2]}  # flow\n  # above\n  - c: 'd'  # of c\n    e: |\n      text # no comment\n\n", len(source), len(source), len(source))...)
	}
	d, err := edit.Parse("tools.yaml", source)
	if err != nil {
		t.Fatal(err)
	}
	edited := 0
	for tries := 0; edited < testscale.Of(5, 200) && tries < 400; tries++ {
		op := randomOperation(r, d.Value())
		edits, next, err := d.Edit(op)
		if err != nil {
			continue
		}
		checkEdits(t, op, d, next, edits)
		edited++
		d = next
	}
	if edited < testscale.Of(5, 200) {
		t.Errorf("only %d edits", edited)
	}
}
