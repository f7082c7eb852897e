package jsonata_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/mcpgraph/mcpgraph/internal/testscale"
	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// TestGeneratedExpressionsAgreeWithTheReference generates expressions over the
// whole language with their data and compares value, order of keys, undefined
// and error code with those of the jsonata package of npm.
// MCPGRAPH_REFERENCE_CASES sets how many (default 500, in full 4,000) and
// MCPGRAPH_REFERENCE_SEED where to begin.
func TestGeneratedExpressionsAgreeWithTheReference(t *testing.T) {
	r := startReference(t)
	cases, err := strconv.Atoi(os.Getenv("MCPGRAPH_REFERENCE_CASES"))
	if err != nil {
		cases = testscale.Of(500, 4000)
	}
	seed, _ := strconv.ParseUint(os.Getenv("MCPGRAPH_REFERENCE_SEED"), 10, 64)
	explained, seen, kinds := map[string]int{}, map[string]bool{}, map[string]int{}
	differ := 0
	const batch = 500
	for from := 0; from < cases && differ < 200; from += batch {
		pieces := make([]*piece, 0, batch)
		questions := make([]question, 0, batch)
		for i := from; i < min(cases, from+batch); i++ {
			m := &maker{Rand: rand.New(rand.NewPCG(seed, uint64(i)))}
			p, data := m.question()
			pieces = append(pieces, p)
			questions = append(questions, question{Expr: p.String(), Data: json.RawMessage(data)})
		}
		wants := r.ask(questions)
		for i, want := range wants {
			q := questions[i]
			got := evaluate(q)
			switch {
			case want.Code != "":
				kinds["error"]++
			default:
				kinds[want.Result[:1]]++
			}
			if same(got, want) {
				if got.Code != "" {
					if why := misplaced(q.Expr, got, want); why != "" {
						t.Errorf("seed %d case %d: %s\n  %s\n  got       %v\n  reference %v", seed, from+i, why, q.Expr, got, want)
						differ++
					}
				}
				continue
			}
			if want.Code == "hang" || want.Code == "dead" {
				t.Logf("the reference is %s: %s", want.Code, q.Expr)
			}
			if why := difference(q, got, want); why != "" {
				explained[why]++
				continue
			}
			s := shrinker{r: r, rounds: 60}
			small := s.shrink(pieces[i], q)
			if seen[small.Expr] {
				continue
			}
			seen[small.Expr] = true
			differ++
			t.Errorf("seed %d case %d, made smaller:\n  %s\n  on %s\n  got       %v\n  reference %v", seed, from+i, small.Expr, small.Data, evaluate(small), r.ask([]question{small})[0])
		}
	}
	t.Logf("%d cases from seed %d; deliberate differences: %s; results by first letter: %s", cases, seed, counts(explained), counts(kinds))
}

func counts(m map[string]int) string {
	var list []string
	for k, n := range m {
		list = append(list, fmt.Sprintf("%s: %d", k, n))
	}
	sort.Strings(list)
	return strings.Join(list, ", ")
}

// question makes an expression with its data, none on which the reference is
// known to hang.
func (m *maker) question() (*piece, string) {
	for {
		if p, data := m.any(); !hangs(p) {
			return p, data
		}
	}
}

// hangs reports whether a regular expression can stand in the left side of ?: or
// ??, which begins with its piece.
func hangs(p *piece) bool {
	var left strings.Builder
	for _, part := range p.parts {
		switch part := part.(type) {
		case string:
			for _, at := range defaults.FindAllStringIndex(part, -1) {
				if strings.Contains(left.String()+part[:at[0]], "/") {
					return true
				}
			}
			left.WriteString(part)
		case *piece:
			if hangs(part) {
				return true
			}
			part.write(&left)
		}
	}
	return false
}

func (m *maker) any() (*piece, string) {
	data := m.data()
	if m.one(60) {
		data = ""
	}
	kind := "nsbaaoxxx"[m.IntN(9)]
	depth := 1 + m.IntN(4)
	switch m.IntN(20) {
	case 0, 1, 2:
		return m.join(depth), data
	case 3, 4, 5, 6, 7:
		return m.path(kind, depth), data
	case 8, 9, 10, 11:
		return m.call(kind, depth), data
	case 12:
		return of(m.mutate(m.expr(kind, depth).String())), data
	case 13:
		return of(m.spaced(m.expr(kind, depth).String())), data
	}
	return m.expr(kind, depth), data
}

// same compares strictly, but takes crashes of the reference for any outcome.
func same(got, want outcome) bool {
	return got.Code == want.Code && got.Result == want.Result
}

// misplaced returns where an error names another token than the reference, or
// lies behind the end of the token that the reference names.
func misplaced(src string, got, want outcome) string {
	switch want.Token {
	case "and", "or":
		return "" // which the reference says of all errors in their operands
	case "/":
		return "" // it cannot read a regular expression there
	}
	inside := called.MatchString(src)
	if got.Code[0] != 'S' && got.Token != want.Token && strings.ContainsAny(src, "[{") &&
		got.At >= 0 && got.At < len(src) && strings.HasPrefix(src[got.At:], got.Token) {
		return "" // another one of the parts that the reference evaluates at the same time
	}
	if want.Token != "" && got.Token != want.Token && !otherToken[got.Code] && !(inside && got.Code[0] == 'D') {
		return fmt.Sprintf("token %q instead of %q", got.Token, want.Token)
	}
	switch {
	case want.Position == 0 || want.Position > len(src):
	case got.At < 0 || got.At > len(src):
		return "an error without a place"
	case !otherPlace[got.Code] && !inside && len(utf16.Encode([]rune(src[:got.At]))) > want.Position:
		return fmt.Sprintf("offset %d, behind %d of the reference", got.At, want.Position)
	}
	return ""
}

// evaluate answers a question with this package.
func evaluate(q question) (o outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = outcome{Code: "panic", Message: fmt.Sprint(p)}
		}
	}()
	e, err := jsonata.Compile(q.Expr)
	var got value.Value
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		opts := &jsonata.Options{Now: func() time.Time { return time.UnixMilli(referenceClock).UTC() }}
		vars, _ := value.Parse(referenceVars)
		opts.Vars = vars.Entries()
		in := value.Undef
		if len(q.Data) > 0 {
			if in, err = value.Parse(string(q.Data)); err != nil {
				return outcome{Code: "data", Message: err.Error()}
			}
		}
		got, err = e.Eval(ctx, in, opts)
	}
	var own *jsonata.Error
	if errors.As(err, &own) {
		return outcome{Code: own.Code, Message: own.Message, Token: own.Token, At: own.Offset}
	}
	text := string(encodeResult(nil, got))
	if len(text) > 100000 {
		text = "long"
	}
	return outcome{Result: text}
}

// encodeResult writes a value like JSON in ASCII, but says where a function,
// undefined or a number that is not finite stands; keys that are integers come
// first, as in JavaScript.
func encodeResult(dst []byte, v value.Value) []byte {
	switch v.Kind() {
	case value.Undefined:
		return append(dst, "undefined"...)
	case value.Func:
		return append(dst, "function"...)
	case value.Number:
		switch f := v.Float(); {
		case math.IsNaN(f):
			return append(dst, "NaN"...)
		case math.IsInf(f, 1):
			return append(dst, "Infinity"...)
		case math.IsInf(f, -1):
			return append(dst, "-Infinity"...)
		default:
			return value.AppendNumber(dst, f+0)
		}
	case value.String:
		return appendASCII(dst, v.Str())
	case value.Array:
		dst = append(dst, '[')
		for i, e := range v.Elems() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = encodeResult(dst, e)
		}
		return append(dst, ']')
	case value.Object:
		entries := append([]value.Entry(nil), v.Entries()...)
		sort.SliceStable(entries, func(i, j int) bool {
			a, b := arrayIndex(entries[i].Key), arrayIndex(entries[j].Key)
			return a < b
		})
		dst = append(dst, '{')
		for i, e := range entries {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendASCII(dst, e.Key), ':')
			dst = encodeResult(dst, e.Value)
		}
		return append(dst, '}')
	}
	return append(dst, v.JSON()...)
}

// arrayIndex returns the integer that JavaScript sorts a key by, and the
// largest one for other keys.
func arrayIndex(key string) uint64 {
	n, err := strconv.ParseUint(key, 10, 32)
	if err != nil || n == math.MaxUint32 || strconv.FormatUint(n, 10) != key {
		return math.MaxUint64
	}
	return n
}

func appendASCII(dst []byte, s string) []byte {
	for _, c := range string(value.AppendString(nil, s)) {
		if c < 0x7F {
			dst = append(dst, byte(c))
			continue
		}
		for _, unit := range utf16.AppendRune(nil, c) {
			dst = fmt.Appendf(dst, "\\u%04x", unit)
		}
	}
	return dst
}
