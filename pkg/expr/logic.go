package expr

import (
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// maxDepth is how deeply operations may be nested in a rule.
const maxDepth = 1000

// CompileLogic compiles a JSON Logic rule with the operators and coercions of
// json-logic-js 2.0.5. It reports everything that is wrong with the rule, and
// returns a program only where nothing is.
//
// Where var stands outside the bodies of map, filter, reduce, all, some and
// none, its name is a JSONata expression over the run; a dotted path with whole
// numbers in it ("items.0.name"), a number and a name that is itself a rule are
// looked up as JSON Logic does. What such a var yields is undefined if there is
// nothing: then it equals null, is not true, and no comparison with a number
// holds. Inside the bodies var has its JSON Logic meaning, and is null if there
// is nothing. What var yields is data, never a rule. missing and missing_some
// look up dotted paths in the run's document, in bodies in the element.
//
// Members of objects are those that they have of their own; of JavaScript's
// inherited properties a list and a text have length.
//
// Opts are for the JSONata in the rule.
func CompileLogic(rule value.Value, opts ...jsonata.Option) (*Program, []*Error) {
	c := compiler{options: opts}
	root := c.compile(rule, false)
	if len(c.errs) > 0 {
		return nil, c.errs
	}
	c.constants(rule, root)
	return &Program{rule: root, refs: c.refs, reads: c.reads, findings: c.findings}, nil
}

type compiler struct {
	options []jsonata.Option // of the JSONata in the rule

	errs  []*Error
	refs  []Ref
	reads []Read

	findings []Finding
	path     []any
	depth    int
}

// here returns the path to what is being compiled.
func (c *compiler) here() []any { return append([]any{}, c.path...) }

func (c *compiler) fail(e *Error) node {
	if e.Path == nil {
		e.Path = c.here()
	}
	c.errs = append(c.errs, e)
	return literal{}
}

// compile compiles a rule; body means that it stands in the body of an operator
// over a list.
func (c *compiler) compile(rule value.Value, body bool) node {
	if c.depth++; c.depth > maxDepth {
		c.depth--
		return c.fail(failed("the rule is nested more than %d levels deep", maxDepth))
	}
	defer func() { c.depth-- }()
	switch {
	case rule.Kind() == value.Array:
		elems := c.compileAll(rule.Elems(), body)
		if constant(elems) {
			return literal{rule}
		}
		return &list{elems, c.here()}
	case rule.Kind() == value.Object && rule.Len() == 1:
		e := rule.Entries()[0]
		return c.operation(e.Key, e.Value, body)
	}
	return literal{rule}
}

func (c *compiler) compileAll(rules []value.Value, body bool) []node {
	out := make([]node, len(rules))
	for i, r := range rules {
		c.path = append(c.path, i)
		out[i] = c.compile(r, body)
		c.path = c.path[:len(c.path)-1]
	}
	return out
}

// constant reports whether none of the nodes computes anything.
func constant(nodes []node) bool {
	return !slices.ContainsFunc(nodes, func(n node) bool {
		_, ok := n.(literal)
		return !ok
	})
}

// operation compiles the operator name with what stands under it: a list of
// arguments, or a single one.
func (c *compiler) operation(name string, under value.Value, body bool) node {
	op, eager := operators[name]
	if !eager && !slices.Contains(deciding, name) {
		return c.unknown(name)
	}
	where := c.here()
	c.path = append(c.path, name)
	defer func() { c.path = c.path[:len(c.path)-1] }()
	if name == "var" {
		return c.variable(under, where, body)
	}
	args := []value.Value{under}
	if under.Kind() == value.Array {
		args = under.Elems()
	}
	if eager {
		if !body && (name == "missing" || name == "missing_some") {
			c.keys(under)
		}
		return &call{op, c.arguments(under, args, body), where}
	}
	switch name {
	case "if", "?:":
		return &conditional{c.arguments(under, args, body)}
	case "and", "or":
		return &junction{c.arguments(under, args, body), name == "or"}
	}
	return c.overList(name, under, args, where, body)
}

// arguments compiles args, which stand in the list under or are under itself.
func (c *compiler) arguments(under value.Value, args []value.Value, body bool) []node {
	if under.Kind() == value.Array {
		return c.compileAll(args, body)
	}
	return []node{c.compile(under, body)}
}

func (c *compiler) unknown(name string) node {
	e := failed("unknown JSON Logic operator %q", name)
	e.Hint = diag.NewNames(operatorNames()).Expected(name, "expected ")
	if meant := foreignOperators[name]; meant != "" {
		e.Hint = "write " + meant
	}
	return c.fail(e)
}

// foreignOperators are names that others have for operators, with what rules have.
var foreignOperators = map[string]string{
	"expr": `{var: …}, whose name is an expression: {">": [{var: $.NODE.FIELD}, 1]}`,
	"=":    `{"==": […]}; did you mean "=="?`, "eq": `{"==": […]}`, "equals": `{"==": […]}`, "ne": `{"!=": […]}`,
	"gt": `{">": […]}`, "gte": `{">=": […]}`, "lt": `{"<": […]}`, "lte": `{"<=": […]}`,
	"&&": "{and: […]}", "||": "{or: […]}", "not": `{"!": …}`, "contains": "{in: [PART, WHOLE]}", "includes": "{in: [PART, WHOLE]}",
	"exists": `{"!=": [{var: …}, null]}`, "concat": "{cat: […]}",
}

// overList compiles an operator that evaluates its second argument, the body,
// once for each element of the first. The third, the start of reduce, is
// evaluated in the scope of the first; further ones never are.
func (c *compiler) overList(name string, under value.Value, args []value.Value, where []any, body bool) node {
	parts := [3]node{literal{}, literal{}, literal{value.NullValue}}
	for i, r := range args[:min(len(args), len(parts))] {
		if under.Kind() == value.Array {
			c.path = append(c.path, i)
		}
		parts[i] = c.compile(r, body || i == 1)
		if under.Kind() == value.Array {
			c.path = c.path[:len(c.path)-1]
		}
	}
	over := over{parts[0], parts[1], where}
	switch name {
	case "map":
		return &mapping{over}
	case "filter":
		return &filter{over}
	case "reduce":
		return &reduction{over, parts[2]}
	}
	return &quantifier{over, quantifiers[name]}
}

// variable compiles var; where is the path to the operation.
func (c *compiler) variable(under value.Value, where []any, body bool) node {
	name, rest := under, []value.Value(nil)
	if under.Kind() == value.Array {
		name = arg(under.Elems(), 0)
		rest = under.Elems()[min(1, under.Len()):]
		c.path = append(c.path, 0)
	}
	v := c.named(name, where, body)
	if under.Kind() == value.Array {
		c.path = c.path[:len(c.path)-1]
	}
	if len(rest) == 0 && !body {
		return v
	}
	out := &defaultVar{variable: v, nothing: value.Undef}
	if body {
		out.nothing = value.NullValue
	}
	for i, r := range rest {
		c.path = append(c.path, i+1)
		out.rest = append(out.rest, c.compile(r, body))
		c.path = c.path[:len(c.path)-1]
	}
	return out
}

// named compiles the name of a var.
func (c *compiler) named(name value.Value, where []any, body bool) node {
	switch {
	case nullish(name) || name.Kind() == value.String && name.Str() == "":
		return rootVar{}
	case name.Kind() == value.String && body:
		return &pathVar{strings.Split(name.Str(), ".")}
	case name.Kind() == value.String:
		return c.reference(name.Str())
	case name.Kind() == value.Number:
		return &pathVar{strings.Split(value.FormatNumber(name.Float()), ".")}
	}
	return &computedVar{c.compile(name, body), where}
}

// reference compiles the name of a var that reads the run.
func (c *compiler) reference(name string) node {
	if path, ok := numbered(name); ok {
		c.refs = append(c.refs, dottedRef(name, c.here()))
		return &pathVar{path}
	}
	prog, err := compileSource(name, c.options)
	if err != nil {
		return c.fail(jsonataError(err, name, c.here()))
	}
	c.refs = append(c.refs, sourceRefs(prog, c.here())...)
	c.reads = append(c.reads, sourceReads(prog, c.here())...)
	c.findings = append(c.findings, sourceFindings(prog, c.here())...)
	return &jsonataVar{prog, c.here()}
}

// keys notes the references that missing and missing_some make with literal
// keys. The numbers of missing_some are no keys.
func (c *compiler) keys(under value.Value) {
	if under.Kind() == value.String {
		c.refs = append(c.refs, dottedRef(under.Str(), c.here()))
	}
	for i, e := range under.Elems() {
		c.path = append(c.path, i)
		c.keys(e)
		c.path = c.path[:len(c.path)-1]
	}
}

// dottedRef returns the reference that a path of JSON Logic makes.
func dottedRef(name string, path []any) Ref {
	steps := strings.Split(name, ".")
	ref := Ref{Node: steps[0], Path: path, End: len(name), IDEnd: len(steps[0])}
	at := len(steps[0]) + 1
	for _, step := range steps[1:] {
		if step == "length" {
			break // lists and texts have one
		}
		ref.Steps = append(ref.Steps, Step{Name: step, Offset: at, End: at + len(step)})
		at += len(step) + 1
	}
	return ref
}
