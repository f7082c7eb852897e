package picture

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// corpusCall is a call of one function with literal arguments only.
var corpusCall = regexp.MustCompile(`^\$(formatNumber|formatInteger|parseInteger|fromMillis|toMillis)\((.*)\)\s*$`)

// literals reads numbers, strings and objects of strings between commas; ok is
// false where anything else stands there.
func literals(s string) (args []any, ok bool) {
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		switch s[0] {
		case '"', '\'':
			end := strings.IndexByte(s[1:], s[0])
			if end < 0 || strings.Contains(s[:end+2], `\`) {
				return nil, false
			}
			args = append(args, s[1:end+1])
			s = s[end+2:]
		case '{':
			end := strings.IndexByte(s, '}')
			m := map[string]string{}
			if end < 0 || json.Unmarshal([]byte(strings.ReplaceAll(s[:end+1], "'", `"`)), &m) != nil {
				return nil, false
			}
			args = append(args, m)
			s = s[end+1:]
		default:
			end := strings.IndexAny(s+",", ",")
			v, err := strconv.ParseFloat(s[:end], 64)
			if err != nil {
				return nil, false
			}
			args = append(args, v)
			s = s[end:]
		}
		s = strings.TrimPrefix(strings.TrimSpace(s), ",")
	}
	return args, true
}

// call applies a function as an engine does. done is false for arguments that
// this test does not know how to pass.
func call(name string, args []any) (value any, err error, done bool) {
	text := func(i int) string {
		if i < len(args) {
			s, _ := args[i].(string)
			return s
		}
		return ""
	}
	number, isNumber := 0.0, false
	if len(args) > 0 {
		number, isNumber = args[0].(float64)
	}
	if !isNumber && strings.HasPrefix(name, "f") {
		return nil, nil, false
	}
	switch name {
	case "formatNumber":
		options := map[string]string{}
		if len(args) > 2 {
			options = args[2].(map[string]string)
		}
		n, err := CompileNumber(text(1), options)
		if err != nil {
			return nil, err, true
		}
		return n.Format(number), nil, true
	case "formatInteger", "parseInteger":
		p, err := CompileInteger(text(1))
		if err != nil {
			return nil, err, true
		}
		if name == "formatInteger" {
			return p.Format(number), nil, true
		}
		v, err := p.Parse(text(0))
		return v, err, true
	case "fromMillis":
		d := DefaultDateTime
		if len(args) > 1 {
			if d, err = CompileDateTime(text(1)); err != nil {
				return nil, err, true
			}
		}
		s, err := d.Format(int64(number), text(2))
		return s, err, true
	case "toMillis":
		if len(args) == 1 {
			v, err := ParseISO(text(0))
			return v, err, true
		}
		d, err := CompileDateTime(text(1))
		if err != nil {
			return nil, err, true
		}
		v, ok, err := d.Parse(text(0), time.Now())
		if !ok {
			return nil, err, true
		}
		return v, err, true
	}
	return nil, nil, false
}

// TestCorpus runs the cases of the official suite that are nothing but one call
// with literal arguments.
func TestCorpus(t *testing.T) {
	folder := os.Getenv("MCPGRAPH_CORPORA")
	if folder == "" {
		t.Skip("MCPGRAPH_CORPORA is not set: the official suite was not run")
	}
	f, err := os.Open(filepath.Join(folder, "jsonata", "suite.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	ran := 0
	for lines.Scan() {
		var c struct {
			ID, Expr string
			Want     struct {
				Kind, Code string
				Value      any
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		m := corpusCall.FindStringSubmatch(c.Expr)
		if m == nil {
			continue
		}
		args, ok := literals(m[2])
		if !ok {
			continue
		}
		got, err, done := call(m[1], args)
		if !done {
			continue
		}
		ran++
		if g, ok := got.(float64); ok {
			if w, ok := c.Want.Value.(float64); ok && math.Abs(g-w) <= 1e-15*math.Abs(w) {
				continue
			}
		}
		if code(err) != c.Want.Code || c.Want.Kind == "value" && got != c.Want.Value {
			t.Errorf("%s: %s: got %v, %v; want %v %s", c.ID, c.Expr, got, err, c.Want.Value, c.Want.Code)
		}
	}
	if err := lines.Err(); err != nil || ran < 200 {
		t.Errorf("only %d cases ran: %v", ran, err)
	}
	t.Logf("%d cases", ran)
}
