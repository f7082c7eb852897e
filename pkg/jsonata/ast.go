package jsonata

import "github.com/mcpgraph/mcpgraph/pkg/value"

// astKind is what a syntax node is.
type astKind uint8

const (
	astPath astKind = iota
	astName
	astWildcard
	astDescendant
	astParent
	astVariable
	astString
	astNumber
	astValue
	astRegex
	astBinary
	astNegate
	astArray
	astObject
	astBlock
	astCondition
	astDefault  // a ?: b
	astCoalesce // a ?? b
	astBind
	astLambda
	astCall
	astPartial
	astPlaceholder // the ? of a partial application
	astApply
	astTransform
	astSort
)

var astNames = [...]string{
	"path", "name", "wildcard", "descendant", "parent", "variable", "string", "number", "value",
	"regex", "binary", "unary", "unary", "unary", "block", "condition", "condition", "condition",
	"bind", "lambda", "function", "partial", "operator", "apply", "transform", "sort",
}

// ast is one node of the syntax tree. Which fields are used depends on kind.
type ast struct {
	kind     astKind
	off, end int
	height   int
	closes   bool // holds a function that can outlive the frame it is made in

	text  string      // name, variable, string, operator, regex pattern
	flags string      // regex flags
	val   value.Value // literal

	lhs, rhs, els *ast
	list          []*ast // steps, items, expressions, arguments, parameters
	pairs         [][2]*ast
	terms         []sortTerm
	sig           *signature

	predicate []stage // filters of a node that is not a path
	stages    []stage // filters and index binds of a path step
	group     *group

	fromName      bool // a name with nothing but predicates behind it
	keepArray     bool // [] was written behind it
	keepSingleton bool // a path of which some step has []
	consArray     bool // an array constructor whose result is not flattened
	tuple         bool
	focused       bool // @ was the last to bind something to the step
	focus, index  string

	ancestor *slot // on a step: binds the step's input for %
	slot     *slot // on a parent node
	seeking  []*slot
}

// stage is a filter behind a step, or (where expr is nil) an index bind.
type stage struct {
	expr  *ast
	index string
	off   int
}

// group is a group-by { key: value, … } behind an expression.
type group struct {
	pairs [][2]*ast
	off   int
}

// sortTerm is one term of an order-by.
type sortTerm struct {
	expr       *ast
	descending bool
}

// slot is where a % finds its value: the input of the step that it resolves
// to. Slots that meet on one step share a label.
type slot struct {
	label *int
	level int
}

// isNumberLiteral reports whether n is a number as it stands in the source.
func (n *ast) isNumberLiteral() bool { return n.kind == astNumber }

// raise makes n at least one higher than its part k, and note what k holds.
func (n *ast) raise(k *ast) {
	if k == nil {
		return
	}
	n.height = max(n.height, k.height+1)
	n.closes = n.closes || k.closes
}
