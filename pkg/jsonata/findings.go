package jsonata

import (
	"maps"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// FindingKind is what is wrong with a part of an expression.
type FindingKind uint8

// The kinds of findings.
const (
	// UnknownFunction is a call of a function that does not exist.
	UnknownFunction FindingKind = iota
	// UnboundVariable is a variable that is never assigned.
	UnboundVariable
	// WrongCall is a call with arguments that its function never takes, or an
	// operator with an operand that it never takes.
	WrongCall
	// OddCharacter is a character in a name that looks like white space or
	// like a quotation mark and is neither.
	OddCharacter
	// ForeignForm is a form of another language, which means something else here.
	ForeignForm
	// ForeignField is the field length, which lists and texts have in other
	// languages. It is right if the value is an object with such a field.
	ForeignField
)

// Finding is a part of an expression that compiles and cannot do what it was
// meant for: it fails, or yields nothing, whenever it is evaluated.
type Finding struct {
	Kind FindingKind
	// Name is the function or variable without its $; for an OddCharacter the
	// name that holds it.
	Name string
	// Message is one sentence. Hint is what to do; it may be empty.
	Message, Hint string
	// Visible are the names, without $, of the functions and variables that
	// could stand in place of an unknown one, sorted.
	Visible []string
	// Offset and End delimit the part in the source, in bytes.
	Offset, End int
	// Of is the path before a ForeignField, or nil if it is not known.
	Of *Read
}

// Findings lists what is surely wrong in the expression, in the order of the
// source. Functions of [WithFunctions] and variables of [WithVariables] are
// known; variables that are only in [Options.Vars] count as unbound. Where the
// expression calls $eval, which can bind variables, only likely misspellings of
// functions are findings. The slice must not be modified.
func (e *Expr) Findings() []Finding { return e.findings }

// TypedFindings lists what else is surely wrong if the paths that the expression reads
// are what typeOf returns: those that [Expr.Whole] could return, from the input, from
// variables of [WithVariables] and from functions without arguments.
func (e *Expr) TypedFindings(typeOf func(Read) Kinds) []Finding {
	if e.again == nil {
		return nil
	}
	known := e.findings
	return slices.DeleteFunc(e.again(typeOf).findings, func(f Finding) bool {
		return slices.ContainsFunc(known, func(k Finding) bool { return k.Offset == f.Offset && k.Kind == f.Kind })
	})
}

// Kinds returns what the value of the expression can be if its paths are what typeOf
// returns, which may be nil.
func (e *Expr) Kinds(typeOf func(Read) Kinds) Kinds {
	switch {
	case typeOf == nil:
	case e.again != nil:
		return e.again(typeOf).kinds
	case e.whole != nil:
		return typeOf(*e.whole)
	}
	return e.kinds
}

// names is a scope of the source: a function, a block, or the whole.
type names struct {
	parent *names
	bound  map[string]bool
}

func (s *names) bind(name string) {
	if s.bound == nil {
		s.bound = map[string]bool{}
	}
	s.bound[name] = true
}

func (s *names) has(name string) bool {
	for ; s != nil; s = s.parent {
		if s.bound[name] {
			return true
		}
	}
	return false
}

// use is a place where a variable is read.
type use struct {
	name   string
	at     *ast
	scope  *names
	called bool
	args   []*ast // of a call
}

// checker looks through a tree for what cannot work.
type checker struct {
	src       string
	functions map[string]value.Value // of the host
	// rebound are all names that the source binds anywhere: what such a name
	// stands for is not followed.
	rebound  map[string]bool
	steps    map[string]bool // what @ and # bind
	keys     map[string]bool // of objects that the source makes
	scope    *names
	keyed    bool // the input is an object
	root     bool // the context is still the input
	lambdas  int  // functions around
	uses     []use
	findings []Finding
	reached  map[reach][]string // what can be read there
	// typeOf, which may be nil, tells what the paths of the source can be. typed is
	// true if that could make more findings.
	typeOf func(Read) Kinds
	typed  bool
	// bound counts how often the source binds a variable; values are what those can
	// be that it binds once.
	bound  map[string]int
	values map[string]Kinds
}

// signed is a function with a signature, or nil if it takes anything.
type signed interface{ signature() *signature }

func (n *native) signature() *signature { return n.sig }
func (h *host) signature() *signature   { return h.sig }

// checked is what checks found in an expression.
type checked struct {
	findings []Finding
	shape    *Shape
	kinds    Kinds
	typed    bool // the types of its paths could make more findings
}

// check returns what is surely wrong in the tree of a source, and what is sure
// about its value. typeOf, which may be nil, tells what its paths can be.
func check(src string, tree *ast, o *compileOptions, typeOf func(Read) Kinds) checked {
	if tree.plain() {
		return checked{kinds: anything}
	}
	c := &checker{src: src, functions: o.functions, keyed: o.object, root: true, typeOf: typeOf}
	c.bound, c.values = map[string]int{}, map[string]Kinds{}
	c.rebound, c.steps, c.keys = map[string]bool{}, map[string]bool{}, map[string]bool{}
	walk(tree, c.note)
	for _, name := range o.variables {
		c.steps[name] = true
	}
	c.scope = &names{bound: c.steps}
	c.visit(tree)
	c.resolve()
	slices.SortStableFunc(c.findings, func(a, b Finding) int { return a.Offset - b.Offset })
	shape, kinds := shapeOf(c, tree), c.kindsOf(tree)
	return checked{c.findings, shape, kinds, c.typed}
}

// plain reports whether a tree is a path of names, which most expressions of a
// graph are: there is nothing to be found in them.
func (n *ast) plain() bool {
	if n.kind != astPath || n.group != nil || n.predicate != nil || n.keepArray || n.keepSingleton {
		return false
	}
	for i, s := range n.list {
		variable := i == 0 && s.kind == astVariable && (s.text == "" || s.text == "$")
		if !variable && s.kind != astName || s.stages != nil || s.predicate != nil || s.focus != "" || s.index != "" || hasOdd(s.text) || strings.Contains(s.text, "${") {
			return false
		}
	}
	return foreignIndex().names[n.list[0].text] == nil && !isLengthField(n)
}

// note takes down the names that a part of the source binds.
func (c *checker) note(n *ast) bool {
	switch n.kind {
	case astBind:
		c.rebound[n.lhs.text] = true
		c.bound[n.lhs.text]++
	case astLambda:
		for _, p := range n.list {
			c.rebound[p.text] = true
			c.bound[p.text] += 2
		}
	}
	for _, p := range n.pairs {
		if p[0].kind == astString {
			c.keys[p[0].text] = true
		}
	}
	for _, name := range []string{n.focus, n.index} {
		if name != "" {
			c.rebound[name], c.steps[name] = true, true
			c.bound[name] += 2
		}
	}
	for _, s := range n.stages {
		if s.index != "" {
			c.rebound[s.index], c.steps[s.index] = true, true
			c.bound[s.index] += 2
		}
	}
	return true
}

// within visits what do visits in a scope inside the current one.
func (c *checker) within(do func()) {
	c.scope = &names{parent: c.scope}
	do()
	c.scope = c.scope.parent
}

// elsewhere visits what do visits with a context that is not the input.
func (c *checker) elsewhere(do func()) {
	before := c.root
	c.root = false
	do()
	c.root = before
}

func (c *checker) visit(n *ast) {
	if n == nil {
		return
	}
	switch n.kind {
	case astBlock:
		c.within(func() { c.parts(n) })
	case astLambda:
		c.within(func() {
			for _, p := range n.list {
				c.scope.bind(p.text)
			}
			// The context is that of the definition.
			c.lambdas++
			c.visit(n.rhs)
			c.lambdas--
		})
	case astBind:
		c.scope.bind(n.lhs.text)
		c.visit(n.rhs)
		if c.bound[n.lhs.text] == 1 {
			c.values[n.lhs.text] = c.kindsOf(n.rhs)
		}
	case astVariable:
		c.read(n, false)
	case astCall, astPartial:
		c.call(n, nil)
	case astApply:
		c.apply(n)
	case astPath:
		c.visit(n.list[0])
		if first := n.list[0]; first.kind == astName {
			foreignName(c, first, true)
		}
		findLength(c, n)
		c.elsewhere(func() { behindFirst(c, n) })
	case astTransform, astSort:
		c.elsewhere(func() { c.parts(n) })
	case astName:
		c.characters(n)
	case astBinary:
		checkOperands(c, n)
		c.parts(n)
	default:
		c.parts(n)
	}
	c.elsewhere(func() { c.behind(n) })
}

// parts visits what an expression is made of.
func (c *checker) parts(n *ast) {
	c.visit(n.lhs)
	c.visit(n.rhs)
	c.visit(n.els)
	for _, k := range n.list {
		c.visit(k)
	}
	for _, t := range n.terms {
		c.visit(t.expr)
	}
	c.pairs(n.pairs)
}

func (c *checker) pairs(pairs [][2]*ast) {
	for _, p := range pairs {
		c.visit(p[0])
		c.visit(p[1])
	}
}

// behind visits the predicates and the grouping of an expression.
func (c *checker) behind(n *ast) {
	for _, list := range [][]stage{n.predicate, n.stages} {
		for _, s := range list {
			c.visit(s.expr)
		}
	}
	if n.group != nil {
		c.pairs(n.group.pairs)
	}
}

// apply visits lhs ~> rhs.
func (c *checker) apply(n *ast) {
	c.visit(n.lhs)
	switch rhs := n.rhs; {
	case rhs.kind == astCall && len(rhs.predicate) == 0 && rhs.group == nil:
		c.call(rhs, n.lhs)
	case rhs.kind == astVariable && !isTrailed(rhs):
		// Between two functions ~> makes a third; either takes one argument.
		c.read(rhs, true)
		c.arguments(rhs, rhs, []Kinds{anything})
	default:
		c.visit(rhs)
	}
}

// call visits a call; first is what ~> passes as its first argument.
func (c *checker) call(n, first *ast) {
	var args []Kinds
	if first != nil {
		args = append(args, c.kindsOf(first))
	}
	for _, a := range n.list {
		if a.kind == astPlaceholder {
			args = append(args, anything)
			continue
		}
		c.visit(a)
		args = append(args, c.kindsOf(a))
	}
	fn := n.lhs
	switch {
	case fn.kind == astVariable && (fn.text == "" || fn.text == "$") && !c.rebound[fn.text] && !isTrailed(fn):
		c.findings = append(c.findings, Finding{
			Kind: UnknownFunction, Name: fn.text, Offset: fn.off, End: fn.end,
			Message: "$" + fn.text + " is a value, not a function",
			Hint:    "functions are called as $name(x, …)",
		})
	case fn.kind == astVariable && !isTrailed(fn):
		c.read(fn, true, n.list...)
	case fn.kind == astPath && len(fn.list) == 1 && fn.fromName && !isTrailed(fn.list[0]):
		c.withoutDollar(fn.list[0], n.list)
	default:
		c.visit(fn)
	}
	c.arguments(n, fn, args)
}

func (c *checker) read(n *ast, called bool, args ...*ast) {
	if n.text != "" && n.text != "$" {
		c.uses = append(c.uses, use{name: n.text, at: n, scope: c.scope, called: called, args: args})
	}
}

// withoutDollar finds a call of a function of the language that lacks its $.
// Such a name reads a field, which holds a function only where the source has
// put one there.
func (c *checker) withoutDollar(n *ast, args []*ast) {
	c.characters(n)
	if c.keys[n.text] || hasOdd(n.text) {
		return
	}
	f := Finding{
		Kind: UnknownFunction, Name: n.text, Offset: n.off, End: n.end,
		Message: "the name " + n.text + " reads a field here, which is not a function",
		Hint:    foreignFunction(c, n.text, args),
	}
	switch {
	case isFunctionOf(c, n.text):
		f.Hint = "names of functions begin with $: $" + n.text
	case f.Hint == "":
		f.Visible = c.visible(c.scope)
	}
	c.findings = append(c.findings, f)
}

// global returns the function of the language, or of the host, that has a name.
func (c *checker) global(name string) (signed, bool) {
	v, ok := c.functions[name]
	if !ok {
		v = builtin(name)
	}
	f, ok := v.Func().(signed)
	return f, ok
}

// signatureOf returns the signature of the function that a variable surely
// stands for, or nil if that is not known.
func (c *checker) signatureOf(n *ast) *signature {
	if n.kind != astVariable || c.rebound[n.text] || isTrailed(n) {
		return nil
	}
	if f, ok := c.global(n.text); ok {
		return f.signature()
	}
	return nil
}

// resolve reports the variables that nothing binds.
func (c *checker) resolve() {
	evaluates := slices.ContainsFunc(c.uses, func(u use) bool { return u.name == "eval" })
	for _, u := range c.uses {
		if _, ok := c.global(u.name); ok || u.scope.has(u.name) || evaluates {
			continue
		}
		f := Finding{
			Kind: UnboundVariable, Name: u.name, Visible: c.visible(u.scope),
			Offset: u.at.off, End: u.at.off + 1 + len(u.name),
			Message: "nothing gives the variable $" + u.name + " a value: it yields nothing",
		}
		switch {
		case c.rebound[u.name]:
			f.Message = "the variable $" + u.name + " has no value here: it yields nothing"
			f.Hint = "it is bound in a block or function elsewhere, and only there"
		case u.called:
			f.Message = "there is no function $" + u.name
		}
		if u.called {
			f.Kind = UnknownFunction
			if hint := foreignFunction(c, u.name, u.args); hint != "" {
				f.Hint = hint
			}
		}
		c.findings = append(c.findings, f)
	}
}

// reach is a scope with as many names as it and those around it have by then.
type reach struct {
	scope *names
	count int
}

// visible lists the functions and variables that can be read in a scope. Findings at
// which these are the same share the list.
func (c *checker) visible(s *names) []string {
	key := reach{scope: s}
	for outer := s; outer != nil; outer = outer.parent {
		key.count += len(outer.bound)
	}
	list, ok := c.reached[key]
	if !ok {
		list = c.listed(s)
		if c.reached == nil {
			c.reached = map[reach][]string{}
		}
		c.reached[key] = list
	}
	return list
}

func (c *checker) listed(s *names) []string {
	all := map[string]bool{"eval": true}
	for name := range builtins {
		all[name] = true
	}
	for name := range c.functions {
		all[name] = true
	}
	for ; s != nil; s = s.parent {
		maps.Copy(all, s.bound)
	}
	return slices.Sorted(maps.Keys(all))
}
