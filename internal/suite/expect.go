package suite

import (
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// Expect is what must hold after a test.
type Expect struct {
	Node *config.Node // nil if the test expects nothing but success
	// Patterns are what parts of the outcome are compared with, in the order of the
	// documentation.
	Patterns []Expectation
	// Exprs must all hold for the outcome.
	Exprs    []*Predicate
	Snapshot bool
}

// Expectation compares one part of the outcome.
type Expectation struct {
	Key     string // of "expect"
	Pattern *Pattern
	mode    mode
}

// mode is how much of a value a pattern has to cover.
type mode uint8

const (
	exactly mode = iota
	partly       // members of objects that the pattern does not have do not count
	byKey        // exactly, but for members of the object itself
	inItems      // partly in each element of a list
	asPath       // the id of a node stands for it and its bodies
)

// compared are the keys of "expect" with patterns.
var compared = []struct {
	key  string
	mode mode
	kind config.Kind // that the value must have; Scalar: any
}{
	{"error", partly, config.Map},
	{"result", exactly, config.Scalar},
	{"matches", partly, config.Scalar},
	{"path", asPath, config.List},
	{"calls", inItems, config.List},
	{"outputs", byKey, config.Map},
	{"attempts", byKey, config.Map},
	{"durationMs", exactly, config.Scalar},
}

// ExpectsError reports whether the run must fail.
func (e *Expect) ExpectsError() bool { return e.find("error") != nil }

// find returns the pattern of a key, or nil.
func (e *Expect) find(key string) *Pattern {
	for _, x := range e.Patterns {
		if x.Key == key {
			return x.Pattern
		}
	}
	return nil
}

// expect decodes what a test expects.
func (d *decoder) expect(owner *fields) *Expect {
	e := &Expect{}
	f := owner.sub("expect")
	if f == nil {
		return e
	}
	e.Node = f.nodes[0]
	for _, c := range compared {
		n := f.get(c.key)
		if n == nil {
			continue
		}
		if c.kind != config.Scalar && n.Kind() != c.kind {
			want := "a list"
			if c.kind == config.Map {
				want = "a map"
			}
			d.report(n.Expected(fmt.Sprintf("%q", c.key), want))
			continue
		}
		e.Patterns = append(e.Patterns, Expectation{c.key, d.pattern(n), c.mode})
	}
	if n := f.get("expr"); n.Kind() == config.List {
		for _, one := range n.Items() {
			d.addPredicate(e, one)
		}
	} else if n != nil {
		d.addPredicate(e, n)
	}
	e.Snapshot = f.boolean("snapshot")
	if failed := f.get("error"); failed != nil {
		for _, key := range []string{"result", "matches"} {
			if n := f.get(key); n != nil {
				d.report(n.Problem(diag.CodeConflict, fmt.Sprintf("\"error\" and %q exclude each other: a run that fails has no result", key)))
			}
		}
	}
	return e
}

func (d *decoder) addPredicate(e *Expect, n *config.Node) {
	if n = d.resolve(n); !n.IsString() {
		d.report(n.Expected(`"expr"`, "a JSONata expression or a list of them"))
		return
	}
	e.Exprs = append(e.Exprs, d.predicate(n))
}
