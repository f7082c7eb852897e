package jsonata

import "github.com/mcpgraph/mcpgraph/pkg/value"

// fieldsNode is a path of nothing but names, behind a variable or not, as most
// are. It goes from object to object and leaves everything else to the path.
type fieldsNode struct {
	head  node // the variable; nil where the path begins with a name
	names []string
	path  *pathNode
}

// fields returns the short form of a path, or the path where it has none.
func fields(p *pathNode) node {
	if p.keep || p.group != nil || p.tuples != nil || p.cons {
		return p
	}
	n := &fieldsNode{path: p}
	for i := range p.steps {
		st := &p.steps[i]
		switch {
		case len(st.filters) > 0:
			return p
		case st.kind == stepName:
			n.names = append(n.names, st.name)
		case i == 0 && p.asInput:
			switch st.node.(type) {
			case *variableNode, contextNode:
				n.head = st.node
			default:
				return p
			}
		default:
			return p
		}
	}
	return n
}

// walk follows the names from v, as long as it meets objects and, at the end,
// any value of the input itself; else not ok.
func (n *fieldsNode) walk(v value.Value) (_ value.Value, ok bool) {
	for _, name := range n.names {
		switch v.Kind() {
		case value.Object:
			v = v.Get(name)
		case value.Array:
			return v, false
		default:
			return value.Undef, true
		}
	}
	return v, v.Flags() == 0
}

func (n *fieldsNode) eval(ev *evaluator, f *frame, in value.Value) (value.Value, *Error) {
	ev.fuel--
	v := in
	if n.head != nil {
		var err *Error
		if v, err = n.head.eval(ev, f, in); err != nil {
			return value.Undef, err
		}
	}
	v, ok := n.walk(v)
	if !ok {
		return n.path.eval(ev, f, in)
	}
	return v, nil
}

// fromInput returns the short form of an expression that is nothing but a path
// into its input, nil for any other.
func fromInput(body node) *fieldsNode {
	n, _ := body.(*fieldsNode)
	if n == nil {
		return nil
	}
	switch head := n.head.(type) {
	case nil, contextNode:
		return n
	case *variableNode:
		if head.root && len(head.refs) == 0 && !head.extra {
			return n
		}
	}
	return nil
}
