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

func (n *fieldsNode) eval(ev *evaluator, f *frame, in value.Value) (value.Value, *Error) {
	ev.fuel--
	v := in
	if n.head != nil {
		var err *Error
		if v, err = n.head.eval(ev, f, in); err != nil {
			return value.Undef, err
		}
	}
	for _, name := range n.names {
		switch v.Kind() {
		case value.Object:
			v = v.Get(name)
		case value.Array:
			return n.path.eval(ev, f, in)
		default:
			return value.Undef, nil
		}
	}
	if v.Flags() != 0 {
		return n.path.eval(ev, f, in)
	}
	return v, nil
}
