package regex

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// referenceScript answers each line [pattern, flags, text, limit] with the
// matches that JavaScript finds, each [index, end, text, captures...], or null
// where the pattern is refused. It searches as JSONata does: not beyond a match
// that ends at the end of the text.
const referenceScript = `
require('readline').createInterface({input: process.stdin}).on('line', line => {
  const [pattern, flags, text, limit] = JSON.parse(line);
  let out = [];
  try {
    const re = new RegExp(pattern, flags + 'g');
    let m;
    while (out.length < limit && (m = re.exec(text)) !== null) {
      out.push([m.index, m.index + m[0].length, ...Array.from(m, g => g === undefined ? null : g)]);
      if (m[0] === '') re.lastIndex++;
      if (re.lastIndex >= text.length) break;
    }
  } catch (e) { out = null; }
  console.log(JSON.stringify(out).replace(/[\u007f-\uffff]/g, c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0')));
});`

// quoteUnits writes s as a JSON string in ASCII, lone surrogates too.
func quoteUnits(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, u := range appendUnits(nil, s) {
		u &= maxUnit
		if u >= ' ' && u < 0x7F && u != '"' && u != '\\' {
			b.WriteByte(byte(u))
		} else {
			fmt.Fprintf(&b, `\u%04x`, u)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// matchesAsJSON returns what referenceScript gives.
func matchesAsJSON(r *Regex, text string, limit int) (string, error) {
	var sc Scanner
	sc.Reset(r, text)
	var b strings.Builder
	b.WriteByte('[')
	for n := 0; n < limit; n++ {
		ok, err := sc.Next(context.Background(), nil)
		if err != nil {
			return "", err
		}
		if !ok {
			break
		}
		if n > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "[%d,%d,%s", sc.Start(), sc.End(), quoteUnits(sc.Match()))
		for g := 1; g <= r.Groups(); g++ {
			if s, ok := sc.Group(g); ok {
				b.WriteString("," + quoteUnits(s))
			} else {
				b.WriteString(",null")
			}
		}
		b.WriteByte(']')
	}
	b.WriteByte(']')
	return b.String(), nil
}

// patternMaker builds random patterns.
type patternMaker struct {
	*rand.Rand
	groups int
}

func (m *patternMaker) pick(from ...string) string { return from[m.IntN(len(from))] }

func (m *patternMaker) char() string {
	return m.pick("a", "b", "c", "A", "k", "s", "é", "É", "1", " ", "_", "\n", "-", "😀", "ß", "K", "ſ", "\u2028", "x")
}

func (m *patternMaker) atom(depth int) string {
	switch m.IntN(22) {
	case 0:
		return "."
	case 1:
		return m.pick(`\d`, `\D`, `\w`, `\W`, `\s`, `\S`)
	case 2:
		return m.pick(`\n`, `\t`, `\x41`, `\u0061`, `\cA`, `\c`, `\0`, `\-`, `\.`, `\/`, `\xg`, `\ua`, `\ud83d`, `\ude00`, `\141`, `\8`, `\k`, `\p`, `\u{61}`)
	case 3, 4:
		return m.class()
	case 5, 6:
		if depth > 0 {
			m.groups++
			return "(" + m.alternatives(depth-1) + ")"
		}
	case 7:
		if depth > 0 {
			return "(?:" + m.alternatives(depth-1) + ")"
		}
	case 8:
		if depth > 0 {
			return m.pick("(?=", "(?!", "(?<=", "(?<!") + m.alternatives(depth-1) + ")"
		}
	case 9:
		return `\` + strconv.Itoa(1+m.IntN(m.groups+2))
	case 10:
		return m.pick("^", "$", `\b`, `\B`)
	case 11:
		return m.pick("{", "}", "]", "{,2}", "{a}", "/", ")")
	}
	return m.char()
}

func (m *patternMaker) class() string {
	var b strings.Builder
	b.WriteString("[" + m.pick("", "", "^"))
	for range m.IntN(4) {
		b.WriteString(m.pick(m.char(), m.char(), "a-c", "A-Z", "0-9", `\w`, `\W`, `\d`, `\s`, `\S`, `\b`, `\-`, `\]`, "-", `\w-z`, `\c1`, `\ca`, `\u0041-\u005a`, `\101`, "^", "[", "à-ÿ", "\ufffd"))
	}
	return b.String() + "]"
}

func (m *patternMaker) sequence(depth int) string {
	var b strings.Builder
	for range m.IntN(4) {
		b.WriteString(m.atom(depth))
		switch m.IntN(9) {
		case 0, 1:
			b.WriteString(m.pick("*", "+", "?"))
		case 2:
			b.WriteString(m.pick("*?", "+?", "??"))
		case 3:
			b.WriteString(m.pick("{2}", "{1,2}", "{0,1}", "{1,}", "{0}", "{2,3}?", "{2,1}"))
		}
	}
	return b.String()
}

func (m *patternMaker) alternatives(depth int) string {
	out := m.sequence(depth)
	for m.IntN(4) == 0 {
		out += "|" + m.sequence(depth)
	}
	return out
}

func (m *patternMaker) text() string {
	var b []byte
	for range m.IntN(12) {
		if m.IntN(12) == 0 {
			b = appendUnit(b, []uint16{0xD83D, 0xDE00}[m.IntN(2)])
			continue
		}
		for _, u := range appendUnits(nil, m.pick(m.char(), m.char(), "ab", "aA", "ba", "\r", "\u2029", "\u00a0", "\ufffd", "😁")) {
			b = appendUnit(b, uint16(u))
		}
	}
	return string(b)
}

// TestAgainstJavaScript compares random patterns with node, as many as
// MCPGRAPH_REFERENCE_CASES says, beginning at MCPGRAPH_REFERENCE_SEED.
func TestAgainstJavaScript(t *testing.T) {
	cases, err := strconv.Atoi(os.Getenv("MCPGRAPH_REFERENCE_CASES"))
	if err != nil {
		t.Skip("MCPGRAPH_REFERENCE_CASES is not set to a number of cases: not compared with node")
	}
	seed, _ := strconv.ParseUint(os.Getenv("MCPGRAPH_REFERENCE_SEED"), 10, 64)
	cmd := exec.Command("node", "-e", referenceScript)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("node does not start: %v", err)
	}
	defer func() { in.Close(); cmd.Wait() }()
	answers := bufio.NewScanner(pipe)
	answers.Buffer(nil, 1<<20)
	const limit = 20
	failures := 0
	for i := range uint64(cases) {
		m := &patternMaker{Rand: rand.New(rand.NewPCG(seed, i))}
		pattern, flags, text := m.alternatives(3), m.pick("", "", "i", "m", "im"), m.text()
		fmt.Fprintf(in, "[%s,%q,%s,%d]\n", quoteUnits(pattern), flags, quoteUnits(text), limit)
		if !answers.Scan() {
			t.Fatal("node ended: ", answers.Err())
		}
		want := answers.Text()
		r, err := Compile(pattern, flags)
		got := "null"
		if err == nil {
			if got, err = matchesAsJSON(r, text, limit); err != nil {
				got = err.Error()
			}
		}
		var g, w any
		json.Unmarshal([]byte(got), &g)
		json.Unmarshal([]byte(want), &w)
		if !strings.EqualFold(got, want) && !reflect.DeepEqual(g, w) {
			t.Errorf("case %d: /%s/%s on %s:\n got %s (%v)\nwant %s", i, pattern, flags, quoteUnits(text), got, err, want)
			if failures++; failures > 20 {
				t.FailNow()
			}
		}
	}
}
