package jsonata

import "slices"

// Shape is what is sure about the value of an expression, whatever its input,
// as far as paths can tell: a path goes through arrays as if they were not
// there.
type Shape struct {
	// Scalar describes a value without fields: "a string". Else it is empty.
	Scalar string
	// Fields are all the fields that the value, or an object in it, can have.
	Fields []ShapeField
}

// ShapeField is one field. Shape is nil where nothing is known of its value. Whole
// is the path that its value is, as [Expr.Whole] has it, where that is certain.
type ShapeField struct {
	Name  string
	Shape *Shape
	Whole *Read
	// Kinds is what the value can be, whatever the paths in it are.
	Kinds Kinds
	// Offset and End delimit the key in the source, in bytes.
	Offset, End int
}

// Field returns the field of a name, or nil.
func (s *Shape) Field(name string) *ShapeField {
	i := slices.IndexFunc(s.Fields, func(f ShapeField) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &s.Fields[i]
}

const (
	// maxShapeDepth bounds how deep objects are looked into.
	maxShapeDepth = 20
	// maxShapeFields is how many fields an object may have of which something is
	// known. It bounds what finding one of them costs.
	maxShapeFields = 256
)

func shapeOf(c *checker, n *ast) *Shape { return shapeOfTree(c, n, maxShapeDepth) }

// shapeOfTree returns the shape of an expression; depth is how much deeper it may
// look.
func shapeOfTree(c *checker, n *ast, depth int) *Shape {
	switch {
	case n == nil || depth < 0:
		return nil
	case n.group != nil:
		return objectShape(c, n.group.pairs, depth)
	}
	switch n.kind {
	case astObject:
		return objectShape(c, n.pairs, depth)
	case astArray:
		// Of an empty array nothing can be read either, but it shows little of the
		// author's intent.
		return anyShape(c, n.list, depth)
	case astPath:
		return pathShape(c, n, depth)
	case astCondition:
		if n.els == nil {
			return shapeOfTree(c, n.rhs, depth-1)
		}
		return anyShape(c, []*ast{n.rhs, n.els}, depth)
	case astDefault, astCoalesce:
		return anyShape(c, []*ast{n.lhs, n.rhs}, depth)
	case astBind:
		return shapeOfTree(c, n.rhs, depth-1)
	case astBlock:
		if len(n.list) > 0 {
			return shapeOfTree(c, n.list[len(n.list)-1], depth-1)
		}
	case astCall:
		if n.lhs.kind == astVariable && n.lhs.text == "map" && len(n.list) == 2 && n.list[1].kind == astLambda && c.signatureOf(n.lhs) != nil {
			return shapeOfTree(c, n.list[1].rhs, depth-1)
		}
	}
	if of := c.kindsOf(n).Of &^ maskMissing; of != 0 && of&(maskArray|maskObject|maskFunc) == 0 {
		return &Shape{Scalar: of.String()}
	}
	return nil
}

// pathShape returns the shape of a path whose last step makes objects.
func pathShape(c *checker, n *ast, depth int) *Shape {
	for i := len(n.list) - 1; i >= 0; i-- {
		switch s := n.list[i]; s.kind {
		case astSort:
			continue
		case astObject, astBlock:
			return shapeOfTree(c, s, depth-1)
		default:
			return nil
		}
	}
	return nil
}

// objectShape returns the shape of an object whose keys are all written out.
func objectShape(c *checker, pairs [][2]*ast, depth int) *Shape {
	s := &Shape{}
	for _, p := range pairs {
		if key := p[0]; key.kind != astString || isTrailed(key) {
			return nil
		}
		f := ShapeField{Name: p[0].text, Shape: shapeOfTree(c, p[1], depth-1), Kinds: c.kindsOf(p[1]), Offset: p[0].off, End: p[0].end}
		if old := s.Field(f.Name); old != nil {
			old.Shape, old.Kinds = nil, anything
			continue
		}
		if s.Fields = append(s.Fields, f); len(s.Fields) > maxShapeFields {
			return nil
		}
	}
	return s
}

// anyShape returns what is sure where the value is that of any of the expressions.
func anyShape(c *checker, list []*ast, depth int) *Shape {
	var sum *Shape
	for _, n := range list {
		s := shapeOfTree(c, n, depth-1)
		if s == nil {
			return nil
		}
		if sum = sum.or(s); len(sum.Fields) > maxShapeFields {
			return nil
		}
	}
	return sum
}

// or returns what two shapes have in common; s may be nil, which is neither.
func (s *Shape) or(t *Shape) *Shape {
	switch {
	case s == nil:
		return t
	case s.Scalar != "" && t.Scalar != "":
		if s.Scalar == t.Scalar {
			return s
		}
		return &Shape{Scalar: "a value without fields"}
	case s.Scalar != "":
		return t
	case t.Scalar != "":
		return s
	}
	sum := &Shape{Fields: slices.Clone(s.Fields)}
	for _, f := range t.Fields {
		old := sum.Field(f.Name)
		switch {
		case old == nil:
			f.Kinds.Of |= maskMissing
			sum.Fields = append(sum.Fields, f)
			continue
		case old.Shape == nil || f.Shape == nil:
			old.Shape = nil
		default:
			if old.Shape = old.Shape.or(f.Shape); len(old.Shape.Fields) > maxShapeFields {
				old.Shape = nil
			}
		}
		old.Kinds = old.Kinds.Or(f.Kinds)
	}
	return sum
}
