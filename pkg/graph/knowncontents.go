package graph

import (
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
)

// scalarContents is a value without fields, such as "a string".
type scalarContents string

func (c scalarContents) step(string) (contents, *absent) { return nil, &absent{scalar: string(c)} }

// replyContents is the whole reply of a tool.
type replyContents struct{ structured contents }

func (c replyContents) step(name string) (contents, *absent) {
	if name == "structuredContent" {
		return c.structured, nil
	}
	return nil, nil
}

// listContents is a list. A path goes through it.
type listContents struct{ of contents }

func listOf(c contents) contents {
	if c == nil {
		return nil
	}
	return listContents{c}
}

func (c listContents) step(name string) (contents, *absent) {
	if isIndex(name) {
		return c.of, nil
	}
	return c.of.step(name)
}

// itemContents is an element of a list.
type itemContents struct{ list contents }

func (c itemContents) step(name string) (contents, *absent) { return c.list.step(name) }

// kindContents is a value of which the types are known and nothing else.
type kindContents jsonata.Kinds

func (c kindContents) step(string) (contents, *absent) { return nil, nil }

// pathContents is what a path leads to. Unlike the contents behind it, its types are
// those of the value: a path through a list makes a list.
type pathContents struct {
	contents
	kinds jsonata.Kinds
}

func (c pathContents) types() jsonata.Kinds { return c.kinds }

// typedContents returns contents with the types of the value; nil if nothing is known.
func typedContents(c contents, types jsonata.Kinds) contents {
	switch {
	case c != nil:
		return pathContents{c, types}
	case types != jsonata.AnyKinds():
		return kindContents(types)
	}
	return nil
}

// anyContents is a value that has one of several contents.
type anyContents struct {
	of     []contents
	others *diag.Names // of properties that all have not, once something asked
}

// maxAlternatives bounds how many contents a value can have.
const maxAlternatives = 50

// anyOf returns what is known of a value that has one of several contents.
func anyOf(all []contents) contents {
	var flat []contents
	for _, one := range all {
		if more, ok := one.(*anyContents); ok {
			flat = append(flat, more.of...)
		} else {
			flat = append(flat, one)
		}
	}
	switch {
	case len(flat) == 0 || len(flat) > maxAlternatives:
		return nil
	case len(flat) == 1:
		return flat[0]
	}
	return &anyContents{of: flat}
}

func (c *anyContents) step(name string) (contents, *absent) {
	var below []contents
	var wrong absent
	var others []*diag.Names
	for _, one := range c.of {
		next, missing := one.step(name)
		switch {
		case missing != nil:
			wrong.scalar = missing.scalar
			wrong.guess = wrong.guess || missing.guess
			others = append(others, missing.others)
		case next == nil:
			return nil, nil
		default:
			below = append(below, next)
		}
	}
	if len(below) > 0 {
		return anyOf(below), nil
	}
	if c.others == nil {
		c.others = allNames(others) // the same for each property that is not there
	}
	if wrong.others = c.others; len(wrong.others.All()) > 0 {
		wrong.scalar = "" // some of them are objects
	}
	return nil, &wrong
}

// allNames returns the names of several sets.
func allNames(sets []*diag.Names) *diag.Names {
	var all []string
	for _, s := range sets {
		all = append(all, s.All()...)
	}
	return diag.NewNames(all)
}

// knownShape is what the expression of a node makes sure, and what is known of the
// values that it takes from elsewhere.
type knownShape struct {
	k     *knowledge
	node  *Node
	kinds jsonata.Kinds
	shapeContents
}

func newKnownShape(k *knowledge, n *Node, shape *expr.Shape, kinds jsonata.Kinds) *knownShape {
	return &knownShape{k, n, kinds, shapeContents{shape: shape}}
}

func (c *knownShape) step(name string) (contents, *absent) {
	f := c.shape.Field(name)
	switch {
	case f != nil && f.Shape != nil:
		return newKnownShape(c.k, c.node, f.Shape, f.Kinds), nil
	case f != nil && f.Whole != nil:
		if root, steps, ok := expr.WholeOf(*f.Whole, true); ok {
			types := c.k.pathTypes(c.node)(root, steps)
			if f.Whole.Filtered {
				types = types.InList()
			}
			return typedContents(c.k.path(c.node, rooted{root, steps}), types), nil
		}
		return nil, nil
	case f != nil && f.Kinds != jsonata.AnyKinds():
		return kindContents(f.Kinds), nil
	case f == nil && c.shape.Scalar == "" && isIndex(name):
		return c, nil
	}
	return c.shapeContents.step(name)
}
