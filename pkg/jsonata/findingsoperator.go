package jsonata

import "fmt"

// checkOperands finds an operand that its operator never takes, and comparisons that have
// the same outcome whatever the values are.
func checkOperands(c *checker, n *ast) {
	switch n.text {
	case "+", "-", "*", "/", "%", "..":
		for i := range 2 {
			if wrongOperand(c, n, i, maskNumber) {
				return
			}
		}
	case "<", "<=", ">", ">=":
		if wrongOperand(c, n, 0, maskNumber|maskString) || wrongOperand(c, n, 1, maskNumber|maskString) {
			return
		}
		l, r := knownOperand(c, n.lhs), knownOperand(c, n.rhs)
		if l == 0 || r == 0 || l&r&(maskNumber|maskString) != 0 {
			return
		}
		compared(c, n, fmt.Sprintf("%s compares two numbers or two texts, found %s and %s", n.text, l, r), "$number makes a number of a text")
	case "=", "!=":
		for i, side := range []*ast{n.lhs, n.rhs} {
			if side.kind == astPath && side.fromName && side.list[0].text == "undefined" && c.src[side.off] == 'u' && !c.keys["undefined"] {
				foreignOperator(c, n, "nothing equals a field that is not there, so this is always the same",
					foreignIndex().names["x = undefined"].hint(shownArguments(c, []*ast{[]*ast{n.rhs, n.lhs}[i]})))
				return
			}
		}
		l, r := knownOperand(c, n.lhs), knownOperand(c, n.rhs)
		if c.typeOf == nil || l == 0 || r == 0 || l&r != 0 {
			return
		}
		hint := ""
		switch {
		case l == maskNull || r == maskNull:
			hint = "to ask whether there is a value, write $exists(…)"
		case (l|r)&^(maskString|maskNumber) == 0:
			hint = "$number makes a number of a text, $string a text of a number"
		case (l|r)&maskArray != 0:
			hint = "to look for an element of a list, write VALUE in LIST"
		}
		compared(c, n, fmt.Sprintf("the two sides of %s are never equal: found %s and %s", n.text, l, r), hint)
	case "in":
		if n.rhs.kind != astString && knownOperand(c, n.rhs) == maskString {
			compared(c, n, "in compares with the whole text, found a string on its right side", "to look for a part of a text, write $contains(TEXT, PART)")
		}
	}
}

// knownOperand returns the types that a value surely has, if it has one; none if nothing is
// known of it.
func knownOperand(c *checker, n *ast) Types {
	if of := c.kindsOf(n).Of &^ maskMissing; of != maskAny&^maskMissing {
		return of
	}
	return 0
}

// wrongOperand reports whether a side of an operator, 0 for the left one, is never of
// the types that it takes, and makes a finding of that.
func wrongOperand(c *checker, n *ast, side int, takes Types) bool {
	operand := [...]*ast{n.lhs, n.rhs}[side]
	found := knownOperand(c, operand)
	if found == 0 || found&takes != 0 {
		return false
	}
	f := Finding{Kind: WrongCall, Name: n.text, Message: fmt.Sprintf(
		"the %s side of %s must be %s, found %s", [...]string{"left", "right"}[side], n.text, takes, found)}
	f.Offset, f.End = operand.span()
	switch {
	case n.text == "+" && found == maskString:
		f.Hint = "strings are joined with &"
	case n.text == "+" && found == maskArray:
		f.Hint = "lists are joined with $append(x, y)"
	case n.text == "/" && operand.kind == astRegex:
		f.Hint = commentHint
	case found == maskArray:
		f.Hint = "$count returns how many elements a list has"
	case found == maskString && operand.kind != astString:
		f.Hint = "$number makes a number of a text"
	}
	c.findings = append(c.findings, f)
	return true
}

// foreignOperator makes a finding of a form of another language.
func foreignOperator(c *checker, n *ast, message, hint string) {
	f := Finding{Kind: ForeignForm, Name: n.text, Message: message, Hint: hint}
	f.Offset, f.End = n.span()
	c.findings = append(c.findings, f)
}

// compared makes a finding of a comparison.
func compared(c *checker, n *ast, message, hint string) {
	f := Finding{Kind: WrongCall, Name: n.text, Message: message, Hint: hint}
	f.Offset, f.End = n.span()
	c.findings = append(c.findings, f)
}
