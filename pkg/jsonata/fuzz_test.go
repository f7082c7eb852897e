package jsonata

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// seeds adds the expressions of the package's own cases to a fuzz target.
func seeds(f *testing.F) {
	for _, c := range readCases(f, "testdata/cases.jsonl") {
		f.Add(c.Expr)
	}
}

// FuzzParse compiles anything: it either fails with an error that has a code
// and lies inside the source, or gives an expression with references that do.
func FuzzParse(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, src string) {
		e, err := Compile(src)
		if err != nil {
			var own *Error
			if !errors.As(err, &own) || own.Code == "" || own.Message == "" || own.Offset > len(src) {
				t.Fatalf("%q: %#v", src, err)
			}
			return
		}
		for _, r := range e.Refs() {
			if r.Offset < 0 || r.End < r.Offset || r.End > len(src) {
				t.Fatalf("%q: reference %+v lies outside", src, r)
			}
		}
	})
}

// FuzzEval evaluates anything over a document, within limits: whatever comes
// out can be written and read as JSON.
func FuzzEval(f *testing.F) {
	seeds(f)
	document, err := os.ReadFile("testdata/document.json")
	if err != nil {
		f.Fatal(err)
	}
	input := mustValue(f, string(document))
	before := input.JSON()
	f.Fuzz(func(t *testing.T, src string) {
		e, err := Compile(src)
		if err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		v, err := e.Eval(ctx, input, &Options{Limits: Limits{Depth: 500, Sequence: 10_000, StringBytes: 100_000, Steps: 100_000}})
		if err != nil {
			var own *Error
			if !errors.As(err, &own) || own.Message == "" {
				t.Fatalf("%q: %#v", src, err)
			}
			return
		}
		if text := v.JSON(); len(text) < 1_000_000 {
			if _, err := value.Parse(text); err != nil {
				t.Fatalf("%q gives %s: %v", src, text, err)
			}
		}
		if input.JSON() != before {
			t.Fatalf("%q changed its input", src)
		}
	})
}
