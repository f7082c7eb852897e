package jsonata

// Read is a path that begins at something other than the input: at a variable that
// the expression does not bind, or at the result of a function without arguments.
type Read struct {
	// Variable is the name of the variable, without $. It is empty for a function
	// and, in [Expr.Whole], for the input.
	Variable string
	// Func is the name of the function, without $; empty for a variable.
	Func string
	// Path holds the following steps that are plain names, and Places delimit them in
	// the source, in bytes.
	Path   []string
	Places [][2]int
	// Filtered is true for a path of [Expr.Whole] with filters, sorting or [] in it: its
	// value may be one element of a list, or a list of one.
	Filtered bool
}

// start returns the beginning of a path that a node is, and reports false if it is
// none that a Read has.
func (r *refFinder) start(n *ast) (Read, bool) {
	switch {
	case n.kind == astVariable && n.text != "" && n.text != "$" && !r.bound[n.text]:
		return Read{Variable: n.text}, true
	case n.kind == astCall && len(n.list) == 0 && n.lhs.kind == astVariable && n.lhs.text != "" && !r.bound[n.lhs.text]:
		return Read{Func: n.lhs.text}, true
	}
	return Read{}, false
}

// addRead lists a path that begins elsewhere than at the input.
func (r *refFinder) addRead(path *ast) {
	first := path.list[0]
	read, ok := r.start(first)
	if !ok || first.focus != "" {
		return
	}
	for _, s := range path.list[1:] {
		if s.kind != astName {
			break
		}
		read.Path = append(read.Path, s.text)
		read.Places = append(read.Places, [2]int{s.off, s.end})
		if s.focus != "" {
			break
		}
	}
	if len(read.Path) > 0 {
		r.reads = append(r.reads, read)
	}
}

// whole returns the path that a tree as a whole is, or nil.
func (r *refFinder) whole(n *ast) *Read {
	if n == nil || n.group != nil {
		return nil
	}
	steps := []*ast{n}
	if n.kind == astPath {
		steps = n.list
	}
	var read Read
	filtered := isFiltered(n) || n.keepArray || n.keepSingleton
	for i, s := range steps {
		filtered = filtered || s.keepArray || s.kind == astSort
		switch {
		case s.focus != "" || s.index != "" || s.group != nil:
			return nil
		case s.kind == astSort:
		case s.kind == astName:
			read.Path = append(read.Path, s.text)
			read.Places = append(read.Places, [2]int{s.off, s.end})
		case i > 0:
			return nil
		case r.isRoot(s, true):
		default:
			var ok bool
			if read, ok = r.start(s); !ok {
				return nil
			}
		}
	}
	read.Filtered = filtered
	return &read
}

// wholeFields notes the paths that the values of an object are, whose shape is s.
func (r *refFinder) wholeFields(n *ast, s *Shape) {
	if s == nil || n == nil || n.kind != astObject || n.group != nil {
		return
	}
	for _, p := range n.pairs {
		for i := range s.Fields {
			f := &s.Fields[i]
			if f.Offset != p[0].off || f.Name != p[0].text {
				continue
			}
			if f.Shape == nil {
				f.Whole = r.whole(p[1])
			}
			r.wholeFields(p[1], f.Shape)
		}
	}
}
