package jsonata

import (
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// RefKind is what a [Ref] refers to.
type RefKind uint8

// The kinds of references.
const (
	// PathRef is a path that the expression reads from its input.
	PathRef RefKind = iota
	// CallRef is a call of a function by its name.
	CallRef
)

// Ref is something outside the expression that it is sure to name: a path
// into its input, or a function.
type Ref struct {
	Kind RefKind
	// Path holds the leading steps that are plain names, for a PathRef. It is
	// empty where the input as a whole is read.
	Path []string
	// Places delimit the steps of Path in the source, in bytes.
	Places [][2]int
	// Func is the name of the function without $, for a CallRef.
	Func string
	// Args are the arguments of the call; those that are not literals, and ?,
	// are undefined.
	Args []value.Value
	// ArgPlaces delimit the arguments in the source, in bytes; both ends are 0 for
	// those that are undefined in Args.
	ArgPlaces [][2]int
	// Offset and End delimit the path or the call in the source, in bytes.
	Offset, End int
}

// refFinder walks a tree and collects references.
type refFinder struct {
	bound map[string]bool // variables that the source itself binds
	refs  []Ref
	reads []Read
}

func findRefs(tree *ast) *refFinder {
	r := &refFinder{bound: map[string]bool{}}
	walk(tree, func(n *ast) bool {
		switch n.kind {
		case astBind:
			r.bound[n.lhs.text] = true
		case astLambda:
			for _, p := range n.list {
				r.bound[p.text] = true
			}
		}
		r.bound[n.focus] = true
		r.bound[n.index] = true
		for _, s := range n.stages {
			r.bound[s.index] = true
		}
		return true
	})
	r.visit(tree, true)
	slices.SortStableFunc(r.refs, func(a, b Ref) int { return a.Offset - b.Offset })
	return r
}

// visit goes through a tree; root means that its context is the input.
func (r *refFinder) visit(n *ast, root bool) {
	if n == nil {
		return
	}
	for _, s := range n.predicate {
		r.visit(s.expr, false)
	}
	if n.group != nil {
		r.pairs(n.group.pairs, false)
	}
	switch n.kind {
	case astPath:
		r.path(n, root)
		return
	case astVariable:
		if r.isRoot(n, root) {
			r.refs = append(r.refs, Ref{Offset: n.off, End: n.off + 1 + len(n.text)})
		}
		return
	case astCall, astPartial:
		r.call(n, nil)
	case astApply:
		if rhs := n.rhs; rhs.kind == astCall {
			r.call(rhs, n.lhs)
			r.visit(n.lhs, root)
			for _, a := range rhs.list {
				r.visit(a, root)
			}
			for _, s := range rhs.predicate {
				r.visit(s.expr, false)
			}
			return
		} else if rhs.kind == astVariable {
			r.call(&ast{kind: astCall, lhs: rhs, off: rhs.off, end: rhs.end}, n.lhs)
		}
	case astTransform:
		root = false
	case astBind:
		r.visit(n.rhs, root)
		return
	case astLambda:
		r.visit(n.rhs, root)
		return
	}
	r.visit(n.lhs, root)
	r.visit(n.rhs, root)
	r.visit(n.els, root)
	for _, k := range n.list {
		r.visit(k, root)
	}
	r.pairs(n.pairs, root)
}

func (r *refFinder) pairs(pairs [][2]*ast, root bool) {
	for _, p := range pairs {
		r.visit(p[0], root)
		r.visit(p[1], root)
	}
}

// isRoot reports whether a variable is the input.
func (r *refFinder) isRoot(n *ast, root bool) bool {
	return n.kind == astVariable && (n.text == "$" && !r.bound["$"] || n.text == "" && root)
}

// add appends a step to the path. What stands behind the name is no part of it.
func (r *Ref) add(step *ast) {
	r.Path = append(r.Path, step.text)
	r.Places = append(r.Places, [2]int{step.off, step.end})
}

func (r *refFinder) path(n *ast, root bool) {
	first := n.list[0]
	ref := Ref{Offset: first.off, End: first.end}
	sure := r.isRoot(first, root)
	switch {
	case sure:
		ref.End = first.off + 1 + len(first.text)
	case first.kind == astName && root:
		sure = true
		ref.add(first)
	}
	if sure && first.focus == "" {
		for _, s := range n.list[1:] {
			if s.kind != astName {
				break
			}
			ref.add(s)
			ref.End = s.end
			if s.focus != "" {
				break
			}
		}
	}
	if sure {
		r.refs = append(r.refs, ref)
	} else {
		r.addRead(n)
	}
	for i, s := range n.list {
		for _, st := range s.stages {
			r.visit(st.expr, false)
		}
		for _, t := range s.terms {
			r.visit(t.expr, false)
		}
		if s.kind == astName || s.kind == astSort || i == 0 && sure {
			continue
		}
		r.visit(s, root && i == 0)
	}
}

// call lists the call of a named function; first is what ~> hands to it.
func (r *refFinder) call(n *ast, first *ast) {
	fn := n.lhs
	if fn.kind != astVariable || fn.text == "" || fn.text == "$" || r.bound[fn.text] || len(fn.predicate) > 0 {
		return
	}
	ref := Ref{Kind: CallRef, Func: fn.text, Offset: n.off, End: n.end}
	args := n.list
	if first != nil {
		args = append([]*ast{first}, args...)
	}
	for _, a := range args {
		v, at := value.Undef, [2]int{}
		switch a.kind {
		case astString, astNumber, astValue:
			if len(a.predicate) == 0 && a.group == nil {
				v, at = a.val, [2]int{a.off, a.end}
			}
		}
		ref.Args, ref.ArgPlaces = append(ref.Args, v), append(ref.ArgPlaces, at)
	}
	r.refs = append(r.refs, ref)
}
