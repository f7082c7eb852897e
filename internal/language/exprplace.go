package language

import (
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/expr"
)

// callStart is how a call of a tool begins in an expression.
const callStart = "$" + expr.CallName + "("

// exprPlace is where a cursor stands in an expression.
type exprPlace struct {
	// path are the names before the cursor, if it is rooted: from the document of
	// the run. With previous they begin at the output of the node before, with
	// variable at that of this variable, without the dollar sign.
	path             []string
	rooted, previous bool
	variable         string
	// name is what is written of the last name.
	name   string
	quoted bool // name stands in back-quotes
	dollar bool // name is that of a function or variable
	// node is true in a string that is the id of a node: $nodeExecution("‸.
	node bool
	// inner is true where the context is not the input of the expression.
	inner bool
	// text is true in a string or comment.
	text bool
}

// readExpr reads an expression up to the cursor.
func readExpr(src string) exprPlace {
	var p exprPlace
	// nested are the brackets that are open: those of a filter ([), a group (g) and
	// a step (.) have another context than what is around them.
	var nested []byte
	operand := false // an operand ends before the current token
	dot := false
	tail := 0 // where the current run of names and dots begins
	for i := 0; i < len(src); {
		c := src[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
			continue
		case strings.HasPrefix(src[i:], "/*"):
			end := strings.Index(src[i+2:], "*/")
			if end < 0 {
				return exprPlace{text: true}
			}
			i += end + 4
			continue
		case c == '"' || c == '\'':
			end := quoteEnd(src, i)
			if c == '\'' { // JSONata has backslashes in both
				end = jsonataQuote(src, i)
			}
			if end < 0 {
				return exprPlace{text: true, node: takesID(src[:i]), name: src[i+1:]}
			}
			i, operand, dot = end, true, false
			tail = i
			continue
		case c == '/' && !operand:
			end := regexEnd(src, i)
			if end < 0 {
				return exprPlace{text: true}
			}
			i, operand, dot = end, true, false
			tail = i
			continue
		case c == '`':
			end := strings.IndexByte(src[i+1:], '`')
			if end < 0 {
				i = len(src)
			} else {
				i += end + 2
			}
			operand, dot = true, false
			continue
		case isNameByte(c):
			start := i
			for i < len(src) && isNameByte(src[i]) {
				i++
			}
			if !dot && operand {
				tail = start
			}
			operand, dot = true, false
			switch src[start:i] {
			case "and", "or", "in":
				if i < len(src) {
					operand, tail = false, i
				}
			}
			continue
		case c == '.':
			i++
			operand, dot = false, true
			continue
		case c == '(' || c == '[' || c == '{':
			kind := c
			switch {
			case c == '[' && !operand:
				kind = 'a'
			case c == '(' && operand:
				kind = 'f' // of a call
			case dot:
				kind = '.'
			case c == '{' && operand && !strings.HasSuffix(strings.TrimRight(src[:i], " \t\r\n"), ")"):
				kind = 'g' // of a group
			}
			nested = append(nested, kind)
			i++
			operand, dot, tail = false, false, i
			continue
		case c == ')' || c == ']' || c == '}':
			if len(nested) > 0 {
				nested = nested[:len(nested)-1]
			}
			i++
			operand, dot = true, false
			tail = i
			if previous := "$previousNode()"; strings.HasSuffix(src[:i], previous) {
				tail = i - len(previous)
			}
			continue
		}
		i++
		operand, dot, tail = false, false, i
	}
	p.inner = slices.ContainsFunc(nested, func(c byte) bool { return c == '[' || c == '.' || c == 'g' })
	p.read(strings.TrimLeft(src[tail:], " \t\r\n"))
	return p
}

// read takes the names and dots before the cursor apart.
func (p *exprPlace) read(s string) {
	steps := splitSteps(s)
	last := steps[len(steps)-1]
	steps = steps[:len(steps)-1]
	p.name = last
	if rest, ok := strings.CutPrefix(last, "`"); ok {
		p.name, p.quoted = rest, true
	}
	if len(steps) == 0 {
		if strings.HasPrefix(p.name, "$") {
			p.dollar, p.name = true, p.name[1:]
			return
		}
		p.rooted = !p.inner
		return
	}
	switch first := steps[0]; {
	case first == "$$" || first == "$" && !p.inner:
		p.rooted, p.path = true, steps[1:]
	case first == "$previousNode()":
		p.previous, p.path = true, steps[1:]
	case strings.HasPrefix(first, "$") && first != "$":
		p.variable, p.path = first[1:], steps[1:]
	case first == "" || first == "$" || p.inner:
	default:
		p.rooted, p.path = true, steps
	}
}

// splitSteps splits a path at its dots.
func splitSteps(s string) []string {
	var steps []string
	from, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '`':
			quoted = !quoted
		case s[i] == '.' && !quoted:
			steps = append(steps, strings.Trim(strings.TrimSpace(s[from:i]), "`"))
			from = i + 1
		}
	}
	return append(steps, strings.TrimLeft(s[from:], " \t\r\n"))
}

func isNameByte(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// jsonataQuote returns the index behind a string in single quotes, or -1.
func jsonataQuote(s string, i int) int {
	for j := i + 1; j < len(s); j++ {
		switch s[j] {
		case '\\':
			j++
		case '\'':
			return j + 1
		}
	}
	return -1
}

func regexEnd(s string, i int) int {
	depth := 0
	for j := i + 1; j < len(s); j++ {
		switch s[j] {
		case '\\':
			j++
		case '[', '(', '{':
			depth++
		case ']', ')', '}':
			depth--
		case '/':
			if depth <= 0 {
				return j + 1
			}
		}
	}
	return -1
}

// takesID reports whether a string at the end of src is the id of a node.
func takesID(src string) bool {
	src = strings.TrimRight(src, " \t\r\n")
	for _, f := range []string{"$nodeExecution(", "$nodeExecutions(", "$executionCount(", callStart} {
		if strings.HasSuffix(src, f) {
			return true
		}
	}
	return false
}
