package jsonata

import "strings"

// kinds is what is known of a value before any evaluation: the types that it
// may have and, where it may be an array, those of the elements.
type kinds struct{ of, elements typeMask }

var anything = kinds{of: maskAny, elements: maskAny}

func (k kinds) or(l kinds) kinds { return kinds{k.of | l.of, k.elements | l.elements} }

// resultOf returns what the part of a signature behind its colon promises. An
// array of one may have been reduced to its element, and one without further
// types in the signature may be anything.
func resultOf(text string) kinds {
	switch {
	case len(text) == 1 && strings.Contains("snblo", text):
		return kinds{of: maskOfLetter(text[0]) | maskMissing}
	case len(text) == 4 && strings.HasPrefix(text, "a<"):
		element := maskOfLetter(text[2])
		return kinds{of: maskArray | element | maskMissing, elements: element}
	}
	return anything
}

// kindsOf returns what an expression can be, whatever its input.
func (c *checker) kindsOf(n *ast) kinds {
	switch {
	case n.group != nil:
		return kinds{of: maskObject | maskMissing}
	case len(n.predicate) > 0 || len(n.stages) > 0 || n.keepArray:
		return anything
	}
	switch n.kind {
	case astString, astNumber, astValue:
		return kinds{of: maskOf(n.val)}
	case astRegex, astLambda, astPartial, astTransform:
		return kinds{of: maskFunc}
	case astNegate:
		return kinds{of: maskNumber | maskMissing}
	case astObject:
		return kinds{of: maskObject}
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
			return kinds{of: maskMissing}
		}
		return c.kindsOf(n.list[len(n.list)-1])
	case astCall:
		if sig := c.signatureOf(n.lhs); sig != nil {
			return sig.result
		}
	case astApply:
		if rhs := n.rhs; rhs.kind == astCall && !isTrailed(rhs) {
			return c.kindsOf(rhs)
		}
	case astVariable:
		if c.signatureOf(n) != nil {
			return kinds{of: maskFunc}
		}
	}
	return anything
}

func (c *checker) arrayKinds(n *ast) kinds {
	k := kinds{of: maskArray}
	for _, item := range n.list {
		element := c.kindsOf(item)
		k.elements |= element.of
		if item.kind != astArray && element.of&maskArray != 0 {
			k.elements |= element.elements // it is flattened
		}
	}
	return k
}

func binaryKinds(operator string) kinds {
	switch operator {
	case "&":
		return kinds{of: maskString}
	case "+", "-", "*", "/", "%":
		return kinds{of: maskNumber | maskMissing}
	case "..":
		return kinds{of: maskArray | maskNumber | maskMissing, elements: maskNumber}
	}
	return kinds{of: maskBool | maskMissing}
}

func (c *checker) branchKinds(n *ast) kinds {
	k := c.kindsOf(n.rhs)
	if n.kind != astCondition {
		return k.or(c.kindsOf(n.lhs))
	}
	if n.els == nil {
		return k.or(kinds{of: maskMissing})
	}
	return k.or(c.kindsOf(n.els))
}

// isTrailed reports whether something behind an expression changes its result.
func isTrailed(n *ast) bool { return len(n.predicate) > 0 || len(n.stages) > 0 || n.group != nil }

var typeNames = []struct {
	mask typeMask
	name string
}{
	{maskString, "a string"}, {maskNumber, "a number"}, {maskBool, "a boolean"}, {maskNull, "null"},
	{maskArray, "an array"}, {maskObject, "an object"}, {maskFunc, "a function"},
}

// String names the types: "a string or a number".
func (m typeMask) String() string {
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
