package suite

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Mock answers calls of upstream tools.
type Mock struct {
	Node *config.Node
	// Server and Tool are names in which * stands for any characters.
	Server, Tool *config.Node
	Arguments    *Pattern // of its keys those of the call are equal; nil: any
	// Replies are given one after the other, the last again and again. There is
	// one at least, unless Max is 0.
	Replies []*Reply
	// Min and Max are how often the mock is called; Max is unlimited if there is
	// no bound.
	Min, Max int

	server, tool glob
}

const unlimited = math.MaxInt

// Reply is an answer of a mock: a result, a failure, or an expression that yields a
// reply.
type Reply struct {
	Node *config.Node
	// Result is the result of tools/call; undefined if Failure or an expression
	// takes its place.
	Result value.Value
	// Failure names how the call fails; empty: it does not.
	Failure string
	Delay   time.Duration

	expr *jsonata.Expr
}

// glob is a name in which * stands for any characters.
type glob struct {
	text   string
	regexp *regexp.Regexp // nil where there is no *
}

func newGlob(text string) glob {
	if !strings.Contains(text, "*") {
		return glob{text, nil}
	}
	parts := strings.Split(text, "*")
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	return glob{text, regexp.MustCompile(`(?s)^` + strings.Join(parts, ".*") + `$`)}
}

func (g glob) matches(name string) bool {
	if g.regexp == nil {
		return g.text == name
	}
	return g.regexp.MatchString(name)
}

// mocks decodes the mocks of a test or file.
func (d *decoder) mocks(owner *fields) []*Mock {
	var all []*Mock
	for _, n := range owner.items("mocks") {
		f := d.fieldsOf(n, "a mock of "+owner.owner, mockSettings)
		if f == nil {
			continue
		}
		m := &Mock{Node: f.nodes[0], Server: f.get("server"), Tool: f.get("tool"), Max: unlimited}
		m.server, m.tool = newGlob(f.required("server")), newGlob(f.required("tool"))
		if args := f.get("arguments"); args != nil {
			if m.Arguments = d.pattern(args); args.Kind() != config.Map {
				d.report(args.Expected(`"arguments"`, "a map"))
			}
		}
		d.times(f, m)
		d.replies(f, m)
		all = append(all, m)
	}
	return all
}

func (d *decoder) times(f *fields, m *Mock) {
	n := f.get("times")
	switch {
	case n == nil:
	case n.Kind() == config.Map:
		t := f.sub("times")
		m.Min, m.Max = int(t.number("min", 0)), int(t.number("max", unlimited))
		if m.Min > m.Max {
			d.report(n.Problem(diag.CodeLimit, fmt.Sprintf("\"min\" is %d and \"max\" is %d: no number of calls is both", m.Min, m.Max)))
		}
	default:
		m.Min = int(f.number("times", 1))
		m.Max = m.Min
	}
}

func (d *decoder) replies(f *fields, m *Mock) {
	delay := f.milliseconds("delayMs", 0)
	one, many := f.get("reply"), f.get("replies")
	switch {
	case one != nil && many != nil:
		p := many.Problem(diag.CodeConflict, fmt.Sprintf("%s has both \"reply\" and \"replies\"", f.owner))
		p.Hint = "remove one of the two"
		d.report(p)
	case one != nil:
		m.Replies = d.addReply(nil, one, delay)
	case many != nil:
		for _, n := range f.items("replies") {
			m.Replies = d.addReply(m.Replies, n, delay)
		}
		if many.Kind() == config.List && len(many.Items()) == 0 && m.Max > 0 {
			d.report(many.Problem(diag.CodeValue, `"replies" is empty`))
		}
	case m.Max > 0:
		p := f.nodes[0].Missing(f.owner, "reply")
		p.Hint = "for a tool that must not be called, write times: 0"
		d.report(p)
	}
}

func (d *decoder) addReply(list []*Reply, n *config.Node, delay time.Duration) []*Reply {
	f := d.fieldsOf(n, "a reply", replySettings)
	if f == nil {
		return list
	}
	r := &Reply{Node: f.nodes[0], Delay: f.milliseconds("delayMs", delay)}
	var given []string
	for _, form := range replyForms {
		if f.get(form) != nil {
			given = append(given, form)
		}
	}
	switch len(given) {
	case 0:
		p := f.nodes[0].Problem(diag.CodeMissing, "the reply says nothing")
		p.Hint = "expected " + diag.List(replyForms)
		d.report(p)
		return list
	case 1:
	default:
		d.report(f.nodes[0].Problem(diag.CodeConflict, fmt.Sprintf("a reply has one form, found %s", diag.List(given))))
		return list
	}
	switch form := given[0]; form {
	case "expr":
		if f.string(form) != "" {
			r.expr = d.compile(f.get(form), argumentsVariable)
		}
	case "text", "error":
		r.Result, _ = resultOf(form, value.FromString(f.string(form)))
	case "failure":
		if r.Failure = f.required(form); r.Failure != "" && upstream.CheckFailureName(r.Failure) != nil {
			d.report(f.get(form).Problem(diag.CodeUnknownFailure, upstream.CheckFailureName(r.Failure).Error()))
		}
	default:
		v := d.value(f.get(form))
		result, wrong := resultOf(form, v)
		if wrong != "" {
			d.report(f.get(form).Expected(fmt.Sprintf("%q", form), wrong))
		}
		r.Result = result
	}
	return append(list, r)
}

// resultOf returns the result of tools/call that a form of reply means; wrong is the
// type that the value should have, if it has another one.
func resultOf(form string, v value.Value) (result value.Value, wrong string) {
	block := func(text string) value.Value {
		return value.FromArray([]value.Value{value.ObjectOf("type", value.FromString("text"), "text", value.FromString(text))})
	}
	switch form {
	case "text":
		return value.ObjectOf("content", block(textOf(v))), ""
	case "error":
		return value.ObjectOf("content", block(textOf(v)), "isError", value.True), ""
	case "json":
		return value.ObjectOf("content", block(v.JSON())), ""
	case "structured":
		if v.Kind() != value.Object {
			return value.Undef, "a map"
		}
		return value.ObjectOf("content", block(v.JSON()), "structuredContent", v), ""
	case "content":
		if v.Kind() != value.Array {
			return value.Undef, "a list of content blocks"
		}
		return value.ObjectOf("content", v), ""
	}
	if v.Kind() != value.Object {
		return value.Undef, "a map"
	}
	return v, ""
}

// textOf returns a string as it is, anything else as JSON.
func textOf(v value.Value) string {
	if v.Kind() == value.String {
		return v.Str()
	}
	return v.JSON()
}
