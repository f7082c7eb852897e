package graph

import (
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func (c scalarContents) types() jsonata.Kinds {
	switch c {
	case "a string":
		return jsonata.Kinds{Of: jsonata.TypesOf("string")}
	case "a number":
		return jsonata.Kinds{Of: jsonata.TypesOf("number")}
	}
	return jsonata.AnyKinds()
}

func (c replyContents) types() jsonata.Kinds {
	return jsonata.Kinds{Of: jsonata.TypesOf("object")}
}

func (c listContents) types() jsonata.Kinds {
	return jsonata.Kinds{Of: jsonata.TypesOf("array"), Elements: c.of.types().Of}
}

func (c itemContents) types() jsonata.Kinds {
	list := c.list.types()
	if !list.Has(jsonata.TypesOf("array")) {
		return list
	}
	return jsonata.Kinds{Of: list.Elements, Elements: jsonata.AnyKinds().Of}
}

func (c kindContents) types() jsonata.Kinds { return jsonata.Kinds(c) }

func (c *anyContents) types() jsonata.Kinds {
	all := c.of[0].types()
	for _, one := range c.of[1:] {
		all = all.Or(one.types())
	}
	return all
}

func (c *knownShape) types() jsonata.Kinds { return c.kinds }

func (c *shapeContents) types() jsonata.Kinds { return jsonata.AnyKinds() }

func (c *schemaContents) types() jsonata.Kinds {
	k := jsonata.Kinds{Of: c.of(), Elements: jsonata.AnyKinds().Of}
	if k.Has(jsonata.TypesOf("array")) && !c.unknown {
		k.Elements = c.eachElement().of()
	}
	return k
}

// of returns the types that a value can have for which the schemas hold.
func (c *schemaContents) of() jsonata.Types {
	all := jsonata.AnyKinds().Of
	if c.unknown {
		return all
	}
	for _, p := range c.parts {
		if !p.sure {
			continue
		}
		var names []string
		switch t := p.schema.Get("type"); t.Kind() {
		case value.String:
			names = []string{t.Str()}
		case value.Array:
			for _, name := range t.Elems() {
				names = append(names, name.Str())
			}
		}
		if types := jsonata.TypesOf(names...); types != 0 {
			all &= types
		}
	}
	return all
}

// typesOf returns what is known of the types of the output of a node.
func (k *knowledge) typesOf(n *Node) jsonata.Kinds {
	known, ok := k.types[n]
	if ok {
		return known
	}
	if k.busyTypes[n] || k.depth >= maxContentsDepth {
		return jsonata.AnyKinds()
	}
	k.busyTypes[n] = true
	k.depth++
	known = jsonata.AnyKinds()
	if c := k.output(n); c != nil {
		known = c.types()
	}
	if known == jsonata.AnyKinds() && n.yields != nil {
		known = n.yields.prog.Kinds(k.pathTypes(n))
	}
	k.depth--
	delete(k.busyTypes, n)
	k.types[n] = known
	return known
}

// pathTypes returns a function for what is known of the types of the paths that an
// expression of a node reads.
func (k *knowledge) pathTypes(n *Node) func(root string, steps []string) jsonata.Kinds {
	return func(root string, steps []string) jsonata.Kinds {
		if root == "" && len(steps) == 0 || n.Graph == nil || k.left == 0 {
			return jsonata.AnyKinds()
		}
		k.left--
		var target *Node
		if root == "" {
			if target = n.Graph.visible(steps[0]); target == nil {
				return jsonata.AnyKinds()
			}
		}
		if target != nil && len(steps) == 1 {
			types := k.typesOf(target).OrNothing()
			if target.handled() { // its output may be the failure
				types = types.OrObject()
			}
			return types
		}
		known, below := k.start(n, rooted{root, steps})
		through := false
		for _, step := range below {
			if known == nil {
				return jsonata.AnyKinds()
			}
			through = through || known.types().Has(jsonata.TypesOf("array"))
			known, _ = known.step(step)
		}
		if known == nil {
			return jsonata.AnyKinds()
		}
		types := known.types().OrNothing()
		if through {
			types = types.InList()
		}
		return types
	}
}

// checkTypes reports what is wrong in the expressions of a graph, and of the bodies in it,
// if the values are of the types that are known of them. Nothing is reported again
// that before reports, which may be nil.
func checkTypes(b *reporter, top *Graph, k, before *knowledge) {
	for n := range b.each(top) {
		for _, p := range n.programs {
			var reported []expr.Finding
			found := p.prog.TypedFindings(k.pathTypes(n))
			if before != nil && len(found) > 0 {
				reported = p.prog.TypedFindings(before.pathTypes(n))
			}
			for _, f := range found {
				if !slices.ContainsFunc(reported, func(o expr.Finding) bool { return o.Offset == f.Offset && o.Message == f.Message }) {
					b.report(findingProblem(n, finding{program: p, found: f}))
				}
			}
		}
		for _, r := range n.refs {
			if before == nil {
				checkOutputField(b, n, r, k)
			}
		}
		for _, f := range n.found {
			if f.found.Kind == expr.ForeignField {
				checkLength(b, n, f, k, before)
			}
		}
	}
}

// checkLength reports that the length of a list or text is read as a field of it, or
// that this may be so.
func checkLength(b *reporter, n *Node, f finding, k, before *knowledge) {
	if f.found.Of == nil || f.found.Path != nil {
		return
	}
	root, steps, ok := expr.WholeOf(*f.found.Of, true)
	if !ok {
		return
	}
	found := k.lengthOf(n, root, steps)
	if found == isField || before != nil && found == before.lengthOf(n, root, steps) {
		return
	}
	d := findingProblem(n, f)
	if found == mayBeField {
		d.Code, d.Severity = diag.CodeAssumedField, diag.SeverityOf(diag.CodeAssumedField)
		d.Message = "if this is a list or a text, it has no field length"
	}
	b.report(d)
}

// fieldness is whether a name is that of a field.
type fieldness uint8

const (
	isField fieldness = iota // or reported otherwise
	mayBeField
	noField
)

// lengthOf returns whether length is a field of what a path leads to.
func (k *knowledge) lengthOf(n *Node, root string, steps []string) fieldness {
	types := k.pathTypes(n)(root, steps)
	known := k.path(n, rooted{root, steps})
	if known != nil {
		if below, wrong := known.step("length"); below != nil || wrong != nil && !wrong.guess {
			return isField
		}
	}
	if types.Is(jsonata.TypesOf("array", "string")) {
		return noField
	}
	return mayBeField
}
