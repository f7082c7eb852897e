package jsonata

import "strings"

// Kinds is what is known of a value before any evaluation: the types that it
// may have and, where it may be an array, those of the elements.
type Kinds struct{ Of, Elements Types }

// AnyKinds returns what is known of a value of which nothing is known.
func AnyKinds() Kinds { return anything }

var anything = Kinds{Of: maskAny, Elements: maskAny}

// InList returns what a path that goes through lists to such values can be: one of
// them, a list of them, or nothing.
func (k Kinds) InList() Kinds {
	if k.Of&maskArray != 0 {
		k.Of |= k.Elements
	}
	return Kinds{k.Of | maskArray | maskMissing, k.Of&^maskMissing | k.Elements}
}

// OrObject returns what a value can be that may be an object instead.
func (k Kinds) OrObject() Kinds { return Kinds{k.Of | maskObject, k.Elements} }

// OrNothing returns what a value can be that may be missing.
func (k Kinds) OrNothing() Kinds { return Kinds{k.Of | maskMissing, k.Elements} }

// Has reports whether the value can be of one of the types.
func (k Kinds) Has(types Types) bool { return k.Of&types != 0 }

// Is reports whether the value is of one of the types, if it has one.
func (k Kinds) Is(types Types) bool { return k.Of&^maskMissing != 0 && k.Of&^(types|maskMissing) == 0 }

// Or returns what a value can be that is one of two.
func (k Kinds) Or(l Kinds) Kinds { return Kinds{k.Of | l.Of, k.Elements | l.Elements} }

// resultOf returns what the part of a signature behind its colon promises. An
// array of one may have been reduced to its element, and one without further
// types in the signature may be anything.
func resultOf(text string) Kinds {
	switch {
	case len(text) == 1 && strings.Contains("snblo", text):
		return Kinds{Of: maskOfLetter(text[0]) | maskMissing}
	case len(text) == 4 && strings.HasPrefix(text, "a<"):
		element := maskOfLetter(text[2])
		return Kinds{Of: maskArray | element | maskMissing, Elements: element}
	}
	return anything
}

// kindsOf returns what an expression can be, whatever its input.
func (c *checker) kindsOf(n *ast) Kinds {
	switch {
	case n.group != nil:
		return Kinds{Of: maskObject | maskMissing}
	case len(n.predicate) > 0 || len(n.stages) > 0 || n.keepArray:
		return anything
	}
	switch n.kind {
	case astString, astNumber, astValue:
		return Kinds{Of: maskOf(n.val)}
	case astRegex, astLambda, astPartial, astTransform:
		return Kinds{Of: maskFunc}
	case astNegate:
		return Kinds{Of: maskNumber | maskMissing}
	case astObject:
		return Kinds{Of: maskObject}
	case astArray:
		return c.arrayKinds(n)
	case astBinary:
		return binaryKinds(n.text)
	case astCondition, astDefault, astCoalesce:
		return c.branchKinds(n)
	case astBind:
		return c.kindsOf(n.rhs)
	case astBlock:
		if len(n.list) == 0 {
			return Kinds{Of: maskMissing}
		}
		return c.kindsOf(n.list[len(n.list)-1])
	case astCall:
		if len(n.list) == 0 {
			if k := c.pathKinds(n); k != anything {
				return k
			}
		}
		if sig := c.signatureOf(n.lhs); sig != nil {
			return sig.result
		}
	case astApply:
		if rhs := n.rhs; rhs.kind == astCall && !isTrailed(rhs) {
			return c.kindsOf(rhs)
		}
	case astVariable:
		if c.signatureOf(n) != nil {
			return Kinds{Of: maskFunc}
		}
		if k, ok := c.values[n.text]; ok {
			return k
		}
		return c.pathKinds(n)
	case astPath:
		return c.pathKinds(n)
	}
	return anything
}

func (c *checker) arrayKinds(n *ast) Kinds {
	k := Kinds{Of: maskArray}
	for _, item := range n.list {
		element := c.kindsOf(item)
		k.Elements |= element.Of
		if item.kind != astArray && element.Of&maskArray != 0 {
			k.Elements |= element.Elements // it is flattened
		}
	}
	return k
}

func binaryKinds(operator string) Kinds {
	switch operator {
	case "&":
		return Kinds{Of: maskString}
	case "+", "-", "*", "/", "%":
		return Kinds{Of: maskNumber | maskMissing}
	case "..":
		return Kinds{Of: maskArray | maskNumber | maskMissing, Elements: maskNumber}
	}
	return Kinds{Of: maskBool | maskMissing}
}

func (c *checker) branchKinds(n *ast) Kinds {
	k := c.kindsOf(n.rhs)
	if n.kind != astCondition {
		return k.Or(c.kindsOf(n.lhs))
	}
	if n.els == nil {
		return k.Or(Kinds{Of: maskMissing})
	}
	return k.Or(c.kindsOf(n.els))
}

// isTrailed reports whether something behind an expression changes its result.
func isTrailed(n *ast) bool { return len(n.predicate) > 0 || len(n.stages) > 0 || n.group != nil }

var typeNames = []struct {
	mask Types
	name string
}{
	{maskString, "a string"}, {maskNumber, "a number"}, {maskBool, "a boolean"}, {maskNull, "null"},
	{maskArray, "an array"}, {maskObject, "an object"}, {maskFunc, "a function"},
}

// String names the types: "a string or a number".
func (m Types) String() string {
	switch m &^ maskMissing {
	case 0:
		return "nothing"
	case maskJSON &^ maskMissing, maskAny &^ maskMissing:
		return "a value"
	}
	var names []string
	for _, t := range typeNames {
		if m&t.mask != 0 {
			names = append(names, t.name)
		}
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " or " + names[last]
	}
	return names[0]
}

// readOf returns the path that an expression is, as [Expr.Whole] has it, in the
// context that the checker is in. Filters in it count for nothing.
func (c *checker) readOf(n *ast) (Read, bool) {
	if n.group != nil || n.keepSingleton || n.keepArray || n.kind != astPath && n.kind != astName && n.kind != astVariable && n.kind != astCall {
		return Read{}, false
	}
	steps := []*ast{n}
	if n.kind == astPath {
		steps = n.list
	}
	var read Read
	for i, s := range steps {
		switch {
		case s.focus != "" || s.index != "" || s.group != nil || s.keepArray:
			return Read{}, false
		case s.kind == astSort:
		case s.kind == astName && (i > 0 || c.root):
			read.Path = append(read.Path, s.text)
			read.Places = append(read.Places, [2]int{s.off, s.end})
		case i > 0:
			return Read{}, false
		case s.kind == astVariable && (s.text == "" && c.root && !c.rebound[""] || s.text == "$" && !c.rebound["$"]):
		case s.kind == astVariable && s.text != "" && s.text != "$" && !c.rebound[s.text]:
			read.Variable = s.text
		case s.kind == astCall && len(s.list) == 0 && s.lhs.kind == astVariable && s.lhs.text != "" && !c.rebound[s.lhs.text]:
			read.Func = s.lhs.text
		default:
			return Read{}, false
		}
	}
	return read, true
}

// isFiltered reports whether a step of an expression has a filter, which may keep one
// element of a list.
func isFiltered(n *ast) bool {
	if isTrailed(n) {
		return true
	}
	for _, s := range n.list {
		if n.kind == astPath && isTrailed(s) {
			return true
		}
	}
	return false
}

// pathKinds returns what a path that the expression does not make can be.
func (c *checker) pathKinds(n *ast) Kinds {
	read, ok := c.readOf(n)
	if !ok {
		return anything
	}
	c.typed = true
	if c.typeOf == nil {
		return anything
	}
	k := c.typeOf(read)
	if isFiltered(n) {
		k.Of |= maskMissing
		if k.Of&maskArray != 0 {
			k.Of |= k.Elements
		}
	}
	return k
}

// Never reports whether the value has a type that is known and is none of the types.
func (k Kinds) Never(types Types) bool {
	of := k.Of &^ maskMissing
	return of != 0 && of&types == 0
}
