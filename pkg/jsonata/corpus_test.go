package jsonata

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// corpusCase is one line of a corpus.
type corpusCase struct {
	ID        string                     `json:"id"`
	Group     string                     `json:"group"`
	Expr      string                     `json:"expr"`
	Data      json.RawMessage            `json:"data"`
	NoData    bool                       `json:"noData"`
	Bindings  map[string]json.RawMessage `json:"bindings"`
	TimeLimit int                        `json:"timelimit"`
	Depth     int                        `json:"depth"`
	Want      struct {
		Kind  string          `json:"kind"`
		Value json.RawMessage `json:"value"`
		Code  string          `json:"code"`
		Token string          `json:"token"`
	} `json:"want"`
}

// run evaluates the case and says what differs from what it wants.
func (c *corpusCase) run(t testing.TB, expr string) error {
	e, err := Compile(expr)
	var got value.Value
	if err == nil {
		ctx := context.Background()
		opts := &Options{Limits: Limits{Depth: c.Depth}}
		if c.TimeLimit > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, time.Duration(c.TimeLimit)*time.Millisecond)
			defer cancel()
		}
		for name, text := range c.Bindings {
			opts.Vars = append(opts.Vars, value.Entry{Key: name, Value: mustValue(t, string(text))})
		}
		var in value.Value
		if !c.NoData {
			in = mustValue(t, string(c.Data))
		}
		got, err = e.Eval(ctx, in, opts)
	}
	if c.Want.Kind == "error" {
		var own *Error
		switch {
		case err == nil:
			return fmt.Errorf("want error %s, got %s", c.Want.Code, show(got))
		case !errors.As(err, &own) || own.Code != c.Want.Code:
			return fmt.Errorf("want error %s, got %v", c.Want.Code, err)
		case c.Want.Token != "" && own.Token != c.Want.Token:
			return fmt.Errorf("want token %q, got %q", c.Want.Token, own.Token)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("want %s %s, got error %w", c.Want.Kind, c.Want.Value, err)
	}
	if c.Want.Kind == "undefined" {
		if !got.IsUndefined() {
			return fmt.Errorf("want undefined, got %s", show(got))
		}
		return nil
	}
	// What JSON cannot say, such as undefined in an array, counts as what JSON
	// makes of it.
	if got.IsUndefined() || !value.Equal(mustValue(t, got.JSON()), mustValue(t, string(c.Want.Value))) {
		return fmt.Errorf("want %s, got %s", c.Want.Value, show(got))
	}
	return nil
}

func mustValue(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func show(v value.Value) string {
	if v.IsUndefined() {
		return "undefined"
	}
	if s := v.JSON(); len(s) < 2000 {
		return s
	}
	return v.JSON()[:2000] + "…"
}

func readCases(t testing.TB, path string) []corpusCase {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var cases []corpusCase
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		// The standard decoder would put U+FFFD for a lone surrogate, so the
		// texts go through our own.
		line := mustValue(t, lines.Text())
		var c corpusCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		c.Expr = line.Get("expr").Str()
		if data := line.Get("data"); !data.IsUndefined() {
			c.Data = json.RawMessage(data.JSON())
		}
		if v := line.Get("want").Get("value"); !v.IsUndefined() {
			c.Want.Value = json.RawMessage(v.JSON())
		}
		cases = append(cases, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return cases
}

// corpora returns the folder of the corpora, which lie outside the repository.
func corpora(t testing.TB) string {
	dir := os.Getenv("MCPGRAPH_CORPORA")
	if dir == "" {
		t.Skip("skipped: MCPGRAPH_CORPORA does not name the folder that holds the corpora")
	}
	return dir
}

func TestCorporaPassWhole(t *testing.T) {
	for _, name := range []string{"suite.jsonl", "workflow.jsonl"} {
		t.Run(name, func(t *testing.T) {
			cases := readCases(t, filepath.Join(corpora(t), "jsonata", name))
			passed, total := map[string]int{}, map[string]int{}
			all := 0
			for i := range cases {
				c := &cases[i]
				total[c.Group]++
				if err := c.run(t, c.Expr); err != nil {
					t.Errorf("%s: %s\n%v", c.ID, c.Expr, err)
					continue
				}
				passed[c.Group]++
				all++
			}
			var groups []string
			for g := range total {
				groups = append(groups, g)
			}
			sort.Strings(groups)
			for _, g := range groups {
				t.Logf("%-32s %4d/%d", g, passed[g], total[g])
			}
			t.Logf("%-32s %4d/%d", name, all, len(cases))
		})
	}
}
