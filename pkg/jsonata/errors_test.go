package jsonata

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// TestErrorsSayWhatWhereAndWhy holds the code, the byte offset, the token and
// the sentence of errors, and sees to it that every code has a case.
func TestErrorsSayWhatWhereAndWhy(t *testing.T) {
	document, err := os.ReadFile("testdata/document.json")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := os.ReadFile("testdata/errors.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	input := mustValue(t, string(document))
	seen := map[string]bool{}
	check := func(name string, err error, code string, offset int, token, message string) {
		t.Helper()
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: gives %v, want %s", name, err, code)
			return
		}
		seen[e.Code] = true
		if e.Code != code || e.Offset != offset || e.Token != token || e.Message != message {
			t.Errorf("%s\n got %s at %d, token %q: %s\nwant %s at %d, token %q: %s",
				name, e.Code, e.Offset, e.Token, e.Message, code, offset, token, message)
		}
	}
	for _, line := range strings.Split(strings.TrimSpace(string(lines)), "\n") {
		var c struct {
			Expr, Code, Token, Message string
			Offset                     int
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		_, err := evaluate(c.Expr, input, nil)
		check(c.Expr, err, c.Code, c.Offset, c.Token, c.Message)
	}

	// Those that need more than an expression and a document.
	for _, c := range []struct {
		expr    string
		limits  Limits
		code    string
		offset  int
		token   string
		message string
	}{
		{"[1..100]", Limits{Sequence: 99}, "D2014", 2, "..", "the range has 100 elements, more than the limit of 99"},
		{"$append([1..60], [1..60])", Limits{Sequence: 99}, "D2015", 0, "append", "an array would have more than 99 elements"},
		{"'12345' & '67890'", Limits{StringBytes: 9}, "D2016", 8, "&", "a string would have more than 9 bytes"},
		{"($f := function(){ 1 + $f() }; $f())", Limits{Depth: 100}, "U1001", 21, "f", "the evaluation was stopped: it is nested too deeply, which endless recursion can cause"},
		{"[1..1000].($ * 2)", Limits{Steps: 100}, "U1001", 10, "", "the evaluation was stopped: it took too many steps"},
	} {
		_, err := evaluate(c.expr, input, &Options{Limits: c.limits})
		check(c.expr, err, c.code, c.offset, c.token, c.message)
	}
	failing := WithFunctions(Function{Name: "fail", Call: func(*Call, []value.Value) (value.Value, error) {
		return value.Undef, errors.New("no luck")
	}})
	e, err := Compile("1 & $fail()", failing)
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Eval(context.Background(), input, nil)
	check("$fail()", err, "U1002", 4, "fail", "the function fail failed: no luck")
	call := func(*Call, []value.Value) (value.Value, error) { return value.Undef, nil }
	for _, c := range []struct {
		fn                   Function
		code, token, message string
	}{
		{Function{Call: call}, "S0403", "", "a function of the program has no name"},
		{Function{Name: "bad"}, "S0403", "bad", "the function bad has no implementation"},
		{Function{Name: "bad", Call: call, Signature: "s:n"}, "S0403", "bad", "of the function bad, the signature s:n is not valid: it must stand in angle brackets, as in <s-n:s>"},
		{Function{Name: "bad", Call: call, Signature: "<s<n>>"}, "S0401", "bad", "of the function bad, in a signature, only functions and arrays can have a type parameter, not s"},
	} {
		_, err = Compile("1", WithFunctions(c.fn))
		check(c.fn.Name+c.fn.Signature, err, c.code, -1, c.token, c.message)
	}

	for code := range sentences {
		if !seen[code] {
			t.Errorf("no case gives %s: %s", code, sentences[code])
		}
	}
}

func evaluate(expr string, input value.Value, o *Options) (value.Value, error) {
	e, err := Compile(expr)
	if err != nil {
		return value.Undef, err
	}
	return e.Eval(context.Background(), input, o)
}

func TestTheEndOfTheContextIsTheCause(t *testing.T) {
	e, err := Compile("($f := function(){ $f() }; $f())")
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("enough")
	ctx, cancel := context.WithTimeoutCause(context.Background(), 20*time.Millisecond, why)
	defer cancel()
	_, err = e.Eval(ctx, value.Undef, nil)
	var own *Error
	if !errors.As(err, &own) || own.Code != "U1001" || !errors.Is(err, why) {
		t.Errorf("gives %v", err)
	}
}
